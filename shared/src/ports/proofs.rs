//! Photographs that prove a delivery. They go from the driver to the store and from there to the merchant, past us.

use async_trait::async_trait;

use super::PortError;
use crate::domain::{ParcelId, PhotoSize, PhotoType, ProofOfDelivery, Timestamp};

/// What to send where, to upload one photograph without credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedUpload {
    /// Where: a PUT.
    pub url: String,
    /// Headers that the request must have, name and value. They are signed: others are refused.
    pub headers: Vec<(String, String)>,
}

/// Keeps photographs, one for each parcel (API).
#[async_trait]
pub trait KeepProofs: Send + Sync {
    /// Lets whoever has the answer upload a photograph of this type and size for
    /// [`UPLOAD_LIFETIME`](crate::domain::UPLOAD_LIFETIME), in place of one that is there.
    async fn upload(&self, parcel: ParcelId, photo_type: PhotoType, size: PhotoSize)
    -> Result<SignedUpload, PortError>;

    /// The parcel's photograph, if there is one.
    async fn proof(&self, parcel: ParcelId) -> Result<Option<ProofOfDelivery>, PortError>;

    /// A URL that opens the photograph for a few minutes, without credentials.
    async fn link(&self, parcel: ParcelId, photo_type: PhotoType) -> Result<String, PortError>;
}

/// Notes on a parcel that somebody may upload its photograph (API), so that nobody asks the store about all the others.
#[async_trait]
pub trait ExpectProofs: Send + Sync {
    /// From now on. The first time stays.
    async fn expect_proof(&self, parcel: ParcelId, now: Timestamp) -> Result<(), PortError>;
}
