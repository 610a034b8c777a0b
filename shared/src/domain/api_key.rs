//! API keys such as `pt_9f2c…_71ab…`: who is calling, and what they may do.
//!
//! The id half names the key and may be seen; the secret half is known to its bearer alone. We keep its SHA-256.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use uuid::Uuid;

use super::{OwnerId, Text, Timestamp};

const PREFIX: &str = "pt_";
const ID_LENGTH: usize = 16;
const SECRET_LENGTH: usize = 64;

/// The text is not a key that we could have made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not a key of ours")]
pub struct InvalidApiKey;

/// Which key: 16 lower-case letters and digits. No secret.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ApiKeyId(String);

impl ApiKeyId {
    /// The id as it stands in the key.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ApiKeyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for ApiKeyId {
    type Err = InvalidApiKey;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if is_made_of(text, ID_LENGTH) { Ok(Self(text.to_owned())) } else { Err(InvalidApiKey) }
    }
}

impl TryFrom<String> for ApiKeyId {
    type Error = InvalidApiKey;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ApiKeyId> for String {
    fn from(id: ApiKeyId) -> Self {
        id.0
    }
}

fn is_made_of(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// The SHA-256 of a key's secret half. The secret has 244 random bits, so no slower hash is needed.
///
/// A comparison takes the same time wherever two differ.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SecretHash([u8; 32]);

impl PartialEq for SecretHash {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for SecretHash {}

impl fmt::Debug for SecretHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SecretHash(…)")
    }
}

impl From<SecretHash> for String {
    fn from(hash: SecretHash) -> Self {
        URL_SAFE_NO_PAD.encode(hash.0)
    }
}

impl TryFrom<String> for SecretHash {
    type Error = InvalidApiKey;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let hash = URL_SAFE_NO_PAD.decode(text).map_err(|_| InvalidApiKey)?;
        hash.try_into().map(Self).map_err(|_| InvalidApiKey)
    }
}

/// A whole key, as its bearer has it. `Debug` hides the secret.
#[derive(Clone)]
pub struct ApiKey {
    /// Which one.
    pub id: ApiKeyId,
    secret: String,
}

impl ApiKey {
    /// A key from three random UUIDs (version 4, which come from the operating system's generator).
    #[must_use]
    pub fn from_random(id: Uuid, secret: [Uuid; 2]) -> Self {
        let mut id = id.simple().to_string();
        id.truncate(ID_LENGTH);
        Self { id: ApiKeyId(id), secret: secret.map(|half| half.simple().to_string()).concat() }
    }

    /// What is kept of the secret.
    #[must_use]
    pub fn secret_hash(&self) -> SecretHash {
        SecretHash(Sha256::digest(&self.secret).into())
    }

    /// The key in full, to be shown once.
    #[must_use]
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}_{}", self.id, self.secret)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{PREFIX}{}_…", self.id)
    }
}

impl FromStr for ApiKey {
    type Err = InvalidApiKey;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (id, secret) = text.strip_prefix(PREFIX).and_then(|rest| rest.split_once('_')).ok_or(InvalidApiKey)?;
        if !is_made_of(secret, SECRET_LENGTH) {
            return Err(InvalidApiKey);
        }
        Ok(Self { id: id.parse()?, secret: secret.to_owned() })
    }
}

/// What the bearer of a key is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// Sees and touches their own parcels and invoices.
    Merchant,
    /// Adds to the timeline of any parcel, and sees nothing else.
    Driver,
    /// Sees and touches everything.
    Operator,
}

/// A key as we keep it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuedApiKey {
    /// Which one.
    pub id: ApiKeyId,
    /// Proves that the bearer knows the secret.
    pub secret_hash: SecretHash,
    /// What the bearer may do.
    pub role: Role,
    /// On whose behalf.
    pub owner: OwnerId,
    /// What people call it.
    pub label: Text<100>,
    /// Since when there is such a key.
    pub created_at: Timestamp,
    /// Until when it is good; without an end if there is none.
    pub expires: Option<Timestamp>,
    /// Since when it is called off.
    pub revoked_at: Option<Timestamp>,
    /// When it was last used, to [`LAST_USE_PRECISION`].
    pub last_used_at: Option<Timestamp>,
}

