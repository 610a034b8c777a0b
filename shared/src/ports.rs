//! The small traits through which a function reaches the world: one per capability that its IAM role grants.
//!
//! Errors say what to do about them, not where they came from.

mod api_keys;
mod contacts;
mod dead_letters;
mod delivery;
mod domain_events;
mod failed_invoices;
mod parcels;
mod proofs;
mod throughput;
mod webhook_deliveries;
mod webhooks;

use std::time::Duration;

use async_trait::async_trait;

pub use api_keys::{ManageApiKeys, ReadApiKeys, Revocation};
pub use contacts::{AskForConfirmation, BoundConfirmations, ConfirmContacts, ReadContacts};
pub use dead_letters::{BuriedTicket, NoteDrops, ReaddressInvoices, ReopenInvoices, TakeDeadLetters};
pub use delivery::{AddSuppression, ReadSuppressions, RecordDelivery, RemoveSuppression};
pub use domain_events::{EVENTS_AT_ONCE, PublishEvents};
pub use failed_invoices::{FailedInvoice, FailedPage, FailedPageEnd, ListFailedInvoices};
pub use parcels::{
    CreateParcels, EventRecording, IdempotencyClaim, PageEnd, ParcelCreation, ParcelPage, ParcelSelection,
    ParcelSummary, ReadAnswers, ReadParcels, RecordEvents, SeenParcel, ShowParcels, ShownParcel, StoredAnswer,
};
pub use proofs::{ExpectProofs, KeepProofs, SignedUpload};
pub use throughput::{
    Backlog, CountSends, History, MeasureBacklog, MeasureQueue, NoteBacklog, NoteProvider, OpenInvoices, PastBacklog,
    QueueDepth, ReadHistory, ReadProvider, ReadSends,
};
pub use webhook_deliveries::{
    BuryWebhookMessage, DeliveryOutcome, DeliveryPage, DeliveryPageEnd, DueDelivery, DueDeliveryPage, FollowSubjects,
    ListWebhookDeliveries, PostponeWebhookEvent, PostponeWebhookTicket, ReadWebhookDeliveries, RecordWebhookDeliveries,
    RelayWebhookDeliveries, ReopenWebhookDeliveries, RetryWebhookDeliveries, SendResendWish, SendWebhookTicket,
    SendWebhookTickets, WorkOnWebhookDeliveries,
};
pub use webhooks::{
    AfterCall, BoundNotices, CallSlot, ChangeWebhooks, CreateWebhooks, Notice, NoticeRight, ReadWebhooks, SendNotice,
    SlotWish, WebhookCreation, WorkOnWebhooks,
};

use crate::domain::{
    Attempt, EmailAddress, Invoice, InvoiceContent, InvoiceId, InvoiceStatus, LastTicket, Lease, LeaseHolder,
    LinkSecret, OwnerId, ProviderMessageId, RequestId, StoredPdf, Ticket, Timestamp, TrackingNumber,
};

/// Tells the time. Tests move it.
pub trait Clock: Send + Sync {
    /// The present moment.
    fn now(&self) -> Timestamp;
}

/// Something that we need did not do its part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PortError {
    /// Throttled, in conflict, timed out or away: the same call may succeed later.
    #[error("unavailable: {0}")]
    Unavailable(String),
    /// It will not succeed by itself: a row that cannot be read, a permission that is missing. A person looks.
    #[error("broken: {0}")]
    Broken(String),
}

/// A new invoice, with what only its creator knows.
#[derive(Clone, Debug)]
pub struct NewInvoice {
    /// What it says.
    pub content: InvoiceContent,
    /// When somebody must look if its first ticket has not finished it.
    pub due: Timestamp,
    /// The secret of the link that will be mailed.
    pub link_secret: LinkSecret,
    /// The request that asks for it.
    pub correlation_id: RequestId,
}

/// How the creation of an invoice ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvoiceCreation {
    /// It is there, made by this call.
    Created,
    /// The parcel has one already.
    Exists(Box<Invoice>),
}

