//! A delivery as it stands in the table.

use aws_sdk_dynamodb::types::AttributeValue;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::aws::row::number;
use crate::domain::{
    DeliveryId, Lease, Occasion, OwnerId, ResendId, Timestamp, WEBHOOK_DELIVERY_LIFETIME, WebhookAttempt,
    WebhookDelivery, WebhookDeliveryState, WebhookDeliveryStatus, WebhookEventType, WebhookId, WebhookKey,
};
use crate::ports::{DUE_SHARDS, PortError};

/// When a delivery that ended then is swept away.
pub(super) fn expires(ended_at: Timestamp) -> AttributeValue {
    number((ended_at + WEBHOOK_DELIVERY_LIFETIME).seconds())
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeliveryRow {
    webhook_id: WebhookId,
    /// In the form that sorts.
    delivery_id: String,
    owner: OwnerId,
    event_id: Uuid,
    event_type: WebhookEventType,
    /// Not in the index.
    #[serde(default)]
    body: String,
    status: WebhookDeliveryStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_attempt_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    due: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    due_shard: Option<u8>,
    #[serde(default)]
    due_moves: u32,
    /// Not in the index.
    #[serde(default = "usual")]
    occasion: Occasion,
    #[serde(default)]
    failures: u32,
    #[serde(default)]
    attempts: Vec<WebhookAttempt>,
    #[serde(default)]
    attempt_count: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    lease: Option<Lease>,
    created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<Timestamp>,
    /// In seconds, as DynamoDB's TTL wants it.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resend_id: Option<ResendId>,
}

fn usual() -> Occasion {
    Occasion::Event
}

impl From<&WebhookDelivery> for DeliveryRow {
    fn from(delivery: &WebhookDelivery) -> Self {
        let pending = match delivery.state {
            WebhookDeliveryState::Pending { next_attempt_at, due } => Some((next_attempt_at, due)),
            _ => None,
        };
        let ended_at = delivery.state.ended_at();
        Self {
            webhook_id: delivery.webhook.webhook_id,
            delivery_id: delivery.id.sort_key(),
            owner: delivery.webhook.owner.clone(),
            event_id: delivery.event_id,
            event_type: delivery.event_type,
            body: delivery.body.clone(),
            status: delivery.state.status(),
            next_attempt_at: pending.map(|(next, _)| next),
            due: pending.map(|(_, due)| due),
            due_shard: pending.map(|_| delivery.id.shard(DUE_SHARDS)),
            due_moves: 0,
            occasion: delivery.occasion,
            failures: delivery.failures,
            attempts: delivery.attempts.clone(),
            attempt_count: delivery.attempt_count,
            lease: delivery.lease,
            created_at: delivery.created_at,
            ended_at,
            expires: ended_at.map(|at| (at + WEBHOOK_DELIVERY_LIFETIME).seconds()),
            resend_id: None,
        }
    }
}

impl DeliveryRow {
    pub(super) fn into_delivery(self) -> Result<WebhookDelivery, PortError> {
        let broken = |what: &str| PortError::Broken(format!("a delivery of webhook {} has no {what}", self.webhook_id));
        let id: DeliveryId = self.delivery_id.parse().map_err(|_| broken("readable id"))?;
        let ended = || self.ended_at.ok_or_else(|| broken("end"));
        let state = match self.status {
            WebhookDeliveryStatus::Pending => WebhookDeliveryState::Pending {
                next_attempt_at: self.next_attempt_at.ok_or_else(|| broken("next attempt"))?,
                // It is not in the index of the list, which shows no due times.
                due: self.due.or(self.next_attempt_at).ok_or_else(|| broken("due time"))?,
            },
            WebhookDeliveryStatus::Delivered => WebhookDeliveryState::Delivered { at: ended()? },
            WebhookDeliveryStatus::Failed => WebhookDeliveryState::Failed { at: ended()? },
            WebhookDeliveryStatus::Withdrawn => WebhookDeliveryState::Withdrawn { at: ended()? },
        };
        Ok(WebhookDelivery {
            webhook: WebhookKey { owner: self.owner, webhook_id: self.webhook_id },
            id,
            event_id: self.event_id,
            event_type: self.event_type,
            body: self.body,
            state,
            occasion: self.occasion,
            failures: self.failures,
            attempts: self.attempts,
            attempt_count: self.attempt_count,
            lease: self.lease,
            created_at: self.created_at,
        })
    }
}
