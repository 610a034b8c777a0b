//! The secrets by which an endpoint knows that it is we who call (Standard Webhooks, symmetric signatures).
//!
//! <https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use standardwebhooks::Webhook as Signer;
use uuid::Uuid;

use super::super::Timestamp;

/// What a secret begins with, so that people and scanners know one when they see it.
const PREFIX: &str = "whsec_";

/// The bytes of a secret; the scheme wants 24 to 64.
const LENGTH: usize = 32;

/// For how long a secret is good after another one took its place.
pub const PREVIOUS_SECRET_LIFETIME: Duration = Duration::from_hours(24);

/// How many secrets of one webhook are good at once, at most: each is one more signature in every request.
pub const MAX_SECRETS: usize = 4;

/// A secret that signs. `Debug` hides it; [`reveal`](Self::reveal) is the one way out.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecret([u8; LENGTH]);

/// The text is no secret of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a secret")]
pub struct InvalidWebhookSecret;

impl WebhookSecret {
    /// From random ids, of which each has 122 random bits.
    #[must_use]
    pub fn from_random(random: [Uuid; 2]) -> Self {
        let mut bytes = [0; LENGTH];
        let (first, second) = bytes.split_at_mut(LENGTH / 2);
        first.copy_from_slice(random[0].as_bytes());
        second.copy_from_slice(random[1].as_bytes());
        Self(bytes)
    }

    /// As it is shown, once, and as the table has it.
    #[must_use]
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}", STANDARD.encode(self.0))
    }

    /// `v1,` and the signature of this request in Base64.
    fn sign(&self, id: Uuid, at: Timestamp, body: &str) -> Option<String> {
        Signer::from_bytes(self.0.to_vec()).ok()?.sign(&id.to_string(), at.seconds(), body.as_bytes()).ok()
    }
}

impl FromStr for WebhookSecret {
    type Err = InvalidWebhookSecret;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bytes = STANDARD.decode(text.strip_prefix(PREFIX).ok_or(InvalidWebhookSecret)?);
        bytes.ok().and_then(|bytes| bytes.try_into().ok()).map(Self).ok_or(InvalidWebhookSecret)
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("WebhookSecret(…)")
    }
}

/// A secret that another one took the place of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviousSecret {
    /// The secret.
    pub secret: WebhookSecret,
    /// Until when it signs.
    pub until: Timestamp,
}

/// The secrets of one webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookSecrets {
    /// The one that was shown last.
    pub current: WebhookSecret,
    /// Those before it, the oldest first. Some may be over.
    pub previous: Vec<PreviousSecret>,
}

/// What becomes of a wish for another secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretRotation {
    /// These are the secrets now.
    Rotated(WebhookSecrets),
    /// So many are good already that it must wait until the oldest is not.
    TooMany {
        /// Until then.
        until: Timestamp,
    },
}

impl WebhookSecrets {
    /// Those before the current one that are still good.
    pub fn good_previous(&self, now: Timestamp) -> impl Iterator<Item = &PreviousSecret> {
        self.previous.iter().filter(move |previous| now < previous.until)
    }

    /// The same with `new` in the place of the current one, which stays good for [`PREVIOUS_SECRET_LIFETIME`].
    #[must_use]
    pub fn rotated(&self, new: WebhookSecret, now: Timestamp) -> SecretRotation {
        let mut previous: Vec<_> = self.good_previous(now).cloned().collect();
        if previous.len() + 1 >= MAX_SECRETS {
            let until = previous.iter().map(|previous| previous.until).min().unwrap_or(now);
            return SecretRotation::TooMany { until };
        }
        previous.push(PreviousSecret { secret: self.current.clone(), until: now + PREVIOUS_SECRET_LIFETIME });
        SecretRotation::Rotated(Self { current: new, previous })
    }

    /// The value of `webhook-signature`: one signature for each secret that is good, separated by spaces.
    #[must_use]
    pub fn sign(&self, id: Uuid, now: Timestamp, body: &str) -> String {
        let secrets = [&self.current].into_iter().chain(self.good_previous(now).map(|previous| &previous.secret));
        secrets.filter_map(|secret| secret.sign(id, now, body)).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

    fn secret() -> WebhookSecret {
        WebhookSecret::from_random([Uuid::new_v4(), Uuid::new_v4()])
    }

    #[test]
    fn a_secret_survives_being_shown_and_hides_itself_otherwise() {
        let secret = secret();
        assert_eq!(secret.reveal().parse(), Ok(secret.clone()));
        assert!(secret.reveal().starts_with("whsec_"));
        assert_eq!(format!("{secret:?}"), "WebhookSecret(…)");
        for text in ["", "whsec_", "whsec_AAAA", &secret.reveal()[6..], "whsec_!"] {
            assert_eq!(text.parse::<WebhookSecret>(), Err(InvalidWebhookSecret), "{text}");
        }
    }

    /// Worked out with Python's `hmac`, by the scheme's own words.
    #[test]
    fn a_signature_is_hmac_sha256_over_id_time_and_body() {
        let secrets = WebhookSecrets {
            current: WebhookSecret(std::array::from_fn(|index| u8::try_from(index).unwrap())),
            previous: vec![],
        };
        let id = Uuid::from_u128(0x1111_1111_1111_4111_8111_1111_1111_1111);
        let signature = secrets.sign(id, NOW, r#"{"type":"ParcelCreated"}"#);
        assert_eq!(signature, "v1,eRZiQi8H4N5KAbGnwJk92vz9sEN8JjA1TxcHCJ4M/40=");
    }

    #[test]
    fn after_a_rotation_both_sign_for_a_day_and_then_the_new_one_alone() {
        let old = WebhookSecrets { current: secret(), previous: vec![] };
        let SecretRotation::Rotated(both) = old.rotated(secret(), NOW) else { panic!("refused") };
        let (id, later) = (Uuid::new_v4(), NOW + PREVIOUS_SECRET_LIFETIME);
        let signatures = both.sign(id, NOW, "{}");
        let [new, previous] = signatures.split(' ').collect::<Vec<_>>()[..] else { panic!("{signatures}") };
        assert_eq!(previous, old.sign(id, NOW, "{}"));
        assert_ne!(new, previous);
        assert!(!both.sign(id, later, "{}").contains(' '));
    }

    #[test]
    fn a_fifth_secret_waits_until_the_oldest_is_over() {
        let mut secrets = WebhookSecrets { current: secret(), previous: vec![] };
        for minute in 0..3 {
            let SecretRotation::Rotated(rotated) = secrets.rotated(secret(), NOW + Duration::from_mins(minute)) else {
                panic!("refused")
            };
            secrets = rotated;
        }
        let until = NOW + PREVIOUS_SECRET_LIFETIME;
        assert_eq!(secrets.rotated(secret(), NOW + Duration::from_mins(3)), SecretRotation::TooMany { until });
        let SecretRotation::Rotated(rotated) = secrets.rotated(secret(), until) else { panic!("refused") };
        assert_eq!(rotated.previous.len(), 3, "the one that is over is forgotten");
    }
}
