//! Deliveries of events to webhooks: made, worked on, found again, and the messages that hurry them along.

use std::time::Duration;

use async_trait::async_trait;

use super::{Held, PortError, StepTaken};
use crate::domain::{
    DeliveryId, Lease, LeaseHolder, ResendWish, Subject, Timestamp, WebhookAttempt, WebhookDelivery,
    WebhookDeliveryState, WebhookDeliveryStatus, WebhookId, WebhookTicket,
};

/// Where a page of deliveries ends, and the next begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryPageEnd {
    /// When we heard of the last one's event.
    pub created_at: Timestamp,
    /// That delivery.
    pub id: DeliveryId,
}

/// Deliveries of one webhook, the newest first.
#[derive(Clone, Debug)]
pub struct DeliveryPage {
    /// The deliveries of this page, their bodies left out.
    pub deliveries: Vec<WebhookDelivery>,
    /// Where to go on; `None` on the last page.
    pub end: Option<DeliveryPageEnd>,
}

/// Reads deliveries (API, worker).
#[async_trait]
pub trait ReadWebhookDeliveries: Send + Sync {
    /// The delivery with this id.
    async fn delivery(&self, webhook: WebhookId, id: DeliveryId) -> Result<Option<WebhookDelivery>, PortError>;
}

/// Lists deliveries (API).
#[async_trait]
pub trait ListWebhookDeliveries: Send + Sync {
    /// At most `limit` that are read, those after `after`; of these, if a status is named, only those that have it. The
    /// index lags a little.
    async fn deliveries(
        &self,
        webhook: WebhookId,
        status: Option<WebhookDeliveryStatus>,
        limit: u16,
        after: Option<DeliveryPageEnd>,
    ) -> Result<DeliveryPage, PortError>;
}

/// Makes deliveries (fan-out; API for tests).
#[async_trait]
pub trait RecordWebhookDeliveries: Send + Sync {
    /// Writes it, if it is not there. The status of the one that is there, whoever made it.
    async fn record(&self, delivery: &WebhookDelivery) -> Result<WebhookDeliveryStatus, PortError>;
}

/// Has a delivery tried at once because a person asks (API).
#[async_trait]
pub trait RetryWebhookDeliveries: Send + Sync {
    /// From its beginning if it is at its end. `None` if there is none.
    async fn retry(
        &self,
        webhook: WebhookId,
        id: DeliveryId,
        due: Timestamp,
        now: Timestamp,
    ) -> Result<Option<StepTaken>, PortError>;
}

/// Sends again what came since a time (fan-out).
#[async_trait]
pub trait ReopenWebhookDeliveries: Send + Sync {
    /// Deliveries that a wish is about, the oldest first, from where it has come to; and whether there are more.
    async fn to_resend(&self, wish: &ResendWish) -> Result<(Vec<DeliveryPageEnd>, bool), PortError>;

    /// Begins one anew, if it is at an end that the wish is about, and was not begun anew for it before.
    async fn reopen(
        &self,
        wish: &ResendWish,
        id: DeliveryId,
        due: Timestamp,
        now: Timestamp,
    ) -> Result<StepTaken, PortError>;
}

/// Remembers how far the story of each subject has been told (fan-out).
#[async_trait]
pub trait FollowSubjects: Send + Sync {
    /// The number of the last event that was told, if any was.
    async fn last_told(&self, subject: Subject) -> Result<Option<u64>, PortError>;

    /// This one has been told, too. A lower number changes nothing.
    async fn told(&self, subject: Subject, sequence: u64, now: Timestamp) -> Result<(), PortError>;
}

/// How a worker lets go of a delivery. Each removes the lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// The endpoint has it.
    Delivered,
    /// It is tried again.
    Retried {
        /// Not before then.
        next_attempt_at: Timestamp,
        /// When somebody must look, whatever became of its ticket.
        due: Timestamp,
    },
    /// That was the last attempt.
    Failed,
}

/// Works on deliveries (worker).
#[async_trait]
pub trait WorkOnWebhookDeliveries: Send + Sync {
    /// The one before this of its subject and webhook.
    async fn earlier(
        &self,
        webhook: WebhookId,
        id: DeliveryId,
    ) -> Result<Option<(DeliveryId, WebhookDeliveryState)>, PortError>;

    /// The one after this of its subject and webhook.
    async fn later(
        &self,
        webhook: WebhookId,
        id: DeliveryId,
    ) -> Result<Option<(DeliveryId, WebhookDeliveryState)>, PortError>;

