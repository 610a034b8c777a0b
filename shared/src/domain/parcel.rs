//! Parcels, and the steps that a parcel may take.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

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

/// Where a parcel is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ParcelStatus {
    /// Known to us, not yet picked up.
    Created,
    /// Picked up, between depots.
    InTransit,
    /// With the driver.
    OutForDelivery,
    /// Handed over. Final.
    Delivered,
    /// The driver could not hand it over; it goes out again or back.
    DeliveryFailed,
    /// Back with the sender. Final.
    Returned,
    /// Called off before it was picked up. Final.
    Cancelled,
}

impl ParcelStatus {
    /// Whether a parcel may go from here to `next` in one step.
    #[must_use]
    pub fn may_become(self, next: Self) -> bool {
        match self {
            Self::Created => matches!(next, Self::InTransit | Self::Cancelled),
            Self::InTransit => matches!(next, Self::OutForDelivery | Self::Returned),
            Self::OutForDelivery => matches!(next, Self::Delivered | Self::DeliveryFailed),
            Self::DeliveryFailed => matches!(next, Self::OutForDelivery | Self::Returned),
            Self::Delivered | Self::Returned | Self::Cancelled => false,
        }
    }

    /// The next step of a delivery without trouble; `None` at the end of the way.
    #[must_use]
    pub fn next_without_trouble(self) -> Option<Self> {
        match self {
            Self::Created => Some(Self::InTransit),
            Self::InTransit | Self::DeliveryFailed => Some(Self::OutForDelivery),
            Self::OutForDelivery => Some(Self::Delivered),
            Self::Delivered | Self::Returned | Self::Cancelled => None,
        }
    }
}

/// One line of a parcel's timeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrackingEvent {
    /// What the parcel became.
    pub status: ParcelStatus,
    /// When it became that.
    pub at: Timestamp,
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
    /// Where it is now.
    pub status: ParcelStatus,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Its timeline, oldest first.
    pub events: Vec<TrackingEvent>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_of_a_delivery_without_trouble_is_allowed_and_ends() {
        let mut status = ParcelStatus::Created;
        let mut steps = 0;
        while let Some(next) = status.next_without_trouble() {
            assert!(status.may_become(next), "{status:?} to {next:?}");
            status = next;
            steps += 1;
        }
        assert_eq!((status, steps), (ParcelStatus::Delivered, 3));
    }

    #[test]
    fn a_final_status_stays() {
        use ParcelStatus::{Cancelled, Created, Delivered, DeliveryFailed, InTransit, OutForDelivery, Returned};
        for last in [Delivered, Returned, Cancelled] {
            for next in [Created, InTransit, OutForDelivery, Delivered, DeliveryFailed, Returned, Cancelled] {
                assert!(!last.may_become(next));
            }
        }
    }
}
