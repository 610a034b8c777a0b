//! Whom a merchant names as the contact of a webhook. It may be anybody, so they get one mail until they have said yes.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::super::link::{InvalidLinkToken, LinkSecret, decode, encode};
use super::super::{EmailAddress, OwnerId, Timestamp};
use super::{InvalidWebhookMessage, WebhookKey};

/// How long the link of a confirmation is good for.
pub const CONFIRMATION_LIFETIME: Duration = Duration::from_hours(7 * 24);

/// From one confirmation to an address to the next, of all merchants.
pub const CONFIRMATION_PAUSE: Duration = Duration::from_hours(24);

/// How many confirmations an address gets, of all merchants, until ninety days have passed without one.
pub const CONFIRMATIONS_PER_ADDRESS: u32 = 3;

/// An address as the contact of one merchant: a yes to one is none to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContactId(pub Uuid);

impl ContactId {
    /// The same however the address is capitalized.
    #[must_use]
    pub fn of(owner: &OwnerId, email: &EmailAddress) -> Self {
        let digest = Sha256::digest(format!("{owner}\n{}", email.as_str().to_ascii_lowercase()));
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        Self(Uuid::from_bytes(bytes))
    }
}

impl fmt::Display for ContactId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// How far it has come with a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Contact {
    /// What the link of the last confirmation has in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<LinkSecret>,
    /// When that was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<Timestamp>,
    /// When the address's owner said yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed_at: Option<Timestamp>,
}

/// What a link does that somebody opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfirmationLink {
    /// It confirms.
    Good,
    /// It has confirmed.
    Confirmed,
    /// It is too old.
    Over,
    /// It is none of ours, or a newer one has taken its place.
    Unknown,
}

impl Contact {
    /// From when on the next confirmation may be sent, if that is later.
    #[must_use]
    pub fn next_confirmation(&self, now: Timestamp) -> Option<Timestamp> {
        self.asked_at.map(|asked| asked + CONFIRMATION_PAUSE).filter(|next| now < *next)
    }

    /// What a link with this secret does.
    #[must_use]
    pub fn link(&self, secret: LinkSecret, now: Timestamp) -> ConfirmationLink {
        match (self.secret, self.asked_at, self.confirmed_at) {
            (Some(ours), _, Some(_)) if ours == secret => ConfirmationLink::Confirmed,
            (Some(ours), Some(asked), None) if ours == secret => {
                if now < asked + CONFIRMATION_LIFETIME {
                    ConfirmationLink::Good
                } else {
                    ConfirmationLink::Over
                }
            }
            _ => ConfirmationLink::Unknown,
        }
    }
}

/// What stands in the link of a confirmation: as long as that of an invoice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContactToken {
    /// Whom it confirms.
    pub contact: ContactId,
    /// What only the mail knows.
    pub secret: LinkSecret,
}

impl fmt::Display for ContactToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&encode(self.contact.0, self.secret))
    }
}

impl FromStr for ContactToken {
    type Err = InvalidLinkToken;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        decode(text).map(|(contact, secret)| Self { contact: ContactId(contact), secret })
    }
}

/// A request to send a confirmation to the contact of a webhook, if that may be. May arrive twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConfirmationTicket {
    /// Of which webhook.
    pub confirm: WebhookKey,
}

impl ConfirmationTicket {
    /// Reads a message's body.
    pub fn parse(body: &str) -> Result<Self, InvalidWebhookMessage> {
        serde_json::from_str(body).map_err(|error| InvalidWebhookMessage::of(&error))
    }

    /// The message's body.
    ///
    /// # Panics
    /// Never: ids always have a JSON form.
    #[must_use]
    pub fn to_body(&self) -> String {
        serde_json::to_string(self).expect("ids in JSON")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

    #[test]
    fn a_contact_is_the_same_in_other_capitals_and_another_for_another_merchant() {
        let of = |owner: &str, email: &str| ContactId::of(&owner.parse().unwrap(), &email.parse().unwrap());
        assert_eq!(of("orchard-books", "Tan@Example.com"), of("orchard-books", "tan@example.com"));
        assert_ne!(of("orchard-books", "tan@example.com"), of("kopi", "tan@example.com"));
        assert_ne!(of("orchard-books", "tan@example.com"), of("orchard-books", "lim@example.com"));
    }

    #[test]
    fn a_link_confirms_for_a_week_with_the_secret_of_the_last_mail_alone() {
        let (secret, other) = (LinkSecret(Uuid::from_u128(1)), LinkSecret(Uuid::from_u128(2)));
        let asked = Contact { secret: Some(secret), asked_at: Some(NOW), confirmed_at: None };
        assert_eq!(asked.link(secret, NOW), ConfirmationLink::Good);
        assert_eq!(asked.link(other, NOW), ConfirmationLink::Unknown);
        assert_eq!(asked.link(secret, NOW + CONFIRMATION_LIFETIME), ConfirmationLink::Over);
        assert_eq!(Contact::default().link(secret, NOW), ConfirmationLink::Unknown);
        let confirmed = Contact { confirmed_at: Some(NOW), ..asked };
        assert_eq!(confirmed.link(secret, NOW + CONFIRMATION_LIFETIME), ConfirmationLink::Confirmed);
        assert_eq!(confirmed.link(other, NOW), ConfirmationLink::Unknown);
        let token = ContactToken { contact: ContactId(Uuid::from_u128(3)), secret };
        assert_eq!(token.to_string().parse(), Ok(token));
    }
}
