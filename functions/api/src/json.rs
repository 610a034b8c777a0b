//! Bodies: bounded, JSON, and nothing that two readers could read differently.

use std::fmt;

use axum::extract::{FromRequest, Request};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::problem::{Problem, quoted};

/// The largest body that is read, in bytes: 500 lines of an invoice fit in it.
const MAX_BODY: usize = 256 * 1024;

/// A body that holds one JSON value.
pub(crate) struct Json(pub(crate) Value);

/// A body that holds one JSON value, or nothing.
pub(crate) struct OptionalJson(pub(crate) Option<Value>);

impl<S: Send + Sync> FromRequest<S> for Json {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Self::Rejection> {
        let OptionalJson(value) = OptionalJson::from_request(request, state).await?;
        value.map(Self).ok_or_else(|| Problem::Malformed("The body is empty; it must be a JSON object.".to_owned()))
    }
}

impl<S: Send + Sync> FromRequest<S> for OptionalJson {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Self::Rejection> {
        let encoded = request.headers().get_all(CONTENT_ENCODING).iter().any(|encoding| encoding != "identity");
        let says_json = match request.headers().get(CONTENT_TYPE) {
            None => true,
            Some(value) => value.is_empty() || value.to_str().is_ok_and(is_json),
        };
        let body =
            axum::body::to_bytes(request.into_body(), MAX_BODY).await.map_err(|_| Problem::TooLarge(MAX_BODY))?;
        // RFC 8259 section 8.1: a byte order mark may be ignored.
        let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&body);
        if body.is_empty() {
            return Ok(Self(None));
        }
        if encoded || !says_json {
            return Err(Problem::NotJson);
        }
        let UniqueKeys(value) = serde_json::from_slice(body)
            .map_err(|error| Problem::Malformed(format!("The body is not valid JSON: {error}.")))?;
        Ok(Self(Some(value)))
    }
}

/// Whether a body of this type is JSON in UTF-8.
fn is_json(content_type: &str) -> bool {
    let content_type = content_type.to_ascii_lowercase();
    let mut parts = content_type.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default();
    let json = essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"));
    // RFC 8259 section 8.1: JSON is UTF-8, of which US-ASCII is a part.
    let mut charsets = parts.filter_map(|parameter| parameter.split_once('=').filter(|(name, _)| *name == "charset"));
    json && charsets.all(|(_, charset)| matches!(charset.trim_matches('"'), "utf-8" | "us-ascii"))
}

/// SHA-256 of a value's canonical form, in hexadecimal: sorted keys, no white space.
pub(crate) fn canonical_sha256(value: &Value) -> String {
    // Without the feature `preserve_order`, serde_json keeps objects sorted by key.
    Sha256::digest(value.to_string()).iter().fold(String::with_capacity(64), |mut text, byte| {
        use fmt::Write as _;
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// JSON in which no object has a key twice, at any depth (RFC 8259 section 4 leaves open what that would mean).
struct UniqueKeys(Value);

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueKeysVisitor).map(Self)
    }
}

struct UniqueKeysVisitor;

impl<'de> Visitor<'de> for UniqueKeysVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(UniqueKeys(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(array.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let UniqueKeys(value) = entries.next_value()?;
            if object.contains_key(&key) {
                return Err(A::Error::custom(format_args!("the key {:?} stands twice", quoted(&key))));
            }
            object.insert(key, value);
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Value, serde_json::Error> {
        serde_json::from_str::<UniqueKeys>(text).map(|UniqueKeys(value)| value)
    }

    #[test]
    fn a_key_that_stands_twice_is_refused_at_any_depth() {
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":{"b":1,"b":2}}"#,
            r#"[{"a":1},{"b":[{"c":1,"c":1}]}]"#,
            r#"{"a":1,"\u0061":2}"#,
        ] {
            assert!(parse(text).unwrap_err().to_string().contains("stands twice"), "{text}");
        }
    }

    #[test]
    fn other_json_is_read_as_serde_json_reads_it() {
        for text in [r#"{"a":[1,-2,3.5,null,true,"x\u00e9"],"b":{}}"#, "[]", "null", "\"x\"", "1e3"] {
            assert_eq!(parse(text).unwrap(), serde_json::from_str::<Value>(text).unwrap(), "{text}");
        }
        for text in ["", "{", r#"{"a"}"#, "{'a':1}", "[1,]", "nul", "1 2", r#""\ud800""#, &"[".repeat(200)] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_order_of_keys_and_white_space_do_not_change_the_content() {
        let digest = |text| canonical_sha256(&parse(text).unwrap());
        assert_eq!(digest(r#"{"b":1,"a":[1,2]}"#), digest("{ \"a\" : [1, 2],\n\"b\" : 1 }"));
        assert_ne!(digest(r#"{"a":[1,2]}"#), digest(r#"{"a":[2,1]}"#));
    }

    #[test]
    fn content_types_of_json_are_known() {
        for yes in [
            "application/json",
            "Application/JSON; charset=utf-8",
            "application/json;charset=\"UTF-8\"",
            "application/json; charset=us-ascii; x=y",
            "application/merge-patch+json",
        ] {
            assert!(is_json(yes), "{yes}");
        }
        for no in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "application/jsonx",
            "",
            "application/json; charset=utf-16",
            "application/json;charset=latin1",
        ] {
            assert!(!is_json(no), "{no}");
        }
    }
}
