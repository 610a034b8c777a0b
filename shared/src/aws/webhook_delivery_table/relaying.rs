//! Deliveries that are due, by the sparse index that has pending ones only.

use async_trait::async_trait;
use serde::Deserialize;

use super::{BY_DUE, WebhookDeliveryTable, row_key};
use crate::aws::failure::port_error;
use crate::aws::row::{from_row, number};
use crate::aws::update::send;
use crate::domain::{OwnerId, Timestamp, WebhookId, WebhookKey, WebhookTicket};
use crate::ports::{DueDelivery, DueDeliveryPage, PortError, RelayWebhookDeliveries, StepTaken};

/// How many due deliveries one read of the index brings.
const DUE_PAGE: i32 = 100;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DueRow {
    owner: OwnerId,
    webhook_id: WebhookId,
    delivery_id: String,
    due: Timestamp,
    #[serde(default)]
    due_moves: u32,
}

impl DueRow {
    fn into_due(self) -> Result<DueDelivery, PortError> {
        let Self { owner, webhook_id, delivery_id, due, due_moves: moves } = self;
        let delivery_id =
            delivery_id.parse().map_err(|_| PortError::Broken("a delivery has no readable id".to_owned()))?;
        Ok(DueDelivery { ticket: WebhookTicket { webhook: WebhookKey { owner, webhook_id }, delivery_id }, due, moves })
    }
}

#[async_trait]
impl RelayWebhookDeliveries for WebhookDeliveryTable {
    async fn due_page(
        &self,
        shard: u8,
        now: Timestamp,
        after: Option<&DueDelivery>,
    ) -> Result<DueDeliveryPage, PortError> {
        let start = after.map(|last| {
            let mut key = row_key(last.ticket.webhook.webhook_id, last.ticket.delivery_id);
            key.insert("dueShard".to_owned(), number(shard));
            key.insert("due".to_owned(), number(last.due.millis()));
            key
        });
        let answer = self
            .client
            .query()
            .table_name(&self.name)
            .index_name(BY_DUE)
            .key_condition_expression("dueShard = :shard AND due <= :now")
            .expression_attribute_values(":shard", number(shard))
            .expression_attribute_values(":now", number(now.millis()))
            .limit(DUE_PAGE)
            .set_exclusive_start_key(start)
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        let more = answer.last_evaluated_key.is_some_and(|key| !key.is_empty());
        let rows = answer.items.unwrap_or_default().into_iter();
        let deliveries = rows.map(|row| from_row::<DueRow>(row)?.into_due()).collect::<Result<Vec<_>, PortError>>()?;
        Ok(DueDeliveryPage { deliveries, more })
    }

    async fn move_due(&self, delivery: &DueDelivery, to: Timestamp, moves: u32) -> Result<StepTaken, PortError> {
        let update = self
            .update(delivery.ticket.webhook.webhook_id, delivery.ticket.delivery_id)
            .update_expression("SET due = :to, dueMoves = :moves")
            .condition_expression("due = :from")
            .expression_attribute_values(":from", number(delivery.due.millis()))
            .expression_attribute_values(":to", number(to.millis()))
            .expression_attribute_values(":moves", number(moves));
        Ok(match send(update).await? {
            Ok(_) => StepTaken::Moved,
            // Our own write, whose answer was lost and which the SDK tried again.
            Err(row) if row.get("due") == Some(&number(to.millis())) => StepTaken::Moved,
            Err(_) => StepTaken::OvertakenByAnother,
        })
    }
}
