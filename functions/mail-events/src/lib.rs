//! The ear: what Amazon SES tells of each mail, written to its invoice.
//!
//! It closes the gap between the provider's "accepted" and the worker's record of it: a mail that is out makes its
//! invoice `Sent`, whoever died meanwhile. Events come late, twice and in any order; each may come again without harm.

mod event;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt as _;
use parceltrack::domain::{Consequence, Delivery, Invoice, MailNews, MailReport, Suppression, Ticket};
use parceltrack::ports::{AddSuppression, DeadLetter, PortError, ReadInvoices, RecordDelivery};
use parceltrack::telemetry::{self, FailureReason, Metric};
use serde::Serialize;
use serde_json::Value;

pub use event::{InvalidEvent, News, SesEvent};

/// The function's ports.
pub struct MailEvents {
    /// Reads invoices.
    pub read_invoices: Arc<dyn ReadInvoices>,
    /// Writes to them what became of their mail.
    pub deliveries: Arc<dyn RecordDelivery>,
    /// Remembers who gets no mail any more.
    pub suppressions: Arc<dyn AddSuppression>,
    /// Tells a person of an invoice that did not arrive.
    pub dead_letters: Arc<dyn DeadLetter>,
}

/// What an event came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Heard {
    /// The invoice is `Sent`, which nobody had recorded.
    Sent,
    /// More is known of a mail that was sent.
    Updated,
    /// The invoice is `Failed`.
    Failed,
    /// It was known, outweighed, or is none of our business.
    Nothing,
}

/// An event that was not dealt with, and comes again.
#[derive(Debug, thiserror::Error)]
pub enum NotHeard {
    /// Not in SES's words.
    #[error(transparent)]
    Invalid(#[from] InvalidEvent),
    /// A table or queue did not do its part.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The code panicked. The log says where; over what is not told, since Lambda puts it beside the dead letter.
    #[error("the function panicked")]
    Panicked,
}

impl MailEvents {
    /// Does what an event of EventBridge asks for.
    pub async fn hear(&self, event: Value) -> Result<Heard, NotHeard> {
        let heard = AssertUnwindSafe(self.weigh(event)).catch_unwind().await.unwrap_or(Err(NotHeard::Panicked));
        match &heard {
            Ok(_) | Err(NotHeard::Panicked) => {}
            Err(NotHeard::Invalid(error)) => tracing::error!(event = "mail_event_unreadable", %error),
            Err(NotHeard::Port(error)) => tracing::warn!(event = "mail_event_not_heard", %error),
        }
        heard
    }

    async fn weigh(&self, event: Value) -> Result<Heard, NotHeard> {
        let Some(event) = SesEvent::parse(event)? else {
            tracing::info!(event = "not_ours");
            return Ok(Heard::Nothing);
        };
        let kind = event.kind;
        let id = event.invoice;
        // The address first: whatever becomes of the invoice, no further mail may go there.
        for (email, cause, reason) in event.suppressed() {
            let suppression = Suppression { email, cause, reason, at: event.at, invoice: id };
            self.suppressions.add(&suppression).await?;
            tracing::warn!(event = "address_suppressed", invoice = %id, ?cause);
        }
        let Some(invoice) = self.read_invoices.invoice(id).await? else {
            tracing::warn!(event = "mail_of_unknown_invoice", invoice = %id, kind);
            return Ok(Heard::Nothing);
        };
        let report = event.report();
        if let Some(reason) = for_a_person(&invoice, &report, event.is_permanent()) {
            // Before the record, as in the worker: after a crash in between a second letter is better than none.
            self.dead_letters.bury(&Ticket { invoice_id: id }.to_body(), &reason).await?;
            tracing::error!(event = "ticket_buried", invoice = %id);
        }
        let consequence = self.deliveries.record(&report).await?.unwrap_or(Consequence::None);
        tracing::info!(event = "mail_event", invoice = %id, kind, ?consequence);
        if consequence == Consequence::Fails {
            telemetry::record(Metric::InvoicesFailed(FailureReason::Rejected), report.at);
        }
        Ok(match consequence {
            Consequence::Sends => Heard::Sent,
            Consequence::Updates => Heard::Updated,
            Consequence::Fails => Heard::Failed,
            Consequence::None => Heard::Nothing,
        })
    }
}

/// Why a person must see this invoice now, if that is news: its customer did not get it, and will not by itself.
fn for_a_person(invoice: &Invoice, report: &MailReport, permanent: bool) -> Option<String> {
    match (invoice.consequence_of(report), &report.news) {
        (Consequence::Fails, MailNews::Rejected { reason }) => Some(reason.clone()),
        (Consequence::Sends | Consequence::Updates, MailNews::Delivery { delivery: Delivery::Bounced, reason })
            if permanent && invoice.delivery() < Some(Delivery::Bounced) =>
        {
            Some(reason.clone().unwrap_or_else(|| "the mail came back".to_owned()))
        }
        _ => None,
    }
}
