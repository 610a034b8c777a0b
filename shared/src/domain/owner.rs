//! Whose a parcel is. Every table row and every query carries it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The merchant to whom a parcel and its invoice belong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OwnerId(String);

impl OwnerId {
    /// The one owner of everything until callers have keys of their own.
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

impl fmt::Display for OwnerId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
