//! Tracking numbers such as `LCL48291057`; the last digit checks the others.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

const PREFIX: &str = "LCL";

/// A tracking number: `LCL`, seven or nine digits, and a check digit after GS1 General Specifications 7.9.
///
/// Every single wrong digit is caught, and most swapped neighbours.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TrackingNumber(String);

/// Why a text is no tracking number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTrackingNumber {
    /// Not `LCL` and eight or ten digits.
    #[error("must be a tracking number such as LCL48291057")]
    Malformed,
    /// The last digit does not fit the others: a typing error.
    #[error("has a typing error: its last digit does not fit the others")]
    WrongCheckDigit,
}

impl TrackingNumber {
    /// A number for the `attempt`-th try (from 0) to find a free one, from a random value.
    ///
    /// The first try is short. Once short numbers collide, the next try draws from a hundred times as many.
    #[must_use]
    pub fn draw(random: u64, attempt: u32) -> Self {
        let digits =
            if attempt == 0 { format!("{:07}", random % 10_000_000) } else { format!("{:09}", random % 1_000_000_000) };
        let check = check_digit(digits.as_bytes());
        Self(format!("{PREFIX}{digits}{check}"))
    }

    /// The number with its prefix.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The digits without the prefix.
    #[must_use]
    pub fn digits(&self) -> &str {
        &self.0[PREFIX.len()..]
    }
}

/// GS1: weights 3 and 1 in turn from the right.
fn check_digit(digits: &[u8]) -> u32 {
    let sum: u32 = digits
        .iter()
        .rev()
        .zip([3, 1].into_iter().cycle())
        .map(|(digit, weight)| u32::from(digit - b'0') * weight)
        .sum();
    (10 - sum % 10) % 10
}

impl FromStr for TrackingNumber {
    type Err = InvalidTrackingNumber;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix(PREFIX).ok_or(InvalidTrackingNumber::Malformed)?.as_bytes();
        if !matches!(digits.len(), 8 | 10) || !digits.iter().all(u8::is_ascii_digit) {
            return Err(InvalidTrackingNumber::Malformed);
        }
        let (last, others) = digits.split_last().ok_or(InvalidTrackingNumber::Malformed)?;
        if check_digit(others) == u32::from(last - b'0') {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidTrackingNumber::WrongCheckDigit)
        }
    }
}

impl TryFrom<String> for TrackingNumber {
    type Error = InvalidTrackingNumber;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<TrackingNumber> for String {
    fn from(number: TrackingNumber) -> Self {
        number.0
    }
}

impl fmt::Display for TrackingNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_digit_follows_from_the_others() {
        assert_eq!(TrackingNumber::draw(4_829_105, 0).as_str(), "LCL48291057");
        assert_eq!(TrackingNumber::draw(42, 0).as_str().len(), 11);
        assert_eq!(TrackingNumber::draw(42, 1).as_str().len(), 13);
    }

    #[test]
    fn every_single_wrong_digit_is_caught() {
        for attempt in [0, 1] {
            let right = TrackingNumber::draw(482_910_573, attempt).as_str().to_owned();
            assert!(right.parse::<TrackingNumber>().is_ok());
            for place in PREFIX.len()..right.len() {
                for digit in b'0'..=b'9' {
                    let mut wrong = right.clone().into_bytes();
                    wrong[place] = digit;
                    let wrong = String::from_utf8(wrong).unwrap();
                    if wrong != right {
                        assert_eq!(wrong.parse::<TrackingNumber>(), Err(InvalidTrackingNumber::WrongCheckDigit));
                    }
                }
            }
        }
    }

    #[test]
    fn other_texts_are_no_tracking_numbers() {
        for text in
            ["", "LCL", "lcl48291057", "LCL4829105", "LCL482910571", "LCL4829105٧", "XXX48291057", "LCL48291057 "]
        {
            assert_eq!(text.parse::<TrackingNumber>(), Err(InvalidTrackingNumber::Malformed), "{text}");
        }
    }
}
