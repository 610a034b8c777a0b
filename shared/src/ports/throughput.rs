//! What tells how the work goes: what is open, what is on the queues, what goes out.

use async_trait::async_trait;

use super::PortError;
use crate::domain::{Provider, ProviderState, Slot, Slots, Timestamp};

/// How many invoices are neither `Sent` nor `Failed`, also those that are parked and have no ticket on the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenInvoices {
    /// So many.
    Exactly(u64),
    /// So many were counted, and there are more: counting has a price, and stops at a bound.
    AtLeast(u64),
}

/// The invoices that are not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// How many.
    pub open: OpenInvoices,
    /// When the oldest of them was created.
    pub oldest: Option<Timestamp>,
}

/// Measures what is still to be done (API).
#[async_trait]
pub trait MeasureBacklog: Send + Sync {
    /// As the table's index has it, which lags a little.
    async fn backlog(&self) -> Result<Backlog, PortError>;
}

/// How many messages a queue holds. SQS counts approximately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueDepth {
    /// Ready to be received.
    pub waiting: u64,
    /// Received, and not yet deleted or back.
    pub in_flight: u64,
    /// Sent, but not yet to be received.
    pub delayed: u64,
}

/// Measures a queue (API).
#[async_trait]
pub trait MeasureQueue: Send + Sync {
    /// What it holds now.
    async fn depth(&self) -> Result<QueueDepth, PortError>;
}

/// Counts the mails that the provider accepted (worker).
#[async_trait]
pub trait CountSends: Send + Sync {
    /// Adds so many to the slot of this moment. A call whose answer was lost may count twice.
    async fn add(&self, mails: u32, now: Timestamp) -> Result<(), PortError>;
}

/// Reads how many mails were sent (API).
#[async_trait]
pub trait ReadSends: Send + Sync {
    /// By all workers, in all these slots together.
    async fn sent_in(&self, slots: Slots) -> Result<u64, PortError>;
}

/// Notes whether the provider takes mail (worker).
#[async_trait]
pub trait NoteProvider: Send + Sync {
    /// What a worker found now. Found again, it is since the first time.
    async fn note_provider(&self, state: ProviderState, now: Timestamp) -> Result<(), PortError>;
}

/// Reads whether the provider takes mail (API).
#[async_trait]
pub trait ReadProvider: Send + Sync {
    /// The workers' last word, if there is one yet.
    async fn provider(&self) -> Result<Option<Provider>, PortError>;
}

/// Notes how much is open from time to time (relay).
#[async_trait]
pub trait NoteBacklog: Send + Sync {
    /// So it is now.
    async fn note_backlog(&self, backlog: Backlog, now: Timestamp) -> Result<(), PortError>;
}

/// What was open once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PastBacklog {
    /// When: the slot of the note.
    pub at: Slot,
    /// How many invoices were open then, or that many at least.
    pub open: u64,
    /// When the oldest of them had been created.
    pub oldest: Option<Timestamp>,
}

/// How the work went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// What was open, oldest first, as often as it was noted.
    pub backlog: Vec<PastBacklog>,
    /// How many mails the provider accepted in each slot, oldest first. Slots without any are left out.
    pub sends: Vec<(Slot, u64)>,
}

/// Reads how the work went (API).
#[async_trait]
pub trait ReadHistory: Send + Sync {
    /// In these slots.
    async fn history(&self, slots: Slots) -> Result<History, PortError>;
}
