//! Deliveries that are begun anew: one, because a person asks, or all since a time.

use async_trait::async_trait;
use aws_sdk_dynamodb::types::AttributeValue;

use super::listing::{place, start_after};
use super::{BY_TIME, WebhookDeliveryTable};
use crate::aws::failure::port_error;
use crate::aws::row::{attribute, number, text};
use crate::aws::update::send;
use crate::domain::{DeliveryId, Occasion, ResendWhich, ResendWish, Timestamp, WebhookDeliveryStatus, WebhookId};
use crate::ports::{
    DUE_SHARDS, DeliveryPageEnd, PortError, ReopenWebhookDeliveries, RetryWebhookDeliveries, StepTaken,
};

/// How many deliveries a wish is worked off at once.
const RESEND_PAGE: i32 = 50;

/// From its beginning: as if the event had just been heard of, but for its attempts, which stay.
const BEGIN_ANEW: &str = "SET #status = :pending, occasion = :occasion, failures = :none, nextAttemptAt = :now, \
                          due = :due, dueShard = :shard, dueMoves = :none";

fn status(status: WebhookDeliveryStatus) -> AttributeValue {
    text(status.name())
}

#[async_trait]
impl RetryWebhookDeliveries for WebhookDeliveryTable {
    async fn retry(
        &self,
        webhook: WebhookId,
        id: DeliveryId,
        due: Timestamp,
        now: Timestamp,
    ) -> Result<Option<StepTaken>, PortError> {
        let update = self
            .update(webhook, id)
            .update_expression(format!("{BEGIN_ANEW} REMOVE endedAt, expires"))
            // One that a worker has right now is being tried already.
            .condition_expression(
                "attribute_exists(deliveryId) AND (attribute_not_exists(lease) OR lease.#until <= :now)",
            )
            .expression_attribute_names("#status", "status")
            .expression_attribute_names("#until", "until")
            .expression_attribute_values(":pending", status(WebhookDeliveryStatus::Pending))
            .expression_attribute_values(":occasion", attribute(Occasion::Request)?)
            .expression_attribute_values(":none", number(0))
            .expression_attribute_values(":now", number(now.millis()))
            .expression_attribute_values(":due", number(due.millis()))
            .expression_attribute_values(":shard", number(id.shard(DUE_SHARDS)));
        Ok(match send(update).await? {
            Ok(_) => Some(StepTaken::Moved),
            Err(row) if row.is_empty() => None,
            Err(_) => Some(StepTaken::OvertakenByAnother),
        })
    }
}

#[async_trait]
impl ReopenWebhookDeliveries for WebhookDeliveryTable {
    async fn to_resend(&self, wish: &ResendWish) -> Result<(Vec<DeliveryPageEnd>, bool), PortError> {
        let webhook = wish.webhook.webhook_id;
        let after = wish.after.map(|(created_at, id)| DeliveryPageEnd { created_at, id });
        let answer = self
            .client
            .query()
            .table_name(&self.name)
            .index_name(BY_TIME)
            .key_condition_expression("webhookId = :webhook AND createdAt BETWEEN :since AND :until")
            .expression_attribute_values(":webhook", text(webhook))
            .expression_attribute_values(":since", number(wish.since.millis()))
            .expression_attribute_values(":until", number(wish.until.millis()))
            .limit(RESEND_PAGE)
            .set_exclusive_start_key(after.map(|end| start_after(webhook, &end)))
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        let more = answer.last_evaluated_key.is_some_and(|key| !key.is_empty());
        let places = answer.items.unwrap_or_default().iter().map(place).collect::<Result<_, _>>()?;
        Ok((places, more))
    }

    async fn reopen(
        &self,
        wish: &ResendWish,
        id: DeliveryId,
        due: Timestamp,
        now: Timestamp,
    ) -> Result<StepTaken, PortError> {
        let condition = "(attribute_not_exists(resendId) OR resendId <> :wish) AND #status IN (:failed, :withdrawn";
        let mut update = self
            .update(wish.webhook.webhook_id, id)
            .update_expression(format!("{BEGIN_ANEW}, resendId = :wish REMOVE endedAt, expires"))
            .expression_attribute_names("#status", "status")
            .expression_attribute_values(":wish", attribute(wish.resend_id)?)
            .expression_attribute_values(":failed", status(WebhookDeliveryStatus::Failed))
            .expression_attribute_values(":withdrawn", status(WebhookDeliveryStatus::Withdrawn))
            .expression_attribute_values(":pending", status(WebhookDeliveryStatus::Pending))
            .expression_attribute_values(":occasion", attribute(Occasion::Event)?)
            .expression_attribute_values(":none", number(0))
            .expression_attribute_values(":now", number(now.millis()))
            .expression_attribute_values(":due", number(due.millis()))
            .expression_attribute_values(":shard", number(id.shard(DUE_SHARDS)));
        update = match wish.which {
            ResendWhich::Undelivered => update.condition_expression(format!("{condition})")),
            ResendWhich::All => update
                .condition_expression(format!("{condition}, :delivered)"))
                .expression_attribute_values(":delivered", status(WebhookDeliveryStatus::Delivered)),
        };
        Ok(match send(update).await? {
            Ok(_) => StepTaken::Moved,
            // Our own write, whose answer was lost, or the wish's message, which came twice: its ticket may be lost.
            Err(row)
                if row.get("resendId") == Some(&attribute(wish.resend_id)?)
                    && row.get("status") == Some(&status(WebhookDeliveryStatus::Pending)) =>
            {
                StepTaken::Moved
            }
            Err(_) => StepTaken::OvertakenByAnother,
        })
    }
}
