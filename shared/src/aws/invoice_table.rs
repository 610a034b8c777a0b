//! Invoices in DynamoDB, with the outbox in them: an unfinished invoice has a `due` time in a sparse index.

mod backlog;
mod delivery;
mod failed;
mod reopening;
mod story;

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::update_item::builders::UpdateItemFluentBuilder;
use aws_sdk_dynamodb::types::{KeysAndAttributes, ReturnValue, ReturnValuesOnConditionCheckFailure};
use serde::{Deserialize, Serialize};

use super::batch_read::batch_read;
use super::failure::port_error;
use super::row::{Row, attribute, from_row, number, text, to_row};
use super::update::send;
use crate::domain::{
    AddressCorrection, Attempt, Delivery, DeliveryReport, Invoice, InvoiceContent, InvoiceId, InvoiceState,
    InvoiceStatus, LastTicket, Lease, LeaseHolder, LetterId, LinkSecret, Mailing, OwnerId, ProviderMessageId,
    RequestId, StoredPdf, Timestamp,
};
use crate::ports::{
    Claim, CreateInvoices, DUE_SHARDS, DueInvoice, DueMove, DuePage, Held, InvoiceCreation, InvoiceSummary, LetGo,
    NewInvoice, PortError, ReadInvoices, RelayInvoices, WorkOnInvoices,
};

pub(super) use story::InvoiceStoryRow;

const BY_DUE: &str = "by-due";

/// How many due invoices one read of the index brings.
const DUE_PAGE: i32 = 100;

/// The table of invoices.
#[derive(Clone, Debug)]
pub struct InvoiceTable {
    client: Client,
    name: String,
}

impl InvoiceTable {
    /// The table of this name.
    #[must_use]
    pub fn new(client: Client, name: String) -> Self {
        Self { client, name }
    }

    /// Opens a connection, so that the first request need not wait for it. Failure is left for that request to meet.
    pub async fn warm_up(&self) {
        let nobody = InvoiceId(uuid::Uuid::nil());
        if let Err(error) = self.client.get_item().table_name(&self.name).key("invoiceId", text(nobody)).send().await {
            tracing::warn!(error = %port_error(&error), "the invoice table did not answer at start");
        }
    }

    fn update(&self, id: InvoiceId) -> UpdateItemFluentBuilder {
        self.client
            .update_item()
            .table_name(&self.name)
            .key("invoiceId", text(id))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
    }
}

/// Raises the row's count of events, in the very write that they follow from: so each has its number, and none is lost.
/// What is an event of an invoice, [`crate::domain::InvoiceStory`] says. Rows from before there were any have no count.
const COUNT_EVENTS: &str = "eventCount = if_not_exists(eventCount, :noEvents) + :events";

/// Says by how much [`COUNT_EVENTS`] raises the count.
fn counting(update: UpdateItemFluentBuilder, events: i64) -> UpdateItemFluentBuilder {
    update.expression_attribute_values(":noEvents", number(0)).expression_attribute_values(":events", number(events))
}

/// An invoice as it stands in the table.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct InvoiceRow {
    #[serde(flatten)]
    content: InvoiceContent,
    status: InvoiceStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    due: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    due_shard: Option<u8>,
    #[serde(default)]
    due_moves: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    lease: Option<Lease>,
    #[serde(default)]
    parks: u32,
    #[serde(default)]
    abandoned: u32,
    #[serde(default)]
    attempts: Vec<Attempt>,
    #[serde(default)]
    attempt_count: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pdf: Option<StoredPdf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sent_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_message_id: Option<ProviderMessageId>,
    link_secret: LinkSecret,
    #[serde(skip_serializing_if = "Option::is_none")]
    link_expires: Option<Timestamp>,
    #[serde(default)]
    corrections: Vec<AddressCorrection>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delivery: Option<Delivery>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delivery_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delivery_at: Option<Timestamp>,
    #[serde(default)]
    retired_messages: Vec<ProviderMessageId>,
    #[serde(default)]
    handled_letters: Vec<LetterId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    correlation_id: Option<RequestId>,
    #[serde(default)]
    event_count: u64,
    updated_at: Timestamp,
}

