//! Webhooks in DynamoDB, an owner's side by side.

mod contacts;
mod health;
mod notices;
mod rows;

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::update_item::builders::UpdateItemFluentBuilder;
use aws_sdk_dynamodb::types::{
    AttributeValue, ReturnValue, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};
use serde::{Deserialize, Serialize};

use super::failure::port_error;
use super::row::{Row, attribute, from_row, number, text, to_row};
use super::transaction::{Transaction, item, put_if_new, put_key_if_free, transact};
use super::update::send;
use crate::domain::{MAX_WEBHOOKS, OwnerId, Timestamp, Webhook, WebhookId, WebhookKey, WebhookSecrets};
use crate::ports::{
    ChangeWebhooks, CreateWebhooks, IdempotencyClaim, PortError, ReadWebhooks, StepTaken, WebhookCreation,
};
use rows::{PreviousSecretRow, WebhookRow};

/// The table of webhooks, and that of idempotency keys for who registers them.
#[derive(Clone, Debug)]
pub struct WebhookTable {
    client: Client,
    name: String,
    idempotency_keys: String,
}

impl WebhookTable {
    /// The tables of these names.
    #[must_use]
    pub fn new(client: Client, name: String, idempotency_keys: String) -> Self {
        Self { client, name, idempotency_keys }
    }

    /// The table of webhooks alone, for who registers none.
    #[must_use]
    pub fn for_deliveries(client: Client, name: String) -> Self {
        Self::new(client, name, String::new())
    }

    /// An update of a webhook, which must be there.
    fn update(&self, key: &WebhookKey) -> UpdateItemFluentBuilder {
        self.client
            .update_item()
            .table_name(&self.name)
            .set_key(Some(row_key(key)))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
    }
}

fn row_key(key: &WebhookKey) -> Row {
    [("owner".to_owned(), text(&key.owner)), ("webhookId".to_owned(), text(key.webhook_id))].into()
}

/// What an idempotency key made.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct KeyRow {
    idempotency_key: String,
    content_sha256: String,
    answer: WebhookId,
    /// In seconds, as DynamoDB's TTL wants it.
    expires: i64,
}

impl KeyRow {
    fn answer_to(&self, claim: &IdempotencyClaim) -> WebhookCreation {
        if self.content_sha256 == claim.content_sha256 {
            WebhookCreation::Replayed(self.answer)
        } else {
            WebhookCreation::KeyUsedForOtherContent
        }
    }
}

/// The places of the writes in the transaction.
const WEBHOOK: usize = 0;
const CREATIONS: usize = 1;
const KEY: usize = 2;

/// How often a creation counts anew because another one of the same owner was faster. Each time that one was made, so that
/// more than ten are lost in a row only where as many are deleted.
const COUNTS: usize = 2 * MAX_WEBHOOKS;

#[async_trait]
impl CreateWebhooks for WebhookTable {
    async fn create(
        &self,
        webhook: &Webhook,
        claim: Option<&IdempotencyClaim>,
        now: Timestamp,
    ) -> Result<WebhookCreation, PortError> {
        let row = to_row(WebhookRow::from(webhook))?;
        let record = claim.map(|claim| {
            to_row(KeyRow {
                idempotency_key: claim.key.clone(),
                content_sha256: claim.content_sha256.clone(),
                answer: webhook.id,
                expires: claim.expires.seconds(),
            })
        });
        let record = record.transpose()?;
        for _ in 0..COUNTS {
            // First this, then the count: what is made after the first makes the write fail, what was made before is counted.
            let creations = self.creations(&webhook.owner).await?;
            if self.webhooks_of(&webhook.owner).await?.len() >= MAX_WEBHOOKS {
                return self.made_before(claim, now).await;
            }
            let put = put_if_new(&self.name, "webhookId").set_item(Some(row.clone()));
            let mut items = vec![item(put)?, self.one_more_creation(&webhook.owner, creations)?];
            if let Some(record) = &record {
                items.push(put_key_if_free(&self.idempotency_keys, record.clone(), now)?);
            }
            let failed = match transact(&self.client, items).await? {
                Transaction::Written => return Ok(WebhookCreation::Created),
                Transaction::Refused(failed) => failed,
            };
            // Its id was drawn by this very call: its own write, whose answer was lost and which the SDK tried again.
            if failed.row(WEBHOOK).is_some() {
                return Ok(WebhookCreation::Created);
            }
            match (failed.row(KEY), claim) {
                (Some(row), Some(claim)) => return Ok(from_row::<KeyRow>(row)?.answer_to(claim)),
                _ if failed.row(CREATIONS).is_some() => {}
                _ => return Err(PortError::Broken("a transaction that failed by no condition".to_owned())),
            }
        }
        Err(PortError::Unavailable("other creations of this owner were in the way".to_owned()))
    }
}

impl WebhookTable {
    /// What a creation by this claim comes to that has no place: only what it made before.
    async fn made_before(
        &self,
        claim: Option<&IdempotencyClaim>,
        now: Timestamp,
    ) -> Result<WebhookCreation, PortError> {
        let Some(claim) = claim else { return Ok(WebhookCreation::TooMany) };
        let answer = self
            .client
            .get_item()
            .table_name(&self.idempotency_keys)
            .key("idempotencyKey", text(&claim.key))
            .consistent_read(true)
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        let row = answer.item.map(from_row::<KeyRow>).transpose()?.filter(|row| now.seconds() < row.expires);
        Ok(row.map_or(WebhookCreation::TooMany, |row| row.answer_to(claim)))
    }

