//! Whose a parcel is. Every table row and every query carries it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The longest owner's name.
const MAX_LENGTH: usize = 40;

/// The merchant to whom a parcel and its invoice belong: 1 to 40 lower-case letters, digits and hyphens, a letter first.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct OwnerId(String);

/// The text names no owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to {MAX_LENGTH} lower-case letters, digits and hyphens, a letter first")]
pub struct InvalidOwner;

impl OwnerId {
    /// Lion City itself, for parcels of its own and for its staff.
    #[must_use]
    pub fn house() -> Self {
        Self("lion-city".to_owned())
    }

    /// The owner's name as it stands in the tables.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for OwnerId {
    type Err = InvalidOwner;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let begins = text.as_bytes().first().is_some_and(u8::is_ascii_lowercase);
        if begins && text.len() <= MAX_LENGTH && text.bytes().all(allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidOwner)
        }
    }
}

impl TryFrom<String> for OwnerId {
    type Error = InvalidOwner;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<OwnerId> for String {
    fn from(owner: OwnerId) -> Self {
        owner.0
    }
}

impl fmt::Display for OwnerId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_a_short_plain_name() {
        for name in ["lion-city", "a", "orchard-books-2", &"a".repeat(40)] {
            assert_eq!(name.parse::<OwnerId>().unwrap().as_str(), name);
        }
        assert_eq!(OwnerId::house().as_str().parse(), Ok(OwnerId::house()));
        for name in ["", "-a", "2a", "Lion", "a b", "a\n", "ä", &"a".repeat(41)] {
            assert_eq!(name.parse::<OwnerId>(), Err(InvalidOwner), "{name}");
        }
    }
}
