//! Deliveries under a worker's lease.

use std::time::Duration;

use async_trait::async_trait;

use super::WebhookDeliveryTable;
use super::rows::{DeliveryRow, expires};
use crate::aws::failure::port_error;
use crate::aws::row::{attribute, from_row, number, text};
use crate::aws::update::send;
use crate::domain::{
    DeliveryId, Lease, LeaseHolder, Occasion, Timestamp, WebhookAttempt, WebhookDelivery, WebhookDeliveryState,
    WebhookDeliveryStatus, WebhookId,
};
use crate::ports::{DeliveryOutcome, Held, PortError, StepTaken, WorkOnWebhookDeliveries};

/// So long after the end of a lease its delivery is due: then whoever held it is dead.
const AFTER_LEASE: Duration = Duration::from_secs(1);

const PENDING_AND_FREE: &str = "#status = :pending AND (attribute_not_exists(lease) OR lease.#until <= :now)";

/// On which side of a delivery its neighbour stands.
#[derive(Clone, Copy)]
enum Side {
    Earlier,
    Later,
}

impl WebhookDeliveryTable {
    async fn neighbour(
        &self,
        webhook: WebhookId,
        id: DeliveryId,
        side: Side,
    ) -> Result<Option<(DeliveryId, WebhookDeliveryState)>, PortError> {
        let (from, to) = match side {
            Side::Earlier => (0, id.sequence.saturating_sub(1)),
            Side::Later => (id.sequence.saturating_add(1), u64::MAX),
        };
        let key = |sequence| text(DeliveryId { sequence, ..id }.sort_key());
        let answer = self
            .client
            .query()
            .table_name(&self.name)
            .key_condition_expression("webhookId = :webhook AND deliveryId BETWEEN :from AND :to")
            .expression_attribute_values(":webhook", text(webhook))
            .expression_attribute_values(":from", key(from))
            .expression_attribute_values(":to", key(to))
            .scan_index_forward(matches!(side, Side::Later))
            .limit(1)
            .consistent_read(true)
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        let row = answer.items.unwrap_or_default().into_iter().next();
        row.map(|row| {
            let neighbour = from_row::<DeliveryRow>(row)?.into_delivery()?;
            Ok((neighbour.id, neighbour.state))
        })
        .transpose()
    }
}

#[async_trait]
impl WorkOnWebhookDeliveries for WebhookDeliveryTable {
    async fn earlier(
        &self,
        webhook: WebhookId,
        id: DeliveryId,
    ) -> Result<Option<(DeliveryId, WebhookDeliveryState)>, PortError> {
        self.neighbour(webhook, id, Side::Earlier).await
    }

    async fn later(
        &self,
        webhook: WebhookId,
        id: DeliveryId,
    ) -> Result<Option<(DeliveryId, WebhookDeliveryState)>, PortError> {
        self.neighbour(webhook, id, Side::Later).await
    }

    async fn claim(&self, delivery: &WebhookDelivery, lease: Lease, now: Timestamp) -> Result<Held, PortError> {
        let WebhookDeliveryState::Pending { next_attempt_at, .. } = delivery.state else { return Ok(Held::Lost) };
        let update = self
            .update(delivery.webhook.webhook_id, delivery.id)
            .update_expression("SET lease = :lease, due = :due, dueMoves = :none")
            // Somebody may have tried it since it was read, and put its next attempt off.
            .condition_expression(format!("{PENDING_AND_FREE} AND nextAttemptAt = :seen"))
            .expression_attribute_names("#status", "status")
            .expression_attribute_names("#until", "until")
            .expression_attribute_values(":seen", number(next_attempt_at.millis()))
            .expression_attribute_values(":pending", text(WebhookDeliveryStatus::Pending.name()))
            .expression_attribute_values(":lease", attribute(lease)?)
            .expression_attribute_values(":due", number((lease.until + AFTER_LEASE).millis()))
            .expression_attribute_values(":none", number(0))
            .expression_attribute_values(":now", number(now.millis()));
        Ok(match send(update).await? {
            Ok(_) => Held::Yes,
            // Our own claim, whose answer was lost and which the SDK tried again.
            Err(row) if row.get("lease") == Some(&attribute(lease)?) => Held::Yes,
            Err(_) => Held::Lost,
        })
    }

