//! What the mail provider tells, written to the invoice that it is about.

use async_trait::async_trait;
use aws_sdk_dynamodb::operation::update_item::builders::UpdateItemFluentBuilder;

use super::{COUNT_EVENTS, InvoiceTable, counting, send};
use crate::aws::row::{attribute, number, text};
use crate::domain::{Attempt, AttemptOutcome, Consequence, Delivery, Invoice, InvoiceStatus, MailNews, MailReport};
use crate::ports::{PortError, ReadInvoices as _, RecordDelivery};

/// How often a report is weighed anew because the invoice changed meanwhile.
const TRIES: u32 = 5;

#[async_trait]
impl RecordDelivery for InvoiceTable {
    async fn record(&self, report: &MailReport) -> Result<Option<Consequence>, PortError> {
        for _ in 0..TRIES {
            let Some(invoice) = self.invoice(report.invoice).await? else { return Ok(None) };
            let consequence = invoice.consequence_of(report);
            let update = match consequence {
                Consequence::None => return Ok(Some(consequence)),
                Consequence::Sends => self.sends(report)?,
                Consequence::Updates => self.updates(&invoice, report)?,
                Consequence::Fails => self.fails(report)?,
            };
            if send(if_unchanged(update, &invoice)?).await?.is_ok() {
                return Ok(Some(consequence));
            }
        }
        Err(PortError::Unavailable(format!("invoice {} does not stand still", report.invoice)))
    }
}

impl InvoiceTable {
    fn sends(&self, report: &MailReport) -> Result<UpdateItemFluentBuilder, PortError> {
        // It is sent; and it may be back already.
        let events = if bounces(report) { 2 } else { 1 };
        let update = counting(self.update(report.invoice), events)
            .update_expression(with_attempt(
                &format!(
                    "#status = :newStatus, sentAt = :sentAt, providerMessageId = :message, abandoned = :none, \
                     attemptCount = attemptCount + :one, {COUNT_EVENTS}"
                ),
                report,
                "REMOVE lease, due, dueShard",
            ))
            .expression_attribute_values(":newStatus", attribute(InvoiceStatus::Sent)?)
            .expression_attribute_values(":sentAt", number(report.sent_at.millis()))
            .expression_attribute_values(":message", attribute(&report.message_id)?)
            .expression_attribute_values(":none", number(0))
            .expression_attribute_values(":one", number(1));
        let reason = "recorded by the mail provider's word, since the worker's own record is missing";
        with_news(attempted(update, report, AttemptOutcome::Sent, reason)?, report)
    }

    fn updates(&self, invoice: &Invoice, report: &MailReport) -> Result<UpdateItemFluentBuilder, PortError> {
        let MailNews::Delivery { reason, .. } = &report.news else {
            return Err(PortError::Broken("a rejection is no update".to_owned()));
        };
        let mut expression = "SET delivery = :delivery, deliveryAt = :at, updatedAt = :at".to_owned();
        let mut update = self.update(report.invoice);
        // That it came back is told once, whatever more is explained later.
        if bounces(report) && invoice.delivery() != Some(Delivery::Bounced) {
            expression = format!("{expression}, {COUNT_EVENTS}");
            update = counting(update, 1);
        }
        expression.push_str(match reason {
            Some(_) => ", deliveryReason = :reason",
            None => " REMOVE deliveryReason",
        });
        with_news(update.update_expression(expression), report)
    }

    fn fails(&self, report: &MailReport) -> Result<UpdateItemFluentBuilder, PortError> {
        let MailNews::Rejected { reason } = &report.news else {
            return Err(PortError::Broken("only a rejection fails an invoice".to_owned()));
        };
        let update = counting(self.update(report.invoice), 1)
            // The message's id stays: opening the invoice again retires it, and what is told of it later counts no more.
            .update_expression(format!(
                "SET #status = :newStatus, reason = :reason, failedAt = :at, providerMessageId = :message, abandoned = :none, \
                 updatedAt = :at, attempts = list_append(attempts, :attempt), {COUNT_EVENTS} \
                 REMOVE lease, due, dueShard, sentAt, delivery, deliveryAt, deliveryReason"
            ))
            .expression_attribute_values(":newStatus", attribute(InvoiceStatus::Failed)?)
            .expression_attribute_values(":reason", text(reason))
            .expression_attribute_values(":message", attribute(&report.message_id)?)
            .expression_attribute_values(":none", number(0))
            .expression_attribute_values(":at", number(report.at.millis()));
        attempted(update, report, AttemptOutcome::Failed, reason)
    }
}

