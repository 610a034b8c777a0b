//! The fan-out: of each event on the bus it makes a delivery for each webhook that wants it, and puts tickets on the queue.
//!
//! Neither the bus nor the queue keeps events in order, so this does: each subject's events are numbered without gaps, and one
//! that comes too early goes back to the queue for a while. Each may come again without harm.

mod batch;
mod resend;

use std::sync::Arc;
use std::time::Duration;

use futures::future::try_join_all;
use parceltrack::domain::{
    DeliveryId, DeliverySubject, DomainEvent, FIRST_DUE, Occasion, Timestamp, Webhook, WebhookDelivery,
    WebhookDeliveryState, WebhookDeliveryStatus, WebhookEventType, WebhookTicket,
};
use parceltrack::ports::{
    BuryWebhookMessage, Clock, FollowSubjects, PortError, PostponeWebhookEvent, ReadWebhooks, RecordWebhookDeliveries,
    ReopenWebhookDeliveries, SendResendWish, SendWebhookTickets,
};
use parceltrack::telemetry::{self, Metric};

pub use batch::handle;

/// How many messages SQS takes in one call.
const BATCH: usize = 10;

/// How often an event that is too early is received before it is sent on all the same, and how long it is hidden each time:
/// ten seconds in all. Short, since the first event after a registration waits so long for those before it, which never come.
const EARLY_RECEIVES: u32 = 6;

/// See [`EARLY_RECEIVES`].
const EARLY_PAUSE: Duration = Duration::from_secs(2);

/// The function's ports.
pub struct FanOut {
    /// Knows who wants to hear.
    pub webhooks: Arc<dyn ReadWebhooks>,
    /// Makes deliveries.
    pub deliveries: Arc<dyn RecordWebhookDeliveries>,
    /// Begins them anew.
    pub reopening: Arc<dyn ReopenWebhookDeliveries>,
    /// Remembers how far each story has been told.
    pub subjects: Arc<dyn FollowSubjects>,
    /// Puts tickets on the queue of the worker.
    pub tickets: Arc<dyn SendWebhookTickets>,
    /// Hides what came too early.
    pub events: Arc<dyn PostponeWebhookEvent>,
    /// Sends a wish on to its next page.
    pub wishes: Arc<dyn SendResendWish>,
    /// Puts aside what nobody can read.
    pub dead_letters: Arc<dyn BuryWebhookMessage>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
}

/// What an event came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    /// Everybody who wants it will get it.
    Told,
    /// One before it has not come yet.
    TooEarly,
}

impl FanOut {
    /// Tells an event that was received for the `receives`-th time.
    async fn tell(&self, event: &DomainEvent, receives: u32) -> Result<Told, PortError> {
        let webhooks = self.webhooks.webhooks_of(&event.owner).await?;
        if webhooks.is_empty() {
            return Ok(Told::Told);
        }
        let subject = event.subject();
        let last = self.subjects.last_told(subject).await?;
        if event.sequence > last.unwrap_or(0) + 1 {
            if receives < EARLY_RECEIVES {
                return Ok(Told::TooEarly);
            }
            // One that nothing was told of was there before anybody wanted to hear.
            if last.is_some() {
                let now = self.clock.now();
                tracing::warn!(event = "event_out_of_order", subject = %subject, sequence = event.sequence, last);
                telemetry::record(Metric::WebhookEventsOutOfOrder, now);
            }
        }
        let now = self.clock.now();
        let body =
            serde_json::to_string(event).map_err(|_| PortError::Broken("an event that has no JSON".to_owned()))?;
        let wanting = webhooks.iter().filter(|webhook| webhook.event_types.contains(&event.happening.kind()));
        let deliveries: Vec<_> = wanting.map(|webhook| delivery(event, webhook, &body, now)).collect();
        // An earlier delivery of this message may have made them, so that what is there counts.
        let statuses = try_join_all(deliveries.iter().map(|delivery| self.deliveries.record(delivery))).await?;
        let pending = deliveries.iter().zip(statuses).filter(|(_, status)| *status == WebhookDeliveryStatus::Pending);
        let tickets: Vec<_> = pending
            .map(|(delivery, _)| WebhookTicket { webhook: delivery.webhook.clone(), delivery_id: delivery.id })
            .collect();
        tracing::info!(event = "event_fanned_out", subject = %subject, sequence = event.sequence, deliveries = deliveries.len());
        self.send(&tickets).await;
        self.subjects.told(subject, event.sequence, now).await?;
        Ok(Told::Told)
    }

    /// Sends tickets. What the queue does not take, the relay brings.
    async fn send(&self, tickets: &[WebhookTicket]) {
        for batch in tickets.chunks(BATCH) {
            match self.tickets.send_batch(batch).await {
                Ok(refused) if refused.is_empty() => {}
                Ok(refused) => tracing::warn!(event = "tickets_left_to_relay", count = refused.len()),
                Err(error) => tracing::warn!(event = "tickets_left_to_relay", count = batch.len(), %error),
            }
        }
    }
}

fn delivery(event: &DomainEvent, webhook: &Webhook, body: &str, now: Timestamp) -> WebhookDelivery {
    let state = if webhook.is_active() {
        WebhookDeliveryState::Pending { next_attempt_at: now, due: now + FIRST_DUE }
    } else {
        // Kept, so that it can be sent once the webhook is switched on.
        WebhookDeliveryState::Withdrawn { at: now }
    };
    WebhookDelivery {
        webhook: webhook.key(),
        id: DeliveryId { subject: DeliverySubject::Event(event.subject()), sequence: event.sequence },
        event_id: event.id.0,
        event_type: WebhookEventType::Event(event.happening.kind()),
        body: body.to_owned(),
        state,
        occasion: Occasion::Event,
        failures: 0,
        attempts: vec![],
        attempt_count: 0,
        lease: None,
        created_at: now,
    }
}