    /// How many webhooks an owner has ever made. It stands beside their webhooks, under a name that no owner can have.
    async fn creations(&self, owner: &OwnerId) -> Result<Option<AttributeValue>, PortError> {
        let row = self
            .client
            .get_item()
            .table_name(&self.name)
            .set_key(Some(creations_key(owner)))
            .consistent_read(true)
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        Ok(row.item.and_then(|mut row| row.remove("creations")))
    }

    /// Counts a creation, if none was counted since.
    fn one_more_creation(&self, owner: &OwnerId, seen: Option<AttributeValue>) -> Result<TransactWriteItem, PortError> {
        let update = Update::builder()
            .table_name(&self.name)
            .set_key(Some(creations_key(owner)))
            .update_expression("ADD creations :one")
            .expression_attribute_values(":one", number(1))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        let update = match seen {
            Some(seen) => update.condition_expression("creations = :seen").expression_attribute_values(":seen", seen),
            None => update.condition_expression("attribute_not_exists(creations)"),
        };
        let update = update.build().map_err(|error| PortError::Broken(error.to_string()))?;
        Ok(TransactWriteItem::builder().update(update).build())
    }
}

fn creations_key(owner: &OwnerId) -> Row {
    [("owner".to_owned(), text(format!("{owner}#creations"))), ("webhookId".to_owned(), text("creations"))].into()
}

#[async_trait]
impl ReadWebhooks for WebhookTable {
    async fn webhook(&self, key: &WebhookKey) -> Result<Option<Webhook>, PortError> {
        let answer = self
            .client
            .get_item()
            .table_name(&self.name)
            .set_key(Some(row_key(key)))
            .consistent_read(true)
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        answer.item.map(|row| from_row::<WebhookRow>(row)?.into_webhook()).transpose()
    }

    async fn webhooks_of(&self, owner: &OwnerId) -> Result<Vec<Webhook>, PortError> {
        let query = self
            .client
            .query()
            .table_name(&self.name)
            .key_condition_expression("#owner = :owner")
            .expression_attribute_names("#owner", "owner")
            .expression_attribute_values(":owner", text(owner))
            .consistent_read(true);
        let mut pages = query.into_paginator().items().send();
        let mut webhooks = Vec::new();
        while let Some(row) = pages.next().await {
            let row: WebhookRow = from_row(row.map_err(|error| port_error(&error))?)?;
            webhooks.push(row.into_webhook()?);
        }
        webhooks.sort_by_key(|webhook| (webhook.created_at, webhook.id));
        Ok(webhooks)
    }
}

#[async_trait]
impl ChangeWebhooks for WebhookTable {
    async fn rotate(&self, seen: &Webhook, secrets: &WebhookSecrets, now: Timestamp) -> Result<StepTaken, PortError> {
        let (current, previous) = (secrets.current.reveal(), PreviousSecretRow::all(secrets));
        let update = self
            .update(&seen.key())
            .update_expression("SET secret = :new, previousSecrets = :previous, updatedAt = :now")
            .condition_expression("secret = :seen")
            .expression_attribute_values(":seen", text(seen.secrets.current.reveal()))
            .expression_attribute_values(":new", text(&current))
            .expression_attribute_values(":previous", attribute(previous)?)
            .expression_attribute_values(":now", number(now.millis()));
        Ok(match send(update).await? {
            Ok(_) => StepTaken::Moved,
            // Our own write, whose answer was lost and which the SDK tried again.
            Err(row) if row.get("secret") == Some(&text(&current)) => StepTaken::Moved,
            Err(_) => StepTaken::OvertakenByAnother,
        })
    }

    async fn enable(&self, key: &WebhookKey, now: Timestamp) -> Result<Option<Webhook>, PortError> {
        let update = self
            .update(key)
            .update_expression(
                "SET #state = :active, consecutiveFailures = :none, updatedAt = :now \
                 REMOVE switchedOffAt, switchedOffReason, noticeDue, noticeEnd, failingSince, restUntil",
            )
            .condition_expression("#state = :off")
            .expression_attribute_names("#state", "state")
            .expression_attribute_values(":active", text(rows::ACTIVE))
            .expression_attribute_values(":off", text(rows::SWITCHED_OFF))
            .expression_attribute_values(":none", number(0))
            .expression_attribute_values(":now", number(now.millis()))
            .return_values(ReturnValue::AllNew);
        let row = match send(update).await? {
            Ok(row) => row.unwrap_or_default(),
            // There is none, or it is active.
            Err(row) if row.is_empty() => return Ok(None),
            Err(row) => row,
        };
        from_row::<WebhookRow>(row)?.into_webhook().map(Some)
    }

    async fn delete(&self, key: &WebhookKey) -> Result<bool, PortError> {
        let answer = self
            .client
            .delete_item()
            .table_name(&self.name)
            .set_key(Some(row_key(key)))
            .return_values(ReturnValue::AllOld)
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        Ok(answer.attributes.is_some_and(|row| !row.is_empty()))
    }
}
