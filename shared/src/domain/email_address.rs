//! An address that a mail can be sent to; its existence proves that it was checked.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::text::trimmed;

/// Longest address that SMTP can carry: RFC 5321 section 4.5.3.1.3 bounds a path to 256 octets with its brackets.
const MAX_LENGTH: usize = 254;

/// An e-mail address of the plain form `local@domain.tld`, ASCII, at most 254 characters. A domain of another script is
/// kept in its ASCII form.
///
/// `Debug` hides it, so that it cannot reach a log by accident.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EmailAddress(String);

/// Why a text is no e-mail address, worded for the person who typed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidEmailAddress {
    /// Nothing but white space.
    #[error("is required")]
    Missing,
    /// Over 254 characters.
    #[error("must be at most {MAX_LENGTH} characters long")]
    TooLong,
    /// Not of the form `name@example.com`.
    #[error("must be an e-mail address such as tan@example.com")]
    Malformed,
}

impl EmailAddress {
    /// The address as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether mail to both reaches the same person: no mail system of today tells `Tan@` from `tan@`.
    #[must_use]
    pub fn is_same_mailbox(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl FromStr for EmailAddress {
    type Err = InvalidEmailAddress;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = trimmed(text);
        if text.is_empty() {
            return Err(InvalidEmailAddress::Missing);
        }
        let text = &with_ascii_domain(text)?;
        if text.len() > MAX_LENGTH {
            return Err(InvalidEmailAddress::TooLong);
        }
        // The RFC allows quoted local parts, address literals and comments; mail providers refuse them, so we do too.
        let options =
            email_address::Options::default().with_required_tld().without_domain_literal().without_display_text();
        let parsed = email_address::EmailAddress::parse_with_options(text, options)
            .map_err(|_| InvalidEmailAddress::Malformed)?;
        let plain = text.is_ascii() && !text.contains(['"', '(', ')', '\\']) && domain_is_a_host_name(parsed.domain());
        if plain { Ok(Self(text.to_owned())) } else { Err(InvalidEmailAddress::Malformed) }
    }
}

/// A domain of another script has an ASCII form that every mail server understands (RFC 5891); a local part has none.
fn with_ascii_domain(text: &str) -> Result<String, InvalidEmailAddress> {
    match text.rsplit_once('@') {
        Some((local, domain)) if !domain.is_ascii() => {
            let domain = idna::domain_to_ascii_strict(domain).map_err(|_| InvalidEmailAddress::Malformed)?;
            Ok(format!("{local}@{domain}"))
        }
        _ => Ok(text.to_owned()),
    }
}

fn domain_is_a_host_name(domain: &str) -> bool {
    domain.split('.').all(|label| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    })
}

impl TryFrom<String> for EmailAddress {
    type Error = InvalidEmailAddress;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<EmailAddress> for String {
    fn from(address: EmailAddress) -> Self {
        address.0
    }
}

impl fmt::Debug for EmailAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("EmailAddress(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_addresses_are_accepted() {
        for text in ["tan@example.com", " tan@example.com ", "o'neil+parcel@mail.example.com.sg", "a@b.co", "1@2.sg"] {
            assert_eq!(text.parse::<EmailAddress>().unwrap().as_str(), text.trim(), "{text}");
        }
        let longest =
            format!("{}@{}.example.com", "a".repeat(64), format!("{}.", "b".repeat(60)).repeat(2) + &"c".repeat(55));
        assert_eq!(longest.len(), 254, "the bound itself");
        assert!(longest.parse::<EmailAddress>().is_ok());
    }

    #[test]
    fn what_says_nothing_around_an_address_is_taken_off() {
        for text in ["tan@example.com\n", "\ttan@example.com\u{a0}", "\u{200b}tan@example.com\u{feff}"] {
            assert_eq!(text.parse::<EmailAddress>().unwrap().as_str(), "tan@example.com", "{text:?}");
        }
    }

    #[test]
    fn what_no_provider_would_take_is_refused() {
        for text in [
            "tan",
            "tan@",
            "@example.com",
            "maya@@example",
            "tan@example",
            "tan@.com",
            "tan@example..com",
            "tan@-a.com",
            "a b@example.com",
            "\"a b\"@example.com",
            "tan@[127.0.0.1]",
            "tan@example.com\r\nBcc: x@example.com",
            "Tan <tan@example.com>",
            "tan@example.com,b@example.com",
            "陈@example.com",
            "tan@ex_ample.com",
            "tan.@example.com",
        ] {
            assert_eq!(text.parse::<EmailAddress>(), Err(InvalidEmailAddress::Malformed), "{text}");
        }
        assert_eq!("  ".parse::<EmailAddress>(), Err(InvalidEmailAddress::Missing));
        let long = format!("{}@example.com", "a".repeat(243));
        assert_eq!(long.len(), 255);
        assert_eq!(long.parse::<EmailAddress>(), Err(InvalidEmailAddress::TooLong));
    }

    #[test]
    fn a_domain_of_another_script_is_kept_in_its_ascii_form() {
        assert_eq!("tan@例え.jp".parse::<EmailAddress>().unwrap().as_str(), "tan@xn--r8jz45g.jp");
        assert_eq!("tan@münchen.de".parse::<EmailAddress>().unwrap().as_str(), "tan@xn--mnchen-3ya.de");
        assert_eq!("tan@\u{202e}例え.jp".parse::<EmailAddress>(), Err(InvalidEmailAddress::Malformed));
    }

    #[test]
    fn debug_output_hides_the_address() {
        assert_eq!(format!("{:?}", "tan@example.com".parse::<EmailAddress>().unwrap()), "EmailAddress(…)");
    }

    #[test]
    fn capitals_make_no_other_mailbox() {
        let address: EmailAddress = "tan@example.com".parse().unwrap();
        assert!(address.is_same_mailbox(&"TAN@example.com".parse().unwrap()));
    }
}
