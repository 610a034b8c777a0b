//! The one key of all clients. Who may call is not what is explored here, so it is never asked of the world.

use async_trait::async_trait;
use parceltrack::domain::{ApiKey, ApiKeyId, IssuedApiKey, OwnerId, Text, Timestamp};
use parceltrack::ports::{PortError, ReadApiKeys};
use uuid::Uuid;

use super::Ports;

/// The key of all clients.
#[must_use]
pub fn clients_key() -> ApiKey {
    ApiKey::from_random(Uuid::from_u128(1), [Uuid::from_u128(2), Uuid::from_u128(3)])
}

#[async_trait]
impl ReadApiKeys for Ports {
    async fn api_key(&self, _: &ApiKeyId) -> Result<Option<IssuedApiKey>, PortError> {
        let label = Text::try_from("Clients".to_owned()).map_err(|error| PortError::Broken(error.to_string()))?;
        let created_at = Timestamp::from_millis(0);
        let key = IssuedApiKey::issue(&clients_key(), self.clients, OwnerId::house(), label, created_at, None);
        Ok(Some(key))
    }

    async fn note_use(&self, _: &ApiKeyId, _: Timestamp) -> Result<(), PortError> {
        Ok(())
    }
}
