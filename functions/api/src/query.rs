//! Parameters of a query, and those that every list has.

use crate::problem::Problem;

const DEFAULT_LIMIT: u16 = 20;
/// The largest page; a batch read of invoices takes as many keys.
pub(crate) const MAX_LIMIT: u16 = 100;

/// The last value of a query parameter.
pub(crate) fn parameter(query: &str, name: &str) -> Option<String> {
    form_urlencoded::parse(query.as_bytes()).filter(|(key, _)| key == name).last().map(|(_, value)| value.into_owned())
}

/// How many a page of a list shall have.
pub(crate) fn limit(query: &str) -> Result<u16, Problem> {
    let Some(text) = parameter(query, "limit") else { return Ok(DEFAULT_LIMIT) };
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(limit @ 1..=MAX_LIMIT) if digits => Ok(limit),
        _ => Err(Problem::invalid_parameter("limit", "must be a whole number from 1 to 100")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_a_whole_number_from_1_to_100() {
        assert_eq!(limit(""), Ok(20));
        assert_eq!(limit("limit=1"), Ok(1));
        assert_eq!(limit("x=1&limit=100"), Ok(100));
        for query in [
            "limit=",
            "limit=0",
            "limit=101",
            "limit=-1",
            "limit=+5",
            "limit=1.5",
            "limit=99999999999",
            "limit=%31%30%31",
        ] {
            assert!(limit(query).is_err(), "{query}");
        }
    }
}
