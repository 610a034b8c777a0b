//! Addresses that get no mail any more, in DynamoDB.

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::types::ReturnValue;
use serde::{Deserialize, Serialize};

use super::failure::port_error;
use super::row::{from_row, text, to_row};
use crate::domain::{AddressHash, EmailAddress, InvoiceId, Suppression, SuppressionCause, Timestamp};
use crate::ports::{AddSuppression, PortError, ReadSuppressions, RemoveSuppression};

/// The table of suppressions. Its key is the address's hash; the address itself stands in the row, for people.
#[derive(Clone, Debug)]
pub struct SuppressionTable {
    client: Client,
    name: String,
}

impl SuppressionTable {
    /// The table of this name.
    #[must_use]
    pub fn new(client: Client, name: String) -> Self {
        Self { client, name }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SuppressionRow {
    address_hash: String,
    email: EmailAddress,
    cause: SuppressionCause,
    reason: String,
    at: Timestamp,
    invoice_id: InvoiceId,
}

impl From<&Suppression> for SuppressionRow {
    fn from(suppression: &Suppression) -> Self {
        Self {
            address_hash: AddressHash::of(&suppression.email).to_string(),
            email: suppression.email.clone(),
            cause: suppression.cause,
            reason: suppression.reason.clone(),
            at: suppression.at,
            invoice_id: suppression.invoice,
        }
    }
}

impl From<SuppressionRow> for Suppression {
    fn from(row: SuppressionRow) -> Self {
        Self { email: row.email, cause: row.cause, reason: row.reason, at: row.at, invoice: row.invoice_id }
    }
}

#[async_trait]
impl ReadSuppressions for SuppressionTable {
    async fn suppression(&self, email: &EmailAddress) -> Result<Option<Suppression>, PortError> {
        let answer = self
            .client
            .get_item()
            .table_name(&self.name)
            .key("addressHash", text(AddressHash::of(email)))
            .consistent_read(true)
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        answer.item.map(|row| Ok(from_row::<SuppressionRow>(row)?.into())).transpose()
    }
}

#[async_trait]
impl AddSuppression for SuppressionTable {
    async fn add(&self, suppression: &Suppression) -> Result<(), PortError> {
        let result = self
            .client
            .put_item()
            .table_name(&self.name)
            .set_item(Some(to_row(SuppressionRow::from(suppression))?))
            .condition_expression("attribute_not_exists(addressHash)")
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
impl RemoveSuppression for SuppressionTable {
    async fn remove(&self, email: &EmailAddress) -> Result<bool, PortError> {
        let answer = self
            .client
            .delete_item()
            .table_name(&self.name)
            .key("addressHash", text(AddressHash::of(email)))
            .return_values(ReturnValue::AllOld)
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        Ok(answer.attributes.is_some_and(|row| !row.is_empty()))
    }
}