    async fn let_go(
        &self,
        delivery: &WebhookDelivery,
        holder: LeaseHolder,
        outcome: DeliveryOutcome,
        attempt: WebhookAttempt,
        now: Timestamp,
    ) -> Result<Held, PortError> {
        let count = delivery.attempt_count + 1;
        let common = "attempts = :attempts, attemptCount = :count, occasion = :occasion, failures = :failures";
        let failures = match outcome {
            DeliveryOutcome::Delivered => delivery.failures,
            DeliveryOutcome::Retried { .. } | DeliveryOutcome::Failed => delivery.failures + 1,
        };
        let update = self
            .update(delivery.webhook.webhook_id, delivery.id)
            .condition_expression("lease.holder = :holder")
            .expression_attribute_values(":holder", attribute(holder)?)
            .expression_attribute_values(":attempts", attribute(delivery.attempts_with(attempt))?)
            .expression_attribute_values(":count", number(count))
            .expression_attribute_values(":occasion", attribute(Occasion::Event)?)
            .expression_attribute_values(":failures", number(failures));
        let ended = |status: WebhookDeliveryStatus| {
            let expression = format!(
                "SET #status = :status, endedAt = :now, expires = :expires, {common} \
                 REMOVE lease, due, dueShard, nextAttemptAt"
            );
            update
                .clone()
                .update_expression(expression)
                .expression_attribute_names("#status", "status")
                .expression_attribute_values(":status", text(status.name()))
                .expression_attribute_values(":now", number(now.millis()))
                .expression_attribute_values(":expires", expires(now))
        };
        let update = match outcome {
            DeliveryOutcome::Delivered => ended(WebhookDeliveryStatus::Delivered),
            DeliveryOutcome::Failed => ended(WebhookDeliveryStatus::Failed),
            DeliveryOutcome::Retried { next_attempt_at, due } => update
                .update_expression(format!("SET nextAttemptAt = :next, due = :due, {common} REMOVE lease"))
                .expression_attribute_values(":next", number(next_attempt_at.millis()))
                .expression_attribute_values(":due", number(due.millis())),
        };
        Ok(match send(update).await? {
            Ok(_) => Held::Yes,
            // Our own write, whose answer was lost and which the SDK tried again, took the lease away already.
            Err(row) if !row.contains_key("lease") && row.get("attemptCount") == Some(&number(count)) => Held::Yes,
            Err(_) => Held::Lost,
        })
    }

    async fn withdraw(&self, delivery: &WebhookDelivery, now: Timestamp) -> Result<StepTaken, PortError> {
        let update = self
            .update(delivery.webhook.webhook_id, delivery.id)
            .update_expression(
                "SET #status = :withdrawn, endedAt = :now, expires = :expires REMOVE lease, due, dueShard, nextAttemptAt",
            )
            .condition_expression(PENDING_AND_FREE)
            .expression_attribute_names("#status", "status")
            .expression_attribute_names("#until", "until")
            .expression_attribute_values(":pending", text(WebhookDeliveryStatus::Pending.name()))
            .expression_attribute_values(":withdrawn", text(WebhookDeliveryStatus::Withdrawn.name()))
            .expression_attribute_values(":now", number(now.millis()))
            .expression_attribute_values(":expires", expires(now));
        Ok(if send(update).await?.is_ok() { StepTaken::Moved } else { StepTaken::OvertakenByAnother })
    }

    async fn put_off(
        &self,
        delivery: &WebhookDelivery,
        next_attempt_at: Option<Timestamp>,
        due: Timestamp,
    ) -> Result<StepTaken, PortError> {
        let WebhookDeliveryState::Pending { due: seen, .. } = delivery.state else {
            return Ok(StepTaken::OvertakenByAnother);
        };
        let mut update = self
            .update(delivery.webhook.webhook_id, delivery.id)
            .condition_expression("due = :seen")
            .expression_attribute_values(":seen", number(seen.millis()))
            .expression_attribute_values(":due", number(due.millis()));
        update = match next_attempt_at {
            None => update.update_expression("SET due = :due"),
            Some(next) => update
                .update_expression("SET due = :due, nextAttemptAt = :next")
                .expression_attribute_values(":next", number(next.millis())),
        };
        Ok(if send(update).await?.is_ok() { StepTaken::Moved } else { StepTaken::OvertakenByAnother })
    }

    async fn hurry(&self, webhook: WebhookId, id: DeliveryId, due: Timestamp) -> Result<(), PortError> {
        let update = self
            .update(webhook, id)
            .update_expression("SET due = :due")
            .condition_expression("due > :due")
            .expression_attribute_values(":due", number(due.millis()));
        send(update).await.map(|_| ())
    }
}
