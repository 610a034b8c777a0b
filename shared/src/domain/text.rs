//! Short texts that people type: bounded, trimmed, and free of control characters and line breaks.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One line of text: not empty, no control character, at most `MAX` characters (Unicode scalar values).
///
/// Line breaks are refused, not removed: in a mail header they would begin a header of the sender's choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Text<const MAX: usize>(String);

/// Why a text was refused, worded for the person who typed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidText {
    /// Nothing but white space.
    #[error("is required")]
    Missing,
    /// More characters than the bound named here.
    #[error("must be at most {0} characters long")]
    TooLong(usize),
    /// A control character or line break.
    #[error("must not contain line breaks or control characters")]
    ControlCharacter,
    /// A postal code that is not six digits.
    #[error("must be six digits such as 018956")]
    NotAPostalCode,
}

impl<const MAX: usize> Text<MAX> {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> TryFrom<String> for Text<MAX> {
    type Error = InvalidText;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        // U+2028 and U+2029 are line breaks to Unicode, though not control characters.
        if text.chars().any(|character| character.is_control() || matches!(character, '\u{2028}' | '\u{2029}')) {
            return Err(InvalidText::ControlCharacter);
        }
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(InvalidText::Missing);
        }
        if trimmed.chars().count() > MAX {
            return Err(InvalidText::TooLong(MAX));
        }
        Ok(Self(trimmed.to_owned()))
    }
}

impl<const MAX: usize> From<Text<MAX>> for String {
    fn from(text: Text<MAX>) -> Self {
        text.0
    }
}

impl<const MAX: usize> fmt::Display for Text<MAX> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A Singapore postal code: six digits, kept as text, since `018956` is not 18956.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PostalCode(String);

impl PostalCode {
    /// The six digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for PostalCode {
    type Error = InvalidText;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_digit()) {
            Ok(Self(text))
        } else {
            Err(InvalidText::NotAPostalCode)
        }
    }
}

impl From<PostalCode> for String {
    fn from(code: PostalCode) -> Self {
        code.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Result<Text<200>, InvalidText> {
        Text::try_from(text.to_owned())
    }

    #[test]
    fn names_of_every_script_are_kept_as_they_are() {
        for text in ["Tan Wei Ming", "陈伟明", "முத்து", "O'Neil-Søren", "<b>Ah Beng</b>", "👩‍🚀"]
        {
            assert_eq!(name(text).unwrap().as_str(), text);
        }
        assert_eq!(name("  Tan ").unwrap().as_str(), "Tan");
        assert!(name(&"陈".repeat(200)).is_ok());
    }

    #[test]
    fn empty_overlong_and_broken_names_are_refused() {
        assert_eq!(name(""), Err(InvalidText::Missing));
        assert_eq!(name(" \u{3000} "), Err(InvalidText::Missing));
        assert_eq!(name(&"a".repeat(201)), Err(InvalidText::TooLong(200)));
        for text in ["a\nb", "a\r\nBcc: x", "\u{0}", "a\u{7f}", "a\u{85}b", "a\u{2028}b", "Tan\n"] {
            assert_eq!(name(text), Err(InvalidText::ControlCharacter), "{text:?}");
        }
    }

    #[test]
    fn a_postal_code_keeps_its_leading_zero() {
        assert_eq!(PostalCode::try_from("018956".to_owned()).unwrap().as_str(), "018956");
        for text in ["18956", "0189567", "01895a", "", "０１８９５６"] {
            assert_eq!(PostalCode::try_from(text.to_owned()), Err(InvalidText::NotAPostalCode), "{text}");
        }
    }
}
