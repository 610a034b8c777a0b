//! API keys in DynamoDB.

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::ReturnValuesOnConditionCheckFailure;
use serde::{Deserialize, Serialize};

use super::failure::port_error;
use super::row::{from_row, number, text, to_row};
use crate::domain::{ApiKeyId, IssuedApiKey, OwnerId, Role, SecretHash, Text, Timestamp};
use crate::ports::{ManageApiKeys, PortError, ReadApiKeys, Revocation};

/// The table of API keys. It holds no secret, only the SHA-256 of each.
#[derive(Clone, Debug)]
pub struct ApiKeyTable {
    client: Client,
    name: String,
}

impl ApiKeyTable {
    /// The table of this name.
    #[must_use]
    pub fn new(client: Client, name: String) -> Self {
        Self { client, name }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ApiKeyRow {
    key_id: ApiKeyId,
    secret_hash: SecretHash,
    role: Role,
    owner: OwnerId,
    label: Text<100>,
    created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revoked_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used_at: Option<Timestamp>,
}

impl From<ApiKeyRow> for IssuedApiKey {
    fn from(row: ApiKeyRow) -> Self {
        let ApiKeyRow { key_id, secret_hash, role, owner, label, created_at, expires, revoked_at, last_used_at } = row;
        Self { id: key_id, secret_hash, role, owner, label, created_at, expires, revoked_at, last_used_at }
    }
}

impl From<IssuedApiKey> for ApiKeyRow {
    fn from(key: IssuedApiKey) -> Self {
        let IssuedApiKey { id, secret_hash, role, owner, label, created_at, expires, revoked_at, last_used_at } = key;
        Self { key_id: id, secret_hash, role, owner, label, created_at, expires, revoked_at, last_used_at }
    }
}

#[async_trait]
impl ReadApiKeys for ApiKeyTable {
    async fn api_key(&self, id: &ApiKeyId) -> Result<Option<IssuedApiKey>, PortError> {
        let answer = self
            .client
            .get_item()
            .table_name(&self.name)
            .key("keyId", text(id))
            // An older copy could still show a revoked key as good.
            .consistent_read(true)
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        answer.item.map(|row| Ok(from_row::<ApiKeyRow>(row)?.into())).transpose()
    }

    async fn note_use(&self, id: &ApiKeyId, now: Timestamp) -> Result<(), PortError> {
        let result = self
            .client
            .update_item()
            .table_name(&self.name)
            .key("keyId", text(id))
            .update_expression("SET lastUsedAt = :now")
            .condition_expression("attribute_exists(keyId)")
            .expression_attribute_values(":now", number(now.millis()))
            .send()
            .await;
        match result {
            Ok(_) => Ok(()),
            Err(SdkError::ServiceError(service)) if service.err().is_conditional_check_failed_exception() => Ok(()),
            Err(error) => Err(port_error(&error)),
        }
    }
}

#[async_trait]
impl ManageApiKeys for ApiKeyTable {
    async fn issue(&self, key: &IssuedApiKey) -> Result<(), PortError> {
        self.client
            .put_item()
            .table_name(&self.name)
            .set_item(Some(to_row(ApiKeyRow::from(key.clone()))?))
            // The same key once more is our own call, whose answer was lost.
            .condition_expression("attribute_not_exists(keyId) OR secretHash = :hash")
            .expression_attribute_values(":hash", text(String::from(key.secret_hash)))
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        Ok(())
    }

    async fn api_keys(&self, owner: Option<&OwnerId>) -> Result<Vec<IssuedApiKey>, PortError> {
        let mut scan = self.client.scan().table_name(&self.name).consistent_read(true);
        if let Some(owner) = owner {
            scan = scan
                .filter_expression("#owner = :owner")
                .expression_attribute_names("#owner", "owner")
                .expression_attribute_values(":owner", text(owner));
        }
        let mut pages = scan.into_paginator().items().send();
        let mut keys = Vec::new();
        while let Some(row) = pages.next().await {
            keys.push(from_row::<ApiKeyRow>(row.map_err(|error| port_error(&error))?)?.into());
        }
        Ok(keys)
    }

    async fn revoke(&self, id: &ApiKeyId, now: Timestamp) -> Result<Revocation, PortError> {
        let result = self
            .client
            .update_item()
            .table_name(&self.name)
            .key("keyId", text(id))
            .update_expression("SET revokedAt = :now")
            .condition_expression("attribute_exists(keyId) AND attribute_not_exists(revokedAt)")
            .expression_attribute_values(":now", number(now.millis()))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
            .await;
        let Err(error) = result else { return Ok(Revocation::Revoked) };
        match error.as_service_error() {
            Some(UpdateItemError::ConditionalCheckFailedException(failed)) => {
                let revoked_at = failed.item().and_then(|row| row.get("revokedAt"));
                Ok(match revoked_at {
                    None => Revocation::Unknown,
                    // Our own write, whose answer was lost and which the SDK tried again.
                    Some(at) if *at == number(now.millis()) => Revocation::Revoked,
                    Some(_) => Revocation::WasRevoked,
                })
            }
            _ => Err(port_error(&error)),
        }
    }
}