impl InvoiceRow {
    fn into_invoice(self) -> Result<Invoice, PortError> {
        let missing = |what| PortError::Broken(format!("invoice {} has no {what}", self.content.id));
        let state = match self.status {
            InvoiceStatus::Pending => InvoiceState::Pending,
            InvoiceStatus::Generated => InvoiceState::Generated { pdf: self.pdf.ok_or_else(|| missing("PDF"))? },
            InvoiceStatus::Sent => InvoiceState::Sent {
                pdf: self.pdf.ok_or_else(|| missing("PDF"))?,
                at: self.sent_at.ok_or_else(|| missing("time of sending"))?,
            },
            InvoiceStatus::Failed => {
                InvoiceState::Failed { reason: self.reason.ok_or_else(|| missing("reason"))?, pdf: self.pdf }
            }
        };
        let updated_at = self.updated_at;
        let report = self.delivery.map(|delivery| DeliveryReport {
            delivery,
            reason: self.delivery_reason,
            at: self.delivery_at.unwrap_or(updated_at),
        });
        let mailing = Mailing {
            corrections: self.corrections,
            message_id: self.provider_message_id,
            report,
            retired: self.retired_messages,
            handled_letters: self.handled_letters,
        };
        Ok(Invoice {
            content: self.content,
            state,
            mailing,
            due: self.due,
            parks: self.parks,
            abandoned: self.abandoned,
            attempts: self.attempts,
            attempt_count: self.attempt_count,
            link_secret: self.link_secret,
            link_expires: self.link_expires,
            updated_at,
        })
    }
}

/// Ids are derived by hashing, so their last byte spreads evenly.
fn due_shard(id: InvoiceId) -> u8 {
    id.0.as_bytes()[15] % DUE_SHARDS
}

#[async_trait]
impl CreateInvoices for InvoiceTable {
    async fn create(&self, invoice: &NewInvoice) -> Result<InvoiceCreation, PortError> {
        let row = to_row(InvoiceRow {
            status: InvoiceStatus::Pending,
            due: Some(invoice.due),
            due_shard: Some(due_shard(invoice.content.id)),
            due_moves: 0,
            lease: None,
            parks: 0,
            abandoned: 0,
            attempts: vec![],
            attempt_count: 0,
            pdf: None,
            reason: None,
            failed_at: None,
            sent_at: None,
            provider_message_id: None,
            link_secret: invoice.link_secret,
            link_expires: None,
            corrections: vec![],
            delivery: None,
            delivery_reason: None,
            delivery_at: None,
            retired_messages: vec![],
            handled_letters: vec![],
            correlation_id: Some(invoice.correlation_id.clone()),
            event_count: 1,
            updated_at: invoice.content.created_at,
            content: invoice.content.clone(),
        })?;
        let result = self
            .client
            .put_item()
            .table_name(&self.name)
            .set_item(Some(row))
            .condition_expression("attribute_not_exists(invoiceId)")
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
            .await;
        let Err(error) = result else { return Ok(InvoiceCreation::Created) };
        let existing = match &error {
            SdkError::ServiceError(service) => match service.err() {
                PutItemError::ConditionalCheckFailedException(failed) => failed.item().cloned().unwrap_or_default(),
                _ => return Err(port_error(&error)),
            },
            _ => return Err(port_error(&error)),
        };
        let existing: InvoiceRow = from_row(existing)?;
        // Our own write, whose answer was lost and which the SDK tried again.
        if existing.link_secret == invoice.link_secret {
            return Ok(InvoiceCreation::Created);
        }
        Ok(InvoiceCreation::Exists(Box::new(existing.into_invoice()?)))
    }
}

#[async_trait]
impl ReadInvoices for InvoiceTable {
    async fn invoice(&self, id: InvoiceId) -> Result<Option<Invoice>, PortError> {
        let answer = self
            .client
            .get_item()
            .table_name(&self.name)
            .key("invoiceId", text(id))
            .consistent_read(true)
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        answer.item.map(|row| from_row::<InvoiceRow>(row)?.into_invoice()).transpose()
    }

    async fn summaries(&self, ids: &[InvoiceId]) -> Result<Vec<InvoiceSummary>, PortError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let wanted = [(self.name.clone(), summaries_wanted(ids)?)].into();
        let rows = batch_read(&self.client, wanted).await?;
        rows.into_values().flatten().map(summary).collect()
    }
}

/// The part of these invoices that a list shows, for a batch read.
pub(super) fn summaries_wanted(ids: &[InvoiceId]) -> Result<KeysAndAttributes, PortError> {
    let keys = ids.iter().map(|id| [("invoiceId".to_owned(), text(id))].into()).collect();
    KeysAndAttributes::builder()
        .set_keys(Some(keys))
        .projection_expression("invoiceId, #status, reason")
        .expression_attribute_names("#status", "status")
        .build()
        .map_err(|error| PortError::Broken(error.to_string()))
}