/// Creates invoices (API).
#[async_trait]
pub trait CreateInvoices: Send + Sync {
    /// Writes the invoice together with its due time, if the parcel has none yet. The link's secret tells a repeat
    /// of this very call, whose answer was lost, from another call.
    async fn create(&self, invoice: &NewInvoice) -> Result<InvoiceCreation, PortError>;
}

/// The part of an invoice that a list shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvoiceSummary {
    /// Which.
    pub id: InvoiceId,
    /// Its status.
    pub status: InvoiceStatus,
    /// Why it failed, if it did.
    pub reason: Option<String>,
}

/// Reads invoices (API).
#[async_trait]
pub trait ReadInvoices: Send + Sync {
    /// The invoice with this id.
    async fn invoice(&self, id: InvoiceId) -> Result<Option<Invoice>, PortError>;

    /// Those of the ids (at most 100) that have an invoice, in any order.
    async fn summaries(&self, ids: &[InvoiceId]) -> Result<Vec<InvoiceSummary>, PortError>;
}

/// How a claim ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It is ours: the invoice as it was, with the number of holders that died before us.
    Granted(Box<Invoice>),
    /// Nothing left to do.
    Finished(InvoiceStatus),
    /// Somebody else's lease is alive.
    HeldByAnother,
    /// There is no such invoice, or not yet.
    Unknown,
}

/// What the lease's holder found out when it wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// The lease was still ours and the write took effect.
    Yes,
    /// The lease is not ours any more; nothing was written.
    Lost,
}

/// How a worker lets go of an invoice. Each removes the lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LetGo {
    /// The provider has accepted the mail. Removes `due`.
    Sent {
        /// What the provider calls it.
        message_id: ProviderMessageId,
    },
    /// The ticket will come back by itself. Keeps `due`.
    Retried,
    /// The ticket is done; the relay brings another one.
    Parked {
        /// The new due time.
        due: Timestamp,
    },
    /// Given up. Removes `due`.
    Failed {
        /// Why, for people.
        reason: String,
    },
}

/// Works on invoices under a lease (worker). Every write asks whether the lease is still the writer's.
#[async_trait]
pub trait WorkOnInvoices: Send + Sync {
    /// Takes the lease if the invoice is unfinished and no lease is alive.
    async fn claim(&self, id: InvoiceId, lease: Lease, now: Timestamp) -> Result<Claim, PortError>;

    /// Records the stored PDF.
    async fn generated(
        &self,
        id: InvoiceId,
        holder: LeaseHolder,
        pdf: &StoredPdf,
        now: Timestamp,
    ) -> Result<Held, PortError>;

    /// Asks once more, right before the mail, whether the lease is ours until at least `until`, and starts the link's
    /// lifetime.
    async fn about_to_send(
        &self,
        id: InvoiceId,
        holder: LeaseHolder,
        until: Timestamp,
        link_expires: Timestamp,
    ) -> Result<Held, PortError>;

    /// Lets go, with a line about the attempt.
    async fn let_go(
        &self,
        invoice: &Invoice,
        holder: LeaseHolder,
        how: &LetGo,
        attempt: Attempt,
    ) -> Result<Held, PortError>;
}

/// An invoice that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueInvoice {
    /// Which.
    pub id: InvoiceId,
    /// Since when.
    pub due: Timestamp,
    /// How often the relay has looked since a worker last had a ticket.
    pub moves: u32,
}

/// How the move of an invoice's due time ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DueMove {
    /// It was moved.
    Moved {
        /// Whose invoice it is.
        owner: OwnerId,
        /// What became of its last ticket, if the relay has sent none since.
        last: LastTicket,
    },
    /// Somebody else moved or finished it first.
    OvertakenByAnother,
}

/// A page of due invoices.
#[derive(Clone, Debug)]
pub struct DuePage {
    /// The longest overdue first.
    pub invoices: Vec<DueInvoice>,
    /// Whether there is another page after the last of them.
    pub more: bool,
}

/// Due times are spread over this many partitions of the index, so that no sale makes one of them hot.
pub const DUE_SHARDS: u8 = 8;

/// How a step ended that somebody else might have taken first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepTaken {
    /// It was taken now.
    Moved,
    /// Somebody else took it first.
    OvertakenByAnother,
}

