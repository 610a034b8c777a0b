//! A webhook's deliveries by their age.

use async_trait::async_trait;

use super::rows::DeliveryRow;
use super::{BY_TIME, WebhookDeliveryTable, row_key};
use crate::aws::failure::port_error;
use crate::aws::row::{Row, from_row, number, text};
use crate::domain::{WebhookDeliveryStatus, WebhookId};
use crate::ports::{DeliveryPage, DeliveryPageEnd, ListWebhookDeliveries, PortError};

/// Where a query of the index goes on.
pub(super) fn start_after(webhook: WebhookId, end: &DeliveryPageEnd) -> Row {
    let mut key = row_key(webhook, end.id);
    key.insert("createdAt".to_owned(), number(end.created_at.millis()));
    key
}

/// The place of an index's key.
pub(super) fn place(key: &Row) -> Result<DeliveryPageEnd, PortError> {
    let unreadable = || PortError::Broken("a key that cannot be read".to_owned());
    let text = key.get("deliveryId").and_then(|id| id.as_s().ok()).ok_or_else(unreadable)?;
    let time = key.get("createdAt").and_then(|time| time.as_n().ok()?.parse().ok()).ok_or_else(unreadable)?;
    let created_at = crate::domain::Timestamp::from_millis(time);
    Ok(DeliveryPageEnd { created_at, id: text.parse().map_err(|_| unreadable())? })
}

#[async_trait]
impl ListWebhookDeliveries for WebhookDeliveryTable {
    async fn deliveries(
        &self,
        webhook: WebhookId,
        status: Option<WebhookDeliveryStatus>,
        limit: u16,
        after: Option<DeliveryPageEnd>,
    ) -> Result<DeliveryPage, PortError> {
        let mut query = self
            .client
            .query()
            .table_name(&self.name)
            .index_name(BY_TIME)
            .key_condition_expression("webhookId = :webhook")
            .expression_attribute_values(":webhook", text(webhook))
            .scan_index_forward(false)
            .limit(limit.into())
            .set_exclusive_start_key(after.map(|end| start_after(webhook, &end)));
        if let Some(status) = status {
            query = query
                .filter_expression("#status = :status")
                .expression_attribute_names("#status", "status")
                .expression_attribute_values(":status", text(status.name()));
        }
        let answer = query.send().await.map_err(|error| port_error(&error))?;
        let rows = answer.items.unwrap_or_default().into_iter();
        let deliveries =
            rows.map(|row| from_row::<DeliveryRow>(row)?.into_delivery()).collect::<Result<Vec<_>, _>>()?;
        // Of what was read, not of what was left: with a status a page may have none.
        let end = answer.last_evaluated_key.filter(|key| !key.is_empty()).map(|key| place(&key)).transpose()?;
        Ok(DeliveryPage { deliveries, end })
    }
}
