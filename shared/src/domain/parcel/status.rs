//! Where a parcel is, and where it may go from there.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

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

/// The text names no status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be Created, InTransit, OutForDelivery, Delivered, DeliveryFailed, Returned or Cancelled")]
pub struct UnknownStatus;

impl ParcelStatus {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Created,
        Self::InTransit,
        Self::OutForDelivery,
        Self::Delivered,
        Self::DeliveryFailed,
        Self::Returned,
        Self::Cancelled,
    ];

    /// Its name, in the API and in the tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "Created",
            Self::InTransit => "InTransit",
            Self::OutForDelivery => "OutForDelivery",
            Self::Delivered => "Delivered",
            Self::DeliveryFailed => "DeliveryFailed",
            Self::Returned => "Returned",
            Self::Cancelled => "Cancelled",
        }
    }

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

impl FromStr for ParcelStatus {
    type Err = UnknownStatus;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|status| status.name() == name).ok_or(UnknownStatus)
    }
}

impl fmt::Display for ParcelStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
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
        use ParcelStatus::{Cancelled, Delivered, Returned};
        for last in [Delivered, Returned, Cancelled] {
            for next in ParcelStatus::ALL {
                assert!(!last.may_become(next));
            }
        }
    }

    #[test]
    fn a_status_has_one_name_in_the_api_and_in_the_tables() {
        for status in ParcelStatus::ALL {
            assert_eq!(status.name().parse(), Ok(status));
            assert_eq!(serde_json::to_value(status).unwrap(), status.name());
        }
        for name in ["", "created", "Lost", "Created "] {
            assert_eq!(name.parse::<ParcelStatus>(), Err(UnknownStatus), "{name}");
        }
    }
}