/// Finds and moves due invoices (relay).
#[async_trait]
pub trait RelayInvoices: Send + Sync {
    /// The invoices of one shard (below [`DUE_SHARDS`]) that are due by `now`, the longest overdue first, those after
    /// `after`. The index lags a little: some may have been moved or finished meanwhile.
    async fn due_page(&self, shard: u8, now: Timestamp, after: Option<DueInvoice>) -> Result<DuePage, PortError>;

    /// Moves the due time, and sets the number of moves, if the due time is still what the caller saw.
    async fn move_due(&self, invoice: DueInvoice, to: Timestamp, moves: u32) -> Result<DueMove, PortError>;
}

/// Puts one ticket on the queue (API).
#[async_trait]
pub trait SendTicket: Send + Sync {
    /// Returns once the queue has it. Its invoice's owner goes beside it, since the queue is fair between owners, and the
    /// request that asked for it, if one did, for the log of whoever takes it.
    async fn send(&self, ticket: Ticket, owner: &OwnerId, cause: Option<&RequestId>) -> Result<(), PortError>;
}

/// Puts tickets on the queue in batches (relay).
#[async_trait]
pub trait SendTickets: Send + Sync {
    /// At most ten at once, each with its invoice's owner. Returns those that the queue did not take.
    async fn send_batch(&self, tickets: &[(Ticket, OwnerId)]) -> Result<Vec<Ticket>, PortError>;

    /// How many tickets wait there for a worker. SQS counts approximately.
    async fn waiting(&self) -> Result<u64, PortError>;
}

/// Hides a ticket for a while, until it is delivered again (worker).
#[async_trait]
pub trait PostponeTicket: Send + Sync {
    /// From now on for `delay`, rounded up to seconds.
    async fn postpone(&self, receipt_handle: &str, delay: Duration) -> Result<(), PortError>;
}

/// Puts a message aside for a person to look at (worker).
#[async_trait]
pub trait DeadLetter: Send + Sync {
    /// The message's body as it was, with the reason beside it.
    async fn bury(&self, body: &str, reason: &str) -> Result<(), PortError>;
}

/// Stores PDFs (worker).
#[async_trait]
pub trait StorePdf: Send + Sync {
    /// Under this key, replacing what was there.
    async fn store(&self, key: &str, pdf: Vec<u8>) -> Result<(), PortError>;
}

/// What a browser does with a PDF (RFC 6266).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// Shows it.
    Inline,
    /// Saves it.
    Attachment,
}

/// Makes links to stored PDFs (API).
#[async_trait]
pub trait LinkToPdf: Send + Sync {
    /// A URL that opens this one object for a few minutes, without credentials.
    async fn link(&self, pdf: &StoredPdf, file_name: &str, disposition: Disposition) -> Result<String, PortError>;
}

/// A mail to one recipient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    /// The invoice that it carries; the provider reports it back with what became of the mail.
    pub invoice: InvoiceId,
    /// To whom.
    pub to: EmailAddress,
    /// The recipient's name, in any script.
    pub to_name: String,
    /// One line.
    pub subject: String,
    /// For readers of plain text.
    pub text: String,
    /// For everybody else.
    pub html: String,
}

/// Why a mail was not accepted, as far as is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MailError {
    /// The provider refuses this address or this message, and will again.
    #[error("rejected by the mail provider: {0}")]
    Rejected(String),
    /// The provider asks to try later: a rate limit, a greylist.
    #[error("put off by the mail provider: {0}")]
    PutOff(String),
    /// The provider is away, or refuses everybody.
    #[error("mail provider unavailable: {0}")]
    Unavailable(String),
    /// The mail was handed over but the answer got lost; it may have been accepted.
    #[error("no answer from the mail provider: {0}")]
    AnswerLost(String),
}

/// Sends mail (worker).
#[async_trait]
pub trait SendMail: Send + Sync {
    /// One try, no retry inside: sending is not idempotent.
    async fn send(&self, mail: &Mail) -> Result<ProviderMessageId, MailError>;
}

/// Draws tracking numbers (API). Tests make it draw the same one twice.
pub trait DrawTrackingNumber: Send + Sync {
    /// For the `attempt`-th try, from 0.
    fn draw(&self, attempt: u32) -> TrackingNumber;
}
