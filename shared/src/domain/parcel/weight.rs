//! What a parcel weighs.

use serde::{Deserialize, Serialize};

/// Whole grams, 1 to 50,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Weight(u16);

/// Not a weight that a parcel can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from 1 to 50000")]
pub struct InvalidWeight;

impl Weight {
    const MOST_GRAMS: u16 = 50_000;

    /// In grams.
    #[must_use]
    pub fn grams(self) -> u16 {
        self.0
    }
}

impl TryFrom<u64> for Weight {
    type Error = InvalidWeight;

    fn try_from(grams: u64) -> Result<Self, Self::Error> {
        match u16::try_from(grams) {
            Ok(grams @ 1..=Self::MOST_GRAMS) => Ok(Self(grams)),
            _ => Err(InvalidWeight),
        }
    }
}

impl From<Weight> for u64 {
    fn from(weight: Weight) -> Self {
        weight.0.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parcel_weighs_one_gram_to_fifty_kilograms() {
        for grams in [1, 500, 50_000] {
            assert_eq!(Weight::try_from(grams).map(|weight| u64::from(weight.grams())), Ok(grams));
        }
        for grams in [0, 50_001, 65_536, 65_537, u64::MAX] {
            assert_eq!(Weight::try_from(grams), Err(InvalidWeight), "{grams}");
        }
    }
}
