//! `Idempotency-Key`: a request that comes again gets the first answer again.

use std::time::Duration;

use http::{HeaderMap, HeaderName};
use parceltrack::domain::{OwnerId, Timestamp};
use parceltrack::ports::IdempotencyClaim;
use serde_json::Value;

use crate::json::canonical_sha256;
use crate::problem::Problem;

pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
pub(crate) const IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// For how long a repeat of a request gets the first answer again.
const KEY_LIFETIME: Duration = Duration::from_hours(24);

/// The longest key, in characters.
const MAX_KEY: usize = 255;

/// The caller's key, with what this request uses it for.
pub(crate) struct KeyUse {
    /// Caller, route and key.
    pub(crate) key: String,
    /// SHA-256 of the body's canonical form.
    pub(crate) content_sha256: String,
}

impl KeyUse {
    /// Of a request to this route; `None` without a key. Another caller's key, or the same key elsewhere, is another key.
    pub(crate) fn of(headers: &HeaderMap, owner: &OwnerId, route: &str, body: &Value) -> Result<Option<Self>, Problem> {
        let Some(value) = headers.get(&IDEMPOTENCY_KEY) else { return Ok(None) };
        let invalid = || Problem::invalid_parameter("Idempotency-Key", "must be 1 to 255 visible ASCII characters");
        let key = value.to_str().map_err(|_| invalid())?;
        if key.is_empty() || key.len() > MAX_KEY || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(invalid());
        }
        Ok(Some(Self { key: format!("{owner}|{route}|{key}"), content_sha256: canonical_sha256(body) }))
    }

    /// The record of the answer that this request is going to get.
    pub(crate) fn claim(&self, answer: &str, now: Timestamp) -> IdempotencyClaim {
        IdempotencyClaim {
            key: self.key.clone(),
            content_sha256: self.content_sha256.clone(),
            answer: answer.to_owned(),
            expires: now + KEY_LIFETIME,
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_is_1_to_255_visible_ascii_characters() {
        let of = |key: &[u8]| {
            let headers = HeaderMap::from_iter([(IDEMPOTENCY_KEY, HeaderValue::from_bytes(key).unwrap())]);
            KeyUse::of(&headers, &OwnerId::house(), "POST /api/parcels", &json!({}))
        };
        for key in ["a", "order-7:1", "!~", &"k".repeat(255)] {
            assert!(matches!(of(key.as_bytes()), Ok(Some(_))), "{key}");
        }
        for key in ["", "two words", "a\tb", "é", &"k".repeat(256)] {
            assert!(matches!(of(key.as_bytes()), Err(Problem::InvalidParameter(_))), "{key}");
        }
    }
}