/// What a row of [`summaries_wanted`] says.
pub(super) fn summary(row: Row) -> Result<InvoiceSummary, PortError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct SummaryRow {
        invoice_id: InvoiceId,
        status: InvoiceStatus,
        reason: Option<String>,
    }

    let SummaryRow { invoice_id, status, reason } = from_row(row)?;
    Ok(InvoiceSummary { id: invoice_id, status, reason })
}

#[async_trait]
impl WorkOnInvoices for InvoiceTable {
    async fn claim(&self, id: InvoiceId, lease: Lease, now: Timestamp) -> Result<Claim, PortError> {
        let update = self
            .update(id)
            // Counted up here and set back by whoever lets go properly: what remains is the number of dead holders. A
            // ticket has come through, so the next one that gets lost is waited for as briefly as the first.
            .update_expression(
                "SET lease = :lease, updatedAt = :now, dueMoves = :none, \
                 abandoned = if_not_exists(abandoned, :none) + :one",
            )
            .condition_expression(
                "#status IN (:pending, :generated) AND (attribute_not_exists(lease) OR lease.#until <= :now)",
            )
            .expression_attribute_names("#status", "status")
            .expression_attribute_names("#until", "until")
            .expression_attribute_values(":lease", attribute(lease)?)
            .expression_attribute_values(":none", number(0))
            .expression_attribute_values(":one", number(1))
            .expression_attribute_values(":now", number(now.millis()))
            .expression_attribute_values(":pending", attribute(InvoiceStatus::Pending)?)
            .expression_attribute_values(":generated", attribute(InvoiceStatus::Generated)?)
            .return_values(ReturnValue::AllOld);
        match send(update).await? {
            Ok(before) => {
                let row: InvoiceRow = from_row(before.unwrap_or_default())?;
                Ok(Claim::Granted(Box::new(row.into_invoice()?)))
            }
            Err(row) if row.is_empty() => Ok(Claim::Unknown),
            Err(row) => {
                let row: InvoiceRow = from_row(row)?;
                match (row.status, row.lease) {
                    (InvoiceStatus::Sent | InvoiceStatus::Failed, _) => Ok(Claim::Finished(row.status)),
                    // Our own claim, whose answer was lost and which the SDK tried again.
                    (_, Some(theirs)) if theirs.holder == lease.holder => {
                        let mut invoice = row.into_invoice()?;
                        invoice.abandoned = invoice.abandoned.saturating_sub(1);
                        Ok(Claim::Granted(Box::new(invoice)))
                    }
                    _ => Ok(Claim::HeldByAnother),
                }
            }
        }
    }

    async fn generated(
        &self,
        id: InvoiceId,
        holder: LeaseHolder,
        pdf: &StoredPdf,
        now: Timestamp,
    ) -> Result<Held, PortError> {
        let update = self
            .update(id)
            .update_expression("SET #status = :generated, pdf = :pdf, updatedAt = :now")
            .condition_expression("lease.holder = :holder")
            .expression_attribute_names("#status", "status")
            .expression_attribute_values(":generated", attribute(InvoiceStatus::Generated)?)
            .expression_attribute_values(":pdf", attribute(pdf)?)
            .expression_attribute_values(":now", number(now.millis()))
            .expression_attribute_values(":holder", attribute(holder)?);
        Ok(held(&send(update).await?))
    }

    async fn about_to_send(
        &self,
        id: InvoiceId,
        holder: LeaseHolder,
        until: Timestamp,
        link_expires: Timestamp,
    ) -> Result<Held, PortError> {
        let update = self
            .update(id)
            .update_expression("SET linkExpires = :expires")
            .condition_expression("lease.holder = :holder AND lease.#until > :until")
            .expression_attribute_names("#until", "until")
            .expression_attribute_values(":until", number(until.millis()))
            .expression_attribute_values(":expires", number(link_expires.millis()))
            .expression_attribute_values(":holder", attribute(holder)?);
        Ok(held(&send(update).await?))
    }

