//! Ports around API keys.

use async_trait::async_trait;

use super::PortError;
use crate::domain::{ApiKeyId, IssuedApiKey, OwnerId, Timestamp};

/// Looks keys up (API).
#[async_trait]
pub trait ReadApiKeys: Send + Sync {
    /// The key of this id.
    async fn api_key(&self, id: &ApiKeyId) -> Result<Option<IssuedApiKey>, PortError>;

    /// Notes that it was used. Does nothing for a key that is not there any more.
    async fn note_use(&self, id: &ApiKeyId, now: Timestamp) -> Result<(), PortError>;
}

/// Whether a key was called off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revocation {
    /// By this call.
    Revoked,
    /// Earlier.
    WasRevoked,
    /// There is no such key.
    Unknown,
}

/// Makes keys, lists them, calls them off (parcelctl).
#[async_trait]
pub trait ManageApiKeys: Send + Sync {
    /// Keeps a new key.
    async fn issue(&self, key: &IssuedApiKey) -> Result<(), PortError>;

    /// All keys, or one owner's, in any order.
    async fn api_keys(&self, owner: Option<&OwnerId>) -> Result<Vec<IssuedApiKey>, PortError>;

    /// Calls a key off, for ever.
    async fn revoke(&self, id: &ApiKeyId, now: Timestamp) -> Result<Revocation, PortError>;
}