fn bounces(report: &MailReport) -> bool {
    matches!(report.news, MailNews::Delivery { delivery: Delivery::Bounced, .. })
}

/// The expression that writes the news, a line about the attempt, and whatever else.
fn with_attempt(set: &str, report: &MailReport, remove: &str) -> String {
    let reason = match &report.news {
        MailNews::Delivery { reason: Some(_), .. } => ", deliveryReason = :reason",
        _ => "",
    };
    format!(
        "SET {set}, delivery = :delivery, deliveryAt = :at, updatedAt = :at{reason}, \
         attempts = list_append(attempts, :attempt) {remove}"
    )
}

fn with_news(update: UpdateItemFluentBuilder, report: &MailReport) -> Result<UpdateItemFluentBuilder, PortError> {
    let (delivery, reason) = match &report.news {
        MailNews::Delivery { delivery, reason } => (*delivery, reason.as_deref()),
        MailNews::Rejected { .. } => (Delivery::Accepted, None),
    };
    let update = update
        .expression_attribute_values(":delivery", attribute(delivery)?)
        .expression_attribute_values(":at", number(report.at.millis()));
    Ok(match reason {
        Some(reason) => update.expression_attribute_values(":reason", text(reason)),
        None => update,
    })
}

fn attempted(
    update: UpdateItemFluentBuilder,
    report: &MailReport,
    outcome: AttemptOutcome,
    reason: &str,
) -> Result<UpdateItemFluentBuilder, PortError> {
    let attempt = Attempt { at: report.at, outcome, reason: Some(reason.to_owned()) };
    Ok(update.expression_attribute_values(":attempt", attribute([attempt])?))
}

/// Writes only if everything that the decision was made from is still so.
pub(super) fn if_unchanged(
    update: UpdateItemFluentBuilder,
    invoice: &Invoice,
) -> Result<UpdateItemFluentBuilder, PortError> {
    let mailing = &invoice.mailing;
    let mut condition = vec!["#status = :seenStatus".to_owned()];
    let mut update = update
        .expression_attribute_names("#status", "status")
        .expression_attribute_values(":seenStatus", attribute(invoice.state.status())?);
    // Lists that only grow: the same length means the same content. Older rows have none.
    for (list, length) in [
        ("corrections", mailing.corrections.len()),
        ("handledLetters", mailing.handled_letters.len()),
        ("retiredMessages", mailing.retired.len()),
    ] {
        let absent = if length == 0 { format!("attribute_not_exists({list}) OR ") } else { String::new() };
        condition.push(format!("({absent}size({list}) = :seen{list})"));
        update = update
            .expression_attribute_values(format!(":seen{list}"), number(i64::try_from(length).unwrap_or(i64::MAX)));
    }
    match &mailing.message_id {
        Some(message) => {
            condition.push("providerMessageId = :seenMessage".to_owned());
            update = update.expression_attribute_values(":seenMessage", attribute(message)?);
        }
        None => condition.push("attribute_not_exists(providerMessageId)".to_owned()),
    }
    match &mailing.report {
        Some(report) => {
            condition.push("delivery = :seenDelivery".to_owned());
            update = update.expression_attribute_values(":seenDelivery", attribute(report.delivery)?);
        }
        None => condition.push("attribute_not_exists(delivery)".to_owned()),
    }
    let pdf = if invoice.state.pdf().is_some() { "attribute_exists" } else { "attribute_not_exists" };
    condition.push(format!("{pdf}(pdf)"));
    Ok(update.condition_expression(condition.join(" AND ")))
}
