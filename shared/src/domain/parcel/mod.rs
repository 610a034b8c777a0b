//! Parcels, and the steps that a parcel may take.

mod status;
mod timeline;
mod weight;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use status::{ParcelStatus, UnknownStatus};
pub use timeline::{EventReport, MAX_EVENTS, ReportRefused, Reported, TrackingEvent, TrackingEventId};
pub use weight::{InvalidWeight, Weight};

use super::{EmailAddress, OwnerId, PostalCode, Text, Timestamp, TrackingNumber};

/// The id of a parcel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ParcelId(pub Uuid);

impl std::fmt::Display for ParcelId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(formatter)
    }
}

/// What is delivered, to whom, and how far it has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parcel {
    /// Its id.
    pub id: ParcelId,
    /// The merchant whose parcel it is.
    pub owner: OwnerId,
    /// Unique among all parcels.
    pub tracking_number: TrackingNumber,
    /// Who gets it.
    pub recipient: Text<200>,
    /// Where its invoice is mailed to.
    pub email: EmailAddress,
    /// Where it goes.
    pub address: Option<Text<300>>,
    /// Where it goes, in six digits.
    pub postal_code: Option<PostalCode>,
    /// The recipient's telephone number, as written.
    pub phone: Option<Text<30>>,
    /// The merchant's own word for it, such as an order number.
    pub reference: Option<Text<100>>,
    /// What it weighs.
    pub weight: Option<Weight>,
    /// Where it is now.
    pub status: ParcelStatus,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Its timeline, in the order in which we were told; at most [`MAX_EVENTS`] lines.
    pub events: Vec<TrackingEvent>,
    /// Since when somebody may upload a photograph of its delivery. Whether there is one, the store knows.
    pub proof_expected_since: Option<Timestamp>,
}
