//! Deliveries in DynamoDB, those of a webhook side by side and those of a subject in their order, with the outbox in them: a
//! pending delivery has a `due` time in a sparse index.

mod listing;
mod relaying;
mod reopening;
mod rows;
mod working;

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::update_item::builders::UpdateItemFluentBuilder;
use aws_sdk_dynamodb::types::ReturnValuesOnConditionCheckFailure;

use super::failure::port_error;
use super::row::{Row, from_row, text, to_row};
use crate::domain::{DeliveryId, WebhookDelivery, WebhookDeliveryStatus, WebhookId};
use crate::ports::{PortError, ReadWebhookDeliveries, RecordWebhookDeliveries};
use rows::DeliveryRow;

const BY_TIME: &str = "by-time";
const BY_DUE: &str = "by-due";

/// The table of deliveries.
#[derive(Clone, Debug)]
pub struct WebhookDeliveryTable {
    client: Client,
    name: String,
}

impl WebhookDeliveryTable {
    /// The table of this name.
    #[must_use]
    pub fn new(client: Client, name: String) -> Self {
        Self { client, name }
    }

    fn update(&self, webhook: WebhookId, id: DeliveryId) -> UpdateItemFluentBuilder {
        self.client
            .update_item()
            .table_name(&self.name)
            .set_key(Some(row_key(webhook, id)))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
    }
}

fn row_key(webhook: WebhookId, id: DeliveryId) -> Row {
    [("webhookId".to_owned(), text(webhook)), ("deliveryId".to_owned(), text(id.sort_key()))].into()
}

#[async_trait]
impl ReadWebhookDeliveries for WebhookDeliveryTable {
    async fn delivery(&self, webhook: WebhookId, id: DeliveryId) -> Result<Option<WebhookDelivery>, PortError> {
        let answer = self
            .client
            .get_item()
            .table_name(&self.name)
            .set_key(Some(row_key(webhook, id)))
            .consistent_read(true)
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        answer.item.map(|row| from_row::<DeliveryRow>(row)?.into_delivery()).transpose()
    }
}

#[async_trait]
impl RecordWebhookDeliveries for WebhookDeliveryTable {
    async fn record(&self, delivery: &WebhookDelivery) -> Result<WebhookDeliveryStatus, PortError> {
        let result = self
            .client
            .put_item()
            .table_name(&self.name)
            .set_item(Some(to_row(DeliveryRow::from(delivery))?))
            .condition_expression("attribute_not_exists(deliveryId)")
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
            .await;
        let Err(error) = result else { return Ok(delivery.state.status()) };
        match error.as_service_error() {
            Some(PutItemError::ConditionalCheckFailedException(failed)) => {
                let row: DeliveryRow = from_row(failed.item().cloned().unwrap_or_default())?;
                Ok(row.into_delivery()?.state.status())
            }
            _ => Err(port_error(&error)),
        }
    }
}
