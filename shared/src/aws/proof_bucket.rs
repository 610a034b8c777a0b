//! The private bucket that keeps the photographs of deliveries.

use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_s3::Client;
use aws_sdk_s3::operation::head_object::HeadObjectError;
use aws_sdk_s3::presigning::PresigningConfig;

use super::failure::port_error;
use crate::domain::{ParcelId, PhotoSize, PhotoType, ProofOfDelivery, STORE_LINK_LIFETIME, Timestamp, UPLOAD_LIFETIME};
use crate::ports::{KeepProofs, PortError, SignedUpload};

/// One bucket.
#[derive(Clone, Debug)]
pub struct ProofBucket {
    client: Client,
    name: String,
}

impl ProofBucket {
    /// The bucket of this name.
    #[must_use]
    pub fn new(client: Client, name: String) -> Self {
        Self { client, name }
    }
}

/// Nothing that a caller says is in it.
fn key(parcel: ParcelId) -> String {
    format!("proofs/{parcel}")
}

fn expires_in(lifetime: Duration) -> Result<PresigningConfig, PortError> {
    PresigningConfig::expires_in(lifetime).map_err(|error| PortError::Broken(error.to_string()))
}

#[async_trait]
impl KeepProofs for ProofBucket {
    async fn upload(
        &self,
        parcel: ParcelId,
        photo_type: PhotoType,
        size: PhotoSize,
    ) -> Result<SignedUpload, PortError> {
        let request = self
            .client
            .put_object()
            .bucket(&self.name)
            .key(key(parcel))
            .content_type(photo_type.media_type())
            .content_length(size.bytes().into())
            .presigned(expires_in(UPLOAD_LIFETIME)?)
            .await
            .map_err(|error| port_error(&error))?;
        let headers = request.headers().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Ok(SignedUpload { url: request.uri().to_owned(), headers })
    }

    async fn proof(&self, parcel: ParcelId) -> Result<Option<ProofOfDelivery>, PortError> {
        let answer = match self.client.head_object().bucket(&self.name).key(key(parcel)).send().await {
            Ok(answer) => answer,
            Err(error) if error.as_service_error().is_some_and(HeadObjectError::is_not_found) => return Ok(None),
            Err(error) => return Err(port_error(&error)),
        };
        let broken = |what: &str| PortError::Broken(format!("a photograph without {what}"));
        let at = answer.last_modified.and_then(|at| at.to_millis().ok()).ok_or_else(|| broken("a time"))?;
        let photo_type = answer.content_type.as_deref().and_then(|name| name.parse().ok());
        Ok(Some(ProofOfDelivery {
            at: Timestamp::from_millis(at),
            photo_type: photo_type.ok_or_else(|| broken("a type that we take"))?,
        }))
    }

    async fn link(&self, parcel: ParcelId, photo_type: PhotoType) -> Result<String, PortError> {
        let request = self
            .client
            .get_object()
            .bucket(&self.name)
            .key(key(parcel))
            .response_content_type(photo_type.media_type())
            .response_content_disposition("inline")
            .presigned(expires_in(STORE_LINK_LIFETIME)?)
            .await
            .map_err(|error| port_error(&error))?;
        Ok(request.uri().to_owned())
    }
}
