//! What operators do with dead letters and the invoices behind them, and customers with their invoices.

use std::time::Duration;

use async_trait::async_trait;

use super::PortError;
use crate::domain::{InvoiceId, LetterId, NewAddress, Readdressed, Reopened, Reopening, Timestamp};

/// A dead letter in somebody's hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuriedTicket {
    /// Which.
    pub letter: LetterId,
    /// The message's body: a ticket, or what was taken for none.
    pub body: String,
    /// Why it is here; `None` if the queue itself gave it up.
    pub reason: Option<String>,
    /// Since when it is here, or on the queue of tickets, if it came from there by itself.
    pub since: Timestamp,
    /// What the queue wants to be shown for removing it or putting it back.
    pub receipt_handle: String,
}

/// Looks through the dead letters (operators).
#[async_trait]
pub trait TakeDeadLetters: Send + Sync {
    /// Some of those that are in nobody's hand, hidden from everybody else for this long; none if there are none left.
    async fn take(&self, hidden_for: Duration) -> Result<Vec<BuriedTicket>, PortError>;

    /// Gives one back, visible to everybody at once.
    async fn put_back(&self, ticket: &BuriedTicket) -> Result<(), PortError>;

    /// Removes one for good.
    async fn remove(&self, ticket: &BuriedTicket) -> Result<(), PortError>;
}

/// Opens finished invoices again (API; operators; the worker, for redriven dead letters).
#[async_trait]
pub trait ReopenInvoices: Send + Sync {
    /// Does to the invoice what [`crate::domain::Invoice::reopened_by`] says, in one conditional write: of two wishes
    /// at once, or the same one twice, one takes effect.
    ///
    /// An opened invoice has a due time again, so it is not lost if no ticket follows.
    async fn reopen(&self, id: InvoiceId, reopening: &Reopening) -> Result<Reopened, PortError>;
}

/// Changes where an invoice's mail goes (API).
#[async_trait]
pub trait ReaddressInvoices: Send + Sync {
    /// Does to the invoice what [`crate::domain::Invoice::readdressed_by`] says, in one conditional write, which fails
    /// while a worker has it. The link of mails that went to the old address ends.
    async fn readdress(&self, id: InvoiceId, address: &NewAddress, now: Timestamp) -> Result<Readdressed, PortError>;
}

/// Writes down that a person gave up an invoice's dead letter (operators).
#[async_trait]
pub trait NoteDrops: Send + Sync {
    /// On a finished invoice; an open one goes on, and there is nothing to note. Whether it was noted.
    async fn note_drop(&self, id: InvoiceId, reason: &str, now: Timestamp) -> Result<bool, PortError>;
}
