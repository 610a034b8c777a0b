//! What one request is called, in its answer, in the log, and beside the tickets that follow from it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The longest id, in characters. A UUID has 36, an id of API Gateway 16.
const MAX_LENGTH: usize = 64;

/// A request's id: 1 to 64 of `A-Z a-z 0-9 - _ = . : / +`. Safe in headers, logs and message attributes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RequestId(String);

/// The text is no request id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to {MAX_LENGTH} letters, digits or -_=.:/+")]
pub struct InvalidRequestId;

impl RequestId {
    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RequestId {
    type Err = InvalidRequestId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=.:/+".contains(&byte);
        if (1..=MAX_LENGTH).contains(&text.len()) && text.bytes().all(safe) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidRequestId)
        }
    }
}

impl TryFrom<String> for RequestId {
    type Error = InvalidRequestId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<RequestId> for String {
    fn from(id: RequestId) -> Self {
        id.0
    }
}

impl From<uuid::Uuid> for RequestId {
    fn from(id: uuid::Uuid) -> Self {
        Self(id.to_string())
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_short_and_harmless_text_is_a_request_id() {
        for good in ["JKJaXmPLvHcESHA=", "0198c0de-0000-7000-8000-000000000000", "a", &"a".repeat(64)] {
            assert_eq!(good.parse::<RequestId>().map(|id| id.to_string()).as_deref(), Ok(good));
        }
        for bad in ["", &"a".repeat(65), "a b", "a\nb", "tan@example.com", "\"", "{}", "é", "a\0"] {
            assert!(bad.parse::<RequestId>().is_err(), "{bad:?}");
        }
    }
}
