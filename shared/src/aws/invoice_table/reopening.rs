//! Finished invoices that a customer, an operator or a redriven dead letter opens again, and addresses that change.

use async_trait::async_trait;
use aws_sdk_dynamodb::types::AttributeValue;

use super::delivery::if_unchanged;
use super::{InvoiceTable, due_shard, send};
use crate::aws::row::{attribute, number, text};
use crate::domain::{
    AddressCorrection, Attempt, AttemptOutcome, Invoice, InvoiceId, InvoiceStatus, NewAddress, Readdressed, Reopened,
    Reopening, Timestamp,
};
use crate::ports::{NoteDrops, PortError, ReadInvoices as _, ReaddressInvoices, ReopenInvoices};

/// How often a wish is weighed anew because the invoice changed meanwhile.
const TRIES: u32 = 5;

#[async_trait]
impl ReopenInvoices for InvoiceTable {
    async fn reopen(&self, id: InvoiceId, reopening: &Reopening) -> Result<Reopened, PortError> {
        for _ in 0..TRIES {
            let Some(invoice) = self.invoice(id).await? else { return Ok(Reopened::Unknown) };
            let reopened = invoice.reopened_by(reopening);
            match (reopened, &reopening.address) {
                (Reopened::Opened, _) => {
                    if self.open(&invoice, reopening).await? {
                        return Ok(reopened);
                    }
                }
                (Reopened::Readdressed, Some(address)) => {
                    match self.write_address(&invoice, address, reopening.now).await? {
                        Some(Held::ByNobody) => return Ok(reopened),
                        Some(Held::ByWorker) => return Ok(Reopened::HeldByWorker),
                        None => {}
                    }
                }
                _ => return Ok(reopened),
            }
        }
        Err(restless(id))
    }
}

#[async_trait]
impl ReaddressInvoices for InvoiceTable {
    async fn readdress(&self, id: InvoiceId, address: &NewAddress, now: Timestamp) -> Result<Readdressed, PortError> {
        for _ in 0..TRIES {
            let Some(invoice) = self.invoice(id).await? else { return Ok(Readdressed::Unknown) };
            let readdressed = invoice.readdressed_by(address);
            if readdressed != Readdressed::Changed {
                return Ok(readdressed);
            }
            match self.write_address(&invoice, address, now).await? {
                Some(Held::ByNobody) => return Ok(readdressed),
                Some(Held::ByWorker) => return Ok(Readdressed::HeldByWorker),
                None => {}
            }
        }
        Err(restless(id))
    }
}

fn restless(id: InvoiceId) -> PortError {
    PortError::Unavailable(format!("invoice {id} does not stand still"))
}

fn correction(address: &NewAddress, now: Timestamp) -> AddressCorrection {
    AddressCorrection { at: now, email: address.email.clone(), by: Some(address.by.clone()) }
}

/// Who had the invoice when its address was to be written.
enum Held {
    ByNobody,
    ByWorker,
}

impl InvoiceTable {
    async fn open(&self, invoice: &Invoice, reopening: &Reopening) -> Result<bool, PortError> {
        let mut set = "SET #status = :newStatus, due = :due, dueShard = :shard, dueMoves = :none, parks = :none, \
                       abandoned = :none, updatedAt = :now, attempts = list_append(attempts, :attempt)"
            .to_owned();
        let mut update = self
            .update(invoice.content.id)
            .expression_attribute_values(":newStatus", attribute(invoice.state.status_once_open())?)
            .expression_attribute_values(":due", number(reopening.due.millis()))
            .expression_attribute_values(":shard", number(due_shard(invoice.content.id)))
            .expression_attribute_values(":none", number(0))
            .expression_attribute_values(":now", number(reopening.now.millis()))
            .expression_attribute_values(
                ":attempt",
                attribute([Attempt {
                    at: reopening.now,
                    outcome: AttemptOutcome::Reopened,
                    reason: Some(reopening.reason.clone()),
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
        if let Some(letter) = &reopening.letter {
            append("handledLetters", attribute([letter])?)?;
        }
        if let Some(message) = &invoice.mailing.message_id {
            append("retiredMessages", attribute([message])?)?;
        }
        let address = reopening.address.as_ref().filter(|address| address.email != *invoice.email());
        if let Some(address) = address {
            append("corrections", attribute([correction(address, reopening.now)])?)?;
        }
        if let Some(request) = &reopening.correlation_id {
            set.push_str(", correlationId = :correlationId");
            update = update.expression_attribute_values(":correlationId", text(request));
        }
        if let Some(address) = address {
            set.push_str(", linkSecret = :linkSecret");
            update = update.expression_attribute_values(":linkSecret", attribute(address.link_secret)?);
        }
        set.push_str(
            " REMOVE lease, reason, failedAt, sentAt, providerMessageId, delivery, deliveryAt, deliveryReason",
        );
        let update = if_unchanged(update.update_expression(set), invoice)?;
        // An invoice that failed again since looks the same but for this: it would be opened twice within a minute.
        let unchanged = update.get_condition_expression().clone().unwrap_or_default();
        let update = update
            .condition_expression(format!("{unchanged} AND updatedAt = :seenUpdatedAt"))
            .expression_attribute_values(":seenUpdatedAt", number(invoice.updated_at.millis()));
        Ok(send(update).await?.is_ok())
    }

    /// Writes another address, and a secret that who got the old mail does not know. Not while a worker has the invoice:
    /// it has read the old ones already. `None` if the invoice has changed meanwhile, and nothing was written.
    async fn write_address(
        &self,
        invoice: &Invoice,
        address: &NewAddress,
        now: Timestamp,
    ) -> Result<Option<Held>, PortError> {
        let update = self
            .update(invoice.content.id)
            .update_expression(
                "SET corrections = list_append(if_not_exists(corrections, :empty), :correction), updatedAt = :now, \
                 linkSecret = :linkSecret",
            )
            .expression_attribute_names("#until", "until")
            .expression_attribute_values(":empty", AttributeValue::L(vec![]))
            .expression_attribute_values(":correction", attribute([correction(address, now)])?)
            .expression_attribute_values(":linkSecret", attribute(address.link_secret)?)
            .expression_attribute_values(":now", number(now.millis()));
        let update = if_unchanged(update, invoice)?;
        let unchanged = update.get_condition_expression().clone().unwrap_or_default();
        let condition = format!("{unchanged} AND (attribute_not_exists(lease) OR lease.#until <= :now)");
        if send(update.condition_expression(condition)).await?.is_ok() {
            return Ok(Some(Held::ByNobody));
        }
        // If nothing else has changed, it was the lease that forbade it.
        let now = self.invoice(invoice.content.id).await?;
        let unchanged = now.is_some_and(|now| now.mailing == invoice.mailing && now.state == invoice.state);
        Ok(unchanged.then_some(Held::ByWorker))
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
