//! Finished invoices that a person, or a redriven dead letter, opens again.

use async_trait::async_trait;
use aws_sdk_dynamodb::types::AttributeValue;

use super::delivery::if_unchanged;
use super::{InvoiceTable, due_shard, send};
use crate::aws::row::{attribute, number};
use crate::domain::{
    AddressCorrection, Attempt, AttemptOutcome, Invoice, InvoiceId, InvoiceStatus, Reopened, Reopening, Timestamp,
};
use crate::ports::{NoteDrops, PortError, ReadInvoices as _, ReopenInvoices};

/// How often a wish is weighed anew because the invoice changed meanwhile.
const TRIES: u32 = 5;

#[async_trait]
impl ReopenInvoices for InvoiceTable {
    async fn reopen(&self, id: InvoiceId, wish: &Reopening) -> Result<Reopened, PortError> {
        for _ in 0..TRIES {
            let Some(invoice) = self.invoice(id).await? else { return Ok(Reopened::Unknown) };
            let (written, otherwise) = match invoice.reopened_by(wish) {
                Reopened::Opened => (self.open(&invoice, wish).await?, None),
                // If nothing else has changed, it was the lease that forbade it.
                Reopened::Readdressed => (self.readdress(&invoice, wish).await?, Some(Reopened::HeldByWorker)),
                nothing_to_write => return Ok(nothing_to_write),
            };
            if written {
                return Ok(invoice.reopened_by(wish));
            }
            if let Some(otherwise) = otherwise
                && self.invoice(id).await?.is_some_and(|now| now.mailing == invoice.mailing)
            {
                return Ok(otherwise);
            }
        }
        Err(PortError::Unavailable(format!("invoice {id} does not stand still")))
    }
}

impl InvoiceTable {
    async fn open(&self, invoice: &Invoice, wish: &Reopening) -> Result<bool, PortError> {
        let status = if invoice.state.pdf().is_some() { InvoiceStatus::Generated } else { InvoiceStatus::Pending };
        let mut set = "SET #status = :newStatus, due = :due, dueShard = :shard, dueMoves = :none, parks = :none, \
                       abandoned = :none, updatedAt = :now, attempts = list_append(attempts, :attempt)"
            .to_owned();
        let mut update = self
            .update(invoice.content.id)
            .expression_attribute_values(":newStatus", attribute(status)?)
            .expression_attribute_values(":due", number(wish.due.millis()))
            .expression_attribute_values(":shard", number(due_shard(invoice.content.id)))
            .expression_attribute_values(":none", number(0))
            .expression_attribute_values(":now", number(wish.now.millis()))
            .expression_attribute_values(
                ":attempt",
                attribute([Attempt {
                    at: wish.now,
                    outcome: AttemptOutcome::Reopened,
                    reason: Some(wish.reason.clone()),
                }])?,
            );
        let mut append = |list: &str, value| {
            set = format!("{set}, {list} = list_append(if_not_exists({list}, :empty), :{list})");
            update = update
                .clone()
                .expression_attribute_values(":empty", AttributeValue::L(vec![]))
                .expression_attribute_values(format!(":{list}"), value);
            Ok::<_, PortError>(())
        };
        if let Some(letter) = &wish.letter {
            append("handledLetters", attribute([letter])?)?;
        }
        if let Some(message) = &invoice.mailing.message_id {
            append("retiredMessages", attribute([message])?)?;
        }
        if let Some(email) = wish.email.as_ref().filter(|email| *email != invoice.email()) {
            append("corrections", attribute([AddressCorrection { at: wish.now, email: email.clone() }])?)?;
        }
        set.push_str(
            " REMOVE lease, reason, failedAt, sentAt, providerMessageId, delivery, deliveryAt, deliveryReason",
        );
        Ok(send(if_unchanged(update.update_expression(set), invoice)?).await?.is_ok())
    }

    /// Not while a worker has the invoice: it has read the old address already.
    async fn readdress(&self, invoice: &Invoice, wish: &Reopening) -> Result<bool, PortError> {
        let Some(email) = &wish.email else { return Ok(false) };
        let update = self
            .update(invoice.content.id)
            .update_expression(
                "SET corrections = list_append(if_not_exists(corrections, :empty), :correction), updatedAt = :now",
            )
            .expression_attribute_names("#until", "until")
            .expression_attribute_values(":empty", AttributeValue::L(vec![]))
            .expression_attribute_values(
                ":correction",
                attribute([AddressCorrection { at: wish.now, email: email.clone() }])?,
            )
            .expression_attribute_values(":now", number(wish.now.millis()));
        let update = if_unchanged(update, invoice)?;
        let unchanged = update.get_condition_expression().clone().unwrap_or_default();
        let condition = format!("{unchanged} AND (attribute_not_exists(lease) OR lease.#until <= :now)");
        Ok(send(update.condition_expression(condition)).await?.is_ok())
    }
}

#[async_trait]
impl NoteDrops for InvoiceTable {
    async fn note_drop(&self, id: InvoiceId, reason: &str, now: Timestamp) -> Result<bool, PortError> {
        let attempt = Attempt { at: now, outcome: AttemptOutcome::Dropped, reason: Some(reason.to_owned()) };
        let update = self
            .update(id)
            .update_expression("SET attempts = list_append(attempts, :attempt), updatedAt = :now")
            // A worker rewrites the attempts of an open invoice; nobody rewrites those of a finished one.
            .condition_expression("#status IN (:failed, :sent)")
            .expression_attribute_names("#status", "status")
            .expression_attribute_values(":attempt", attribute([attempt])?)
            .expression_attribute_values(":now", number(now.millis()))
            .expression_attribute_values(":failed", attribute(InvoiceStatus::Failed)?)
            .expression_attribute_values(":sent", attribute(InvoiceStatus::Sent)?);
        Ok(send(update).await?.is_ok())
    }
}