    async fn let_go(
        &self,
        invoice: &Invoice,
        holder: LeaseHolder,
        how: &LetGo,
        attempt: Attempt,
    ) -> Result<Held, PortError> {
        let common = "attempts = :attempts, attemptCount = :count, abandoned = :none, updatedAt = :now";
        let now = number(attempt.at.millis());
        let update = self
            .update(invoice.content.id)
            .condition_expression("lease.holder = :holder")
            .expression_attribute_values(":holder", attribute(holder)?)
            .expression_attribute_values(":attempts", attribute(invoice.attempts_with(attempt))?)
            .expression_attribute_values(":count", number(invoice.attempt_count + 1))
            .expression_attribute_values(":none", number(0))
            .expression_attribute_values(":now", now);
        let update = match how {
            LetGo::Sent { message_id } => counting(update, 1)
                .update_expression(format!(
                    "SET #status = :status, sentAt = :now, providerMessageId = :message, {COUNT_EVENTS}, {common} \
                     REMOVE lease, due, dueShard"
                ))
                .expression_attribute_names("#status", "status")
                .expression_attribute_values(":status", attribute(InvoiceStatus::Sent)?)
                .expression_attribute_values(":message", attribute(message_id)?),
            LetGo::Retried => update.update_expression(format!("SET {common} REMOVE lease")),
            LetGo::Parked { due } => update
                .update_expression(format!("SET due = :due, parks = :parks, {common} REMOVE lease"))
                .expression_attribute_values(":due", number(due.millis()))
                .expression_attribute_values(":parks", number(invoice.parks + 1)),
            LetGo::Failed { reason } => counting(update, 1)
                .update_expression(format!(
                    "SET #status = :status, reason = :reason, failedAt = :now, {COUNT_EVENTS}, {common} \
                     REMOVE lease, due, dueShard"
                ))
                .expression_attribute_names("#status", "status")
                .expression_attribute_values(":status", attribute(InvoiceStatus::Failed)?)
                .expression_attribute_values(":reason", text(reason)),
        };
        match send(update).await? {
            Ok(_) => Ok(Held::Yes),
            // Our own write, whose answer was lost and which the SDK tried again, took the lease away already.
            Err(row) => Ok(if let_go_already(row, how)? { Held::Yes } else { Held::Lost }),
        }
    }
}

fn held(sent: &Result<Option<Row>, Row>) -> Held {
    if sent.is_ok() { Held::Yes } else { Held::Lost }
}

fn let_go_already(row: Row, how: &LetGo) -> Result<bool, PortError> {
    if row.is_empty() {
        return Ok(false);
    }
    let row: InvoiceRow = from_row(row)?;
    Ok(row.lease.is_none()
        && match how {
            LetGo::Sent { message_id } => row.provider_message_id.as_ref() == Some(message_id),
            LetGo::Retried => true,
            LetGo::Parked { due } => row.due == Some(*due),
            LetGo::Failed { .. } => row.status == InvoiceStatus::Failed,
        })
}

#[async_trait]
impl RelayInvoices for InvoiceTable {
    async fn due_page(&self, shard: u8, now: Timestamp, after: Option<DueInvoice>) -> Result<DuePage, PortError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct DueRow {
            invoice_id: InvoiceId,
            due: Timestamp,
            #[serde(default)]
            due_moves: u32,
        }

        let start = after.map(|last| {
            [
                ("dueShard".to_owned(), number(shard)),
                ("due".to_owned(), number(last.due.millis())),
                ("invoiceId".to_owned(), text(last.id)),
            ]
            .into()
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
        let invoices = answer
            .items
            .unwrap_or_default()
            .into_iter()
            .map(|row| {
                let row: DueRow = from_row(row)?;
                Ok(DueInvoice { id: row.invoice_id, due: row.due, moves: row.due_moves })
            })
            .collect::<Result<Vec<_>, PortError>>()?;
        Ok(DuePage { invoices, more })
    }

    async fn move_due(&self, invoice: DueInvoice, to: Timestamp, moves: u32) -> Result<DueMove, PortError> {
        #[derive(Deserialize)]
        struct MovedRow {
            owner: OwnerId,
            #[serde(default)]
            parks: u32,
        }

        let update = self
            .update(invoice.id)
            .update_expression("SET due = :to, dueMoves = :moves")
            .condition_expression("due = :from")
            .return_values(ReturnValue::AllOld)
            .expression_attribute_values(":from", number(invoice.due.millis()))
            .expression_attribute_values(":to", number(to.millis()))
            .expression_attribute_values(":moves", number(moves));
        let row = match send(update).await? {
            Ok(row) => row.unwrap_or_default(),
            // Our own write, whose answer was lost and which the SDK tried again.
            Err(row) if row.get("due") == Some(&number(to.millis())) => row,
            Err(_) => return Ok(DueMove::OvertakenByAnother),
        };
        let MovedRow { owner, parks } = from_row(row)?;
        // A claim sets the moves back: so since it was parked the relay has sent none.
        let last = if invoice.moves == 0 && parks > 0 { LastTicket::UsedUp } else { LastTicket::Sent };
        Ok(DueMove::Moved { owner, last })
    }
}