/// The last use of a key is noted no more often than this.
pub const LAST_USE_PRECISION: std::time::Duration = std::time::Duration::from_mins(5);

/// What a key is good for at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ApiKeyState {
    /// It opens doors.
    Active,
    /// Its time is over.
    Expired,
    /// It was called off.
    Revoked,
}

impl IssuedApiKey {
    /// A key that was just made.
    #[must_use]
    pub fn issue(
        key: &ApiKey,
        role: Role,
        owner: OwnerId,
        label: Text<100>,
        now: Timestamp,
        expires: Option<Timestamp>,
    ) -> Self {
        Self {
            id: key.id.clone(),
            secret_hash: key.secret_hash(),
            role,
            owner,
            label,
            created_at: now,
            expires,
            revoked_at: None,
            last_used_at: None,
        }
    }

    /// What it is good for.
    #[must_use]
    pub fn state(&self, now: Timestamp) -> ApiKeyState {
        if self.revoked_at.is_some() {
            ApiKeyState::Revoked
        } else if self.expires.is_some_and(|expires| expires <= now) {
            ApiKeyState::Expired
        } else {
            ApiKeyState::Active
        }
    }

    /// Whether a use now is worth a note.
    #[must_use]
    pub fn use_is_news(&self, now: Timestamp) -> bool {
        self.last_used_at.is_none_or(|last| last + LAST_USE_PRECISION <= now)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn key() -> ApiKey {
        ApiKey::from_random(Uuid::new_v4(), [Uuid::new_v4(), Uuid::new_v4()])
    }

    #[test]
    fn a_key_survives_being_shown_and_typed() {
        let key = key();
        let again: ApiKey = key.reveal().parse().unwrap();
        assert_eq!((again.id.clone(), again.secret_hash()), (key.id.clone(), key.secret_hash()));
        assert_ne!(self::key().secret_hash(), key.secret_hash());
    }

    #[test]
    fn foreign_text_is_no_key() {
        let right = key().reveal();
        for text in
            ["", "pt_", "pt__", "pt_a_b", &right[1..], &right[..83], &right.to_uppercase(), &format!("{right}0")]
        {
            assert!(text.parse::<ApiKey>().is_err(), "{text}");
        }
        assert!(right.replace(&right[20..84], &"é".repeat(32)).parse::<ApiKey>().is_err());
    }

    #[test]
    fn debug_output_hides_the_secret_and_its_hash() {
        let key = key();
        let shown = format!("{key:?} {:?}", key.secret_hash());
        assert!(!shown.contains(&key.reveal()[20..]) && !shown.contains(&String::from(key.secret_hash())));
    }

    #[test]
    fn a_hash_survives_the_table() {
        let hash = key().secret_hash();
        assert_eq!(SecretHash::try_from(String::from(hash)), Ok(hash));
        assert!(SecretHash::try_from("é".repeat(32)).is_err());
    }

    #[test]
    fn a_key_is_good_until_it_expires_or_is_revoked() {
        let (now, hour) = (Timestamp::from_millis(1_790_000_000_000), Duration::from_hours(1));
        let owner = OwnerId::house();
        let label = Text::try_from("Page".to_owned()).unwrap();
        let mut issued = IssuedApiKey::issue(&key(), Role::Merchant, owner, label, now, Some(now + hour));
        assert_eq!(issued.state(now), ApiKeyState::Active);
        assert_eq!(issued.state(now + hour), ApiKeyState::Expired);
        issued.revoked_at = Some(now);
        assert_eq!(issued.state(now), ApiKeyState::Revoked);
        assert!(issued.use_is_news(now));
        issued.last_used_at = Some(now);
        assert!(!issued.use_is_news(now) && issued.use_is_news(now + LAST_USE_PRECISION));
    }
}