    /// Takes the lease, if the delivery is pending and no lease is alive. It is due once the lease is over: so a worker that
    /// dies loses nothing.
    async fn claim(&self, delivery: &WebhookDelivery, lease: Lease, now: Timestamp) -> Result<Held, PortError>;

    /// Lets go with a line about the attempt, if the lease is still the caller's.
    async fn let_go(
        &self,
        delivery: &WebhookDelivery,
        holder: LeaseHolder,
        outcome: DeliveryOutcome,
        attempt: WebhookAttempt,
        now: Timestamp,
    ) -> Result<Held, PortError>;

    /// Ends it without an attempt, if it is pending and nobody works on it.
    async fn withdraw(&self, delivery: &WebhookDelivery, now: Timestamp) -> Result<StepTaken, PortError>;

    /// Puts a pending delivery off or hurries it: when it is tried next, if that changes, and when somebody must look. Only
    /// if its due time is still what the caller saw.
    async fn put_off(
        &self,
        delivery: &WebhookDelivery,
        next_attempt_at: Option<Timestamp>,
        due: Timestamp,
    ) -> Result<StepTaken, PortError>;

    /// Makes a pending delivery due then at the latest.
    async fn hurry(&self, webhook: WebhookId, id: DeliveryId, due: Timestamp) -> Result<(), PortError>;
}

/// A delivery that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueDelivery {
    /// What its ticket says.
    pub ticket: WebhookTicket,
    /// Since when.
    pub due: Timestamp,
    /// How many tickets the relay has sent since a worker last had one.
    pub moves: u32,
}

/// A page of due deliveries.
#[derive(Clone, Debug)]
pub struct DueDeliveryPage {
    /// The longest overdue first.
    pub deliveries: Vec<DueDelivery>,
    /// Whether there is another page after the last of them.
    pub more: bool,
}

/// Finds and moves due deliveries (relay).
#[async_trait]
pub trait RelayWebhookDeliveries: Send + Sync {
    /// The deliveries of one shard (below [`DUE_SHARDS`](super::DUE_SHARDS)) that are due by `now`, the longest overdue
    /// first, those after `after`. The index lags a little: some may have been moved or ended meanwhile.
    async fn due_page(
        &self,
        shard: u8,
        now: Timestamp,
        after: Option<&DueDelivery>,
    ) -> Result<DueDeliveryPage, PortError>;

    /// Moves the due time, and sets the number of moves, if the due time is still what the caller saw.
    async fn move_due(&self, delivery: &DueDelivery, to: Timestamp, moves: u32) -> Result<StepTaken, PortError>;
}

/// Puts one ticket of a delivery on their queue (API, fan-out, worker).
#[async_trait]
pub trait SendWebhookTicket: Send + Sync {
    /// Returns once the queue has it. Nobody gets it before `delay` is over, rounded up to seconds, which is at most
    /// [`LONGEST_TICKET_DELAY`](crate::domain::LONGEST_TICKET_DELAY).
    async fn send(&self, ticket: &WebhookTicket, delay: Duration) -> Result<(), PortError>;
}

/// Puts tickets of deliveries on their queue in batches (fan-out, relay).
#[async_trait]
pub trait SendWebhookTickets: Send + Sync {
    /// At most ten at once. Returns those that the queue did not take.
    async fn send_batch(&self, tickets: &[WebhookTicket]) -> Result<Vec<WebhookTicket>, PortError>;
}

/// Hides a ticket of a delivery for a while (worker).
#[async_trait]
pub trait PostponeWebhookTicket: Send + Sync {
    /// From now on for `delay`, rounded up to seconds.
    async fn postpone_ticket(&self, receipt_handle: &str, delay: Duration) -> Result<(), PortError>;
}

/// Hides an event that came too early for a while (fan-out).
#[async_trait]
pub trait PostponeWebhookEvent: Send + Sync {
    /// From now on for `delay`, rounded up to seconds.
    async fn postpone_event(&self, receipt_handle: &str, delay: Duration) -> Result<(), PortError>;
}

/// Puts a wish to send again on the queue of events (API; fan-out for its next page).
#[async_trait]
pub trait SendResendWish: Send + Sync {
    /// Returns once the queue has it.
    async fn wish(&self, wish: &ResendWish) -> Result<(), PortError>;
}

/// Puts a message of webhooks aside for a person to look at (fan-out, worker).
#[async_trait]
pub trait BuryWebhookMessage: Send + Sync {
    /// The message's body as it was, with the reason beside it.
    async fn bury_message(&self, body: &str, reason: &str) -> Result<(), PortError>;
}
