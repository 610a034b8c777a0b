//! The short link in the mail: `…/i/{token}`.
//!
//! The token names the invoice and proves, by 122 random bits, that its bearer got the mail.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;
use uuid::Uuid;

use super::InvoiceId;

/// How long a link is good for after the mail that carries it.
pub const LINK_LIFETIME: Duration = Duration::from_hours(24);

/// So long the link to a stored file is good that its store has signed: enough to follow a redirect, and no more, since
/// it outlives what the mailed link is good for, such as an address that was changed.
pub const STORE_LINK_LIFETIME: Duration = Duration::from_mins(1);

/// The secret half of a link. `Debug` hides it; comparison takes the same time wherever it differs.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LinkSecret(pub Uuid);

impl PartialEq for LinkSecret {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
    }
}

impl Eq for LinkSecret {}

impl fmt::Debug for LinkSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("LinkSecret(…)")
    }
}

/// What stands in a link: 43 characters that are safe in a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkToken {
    /// Whose PDF it opens.
    pub invoice: InvoiceId,
    /// What only the mail knows.
    pub secret: LinkSecret,
}

/// The text is not a token that we could have made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not a link of ours")]
pub struct InvalidLinkToken;

impl fmt::Display for LinkToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&encode(self.invoice.0, self.secret))
    }
}

/// Whose a link is, and its secret, in 43 characters.
pub(super) fn encode(of: Uuid, secret: LinkSecret) -> String {
    URL_SAFE_NO_PAD.encode([*of.as_bytes(), *secret.0.as_bytes()].concat())
}

/// The same read again.
pub(super) fn decode(text: &str) -> Result<(Uuid, LinkSecret), InvalidLinkToken> {
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| InvalidLinkToken)?;
    let (of, secret) = bytes.split_at_checked(16).ok_or(InvalidLinkToken)?;
    let uuid = |bytes| Uuid::from_slice(bytes).map_err(|_| InvalidLinkToken);
    Ok((uuid(of)?, LinkSecret(uuid(secret)?)))
}

impl FromStr for LinkToken {
    type Err = InvalidLinkToken;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        decode(text).map(|(invoice, secret)| Self { invoice: InvoiceId(invoice), secret })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_survives_the_mail() {
        let token = LinkToken { invoice: InvoiceId(Uuid::new_v4()), secret: LinkSecret(Uuid::new_v4()) };
        assert_eq!(token.to_string().len(), 43);
        assert_eq!(token.to_string().parse(), Ok(token));
    }

    #[test]
    fn foreign_text_is_no_token() {
        for text in ["", "abc", "../../etc/passwd", &"A".repeat(44), &"!".repeat(43)] {
            assert_eq!(text.parse::<LinkToken>(), Err(InvalidLinkToken));
        }
    }

    #[test]
    fn debug_output_hides_the_secret() {
        let secret = LinkSecret(Uuid::new_v4());
        assert!(!format!("{secret:?}").contains(&secret.0.to_string()));
    }
}
