//! One ticket: what is to be done with its delivery, and doing it.
//!
//! The rule behind every branch: a ticket is only a hint. A pending delivery has a due time in the table, and the relay
//! brings a new ticket then. So on its last receive a ticket is never handed back to the queue, which would bury it.

use std::sync::Arc;
use std::time::Duration;

use parceltrack::domain::{
    AttemptEnd, CallError, DeliveryStep, FIRST_DUE, LONGEST_TICKET_DELAY, Lease, LeaseHolder, SwitchOffReason,
    Timestamp, Webhook, WebhookAttempt, WebhookDelivery, WebhookDeliveryState, WebhookKey, WebhookTicket,
    next_delivery_step, retry_delay, webhook_retry_wait,
};
use parceltrack::ports::{
    AfterCall, AskForConfirmation, BoundConfirmations, BoundNotices, BuryWebhookMessage, CallSlot, Clock,
    DeliveryOutcome, Held, PortError, PostponeWebhookTicket, ReadContacts, ReadSuppressions, ReadWebhookDeliveries,
    ReadWebhooks, SendNotice, SendWebhookTicket, SlotWish, StepTaken, WorkOnWebhookDeliveries, WorkOnWebhooks,
};
use parceltrack::telemetry::{self, Metric, WebhookFailure};
use tokio::time::Instant;
use uuid::Uuid;

use crate::batch::Verdict;
use crate::call::{CALL_TIMEOUT, CallEndpoint, EndpointCall};
use crate::settings::Rules;

/// How long a delivery waits at least that stands behind an earlier one. That one's end brings a ticket much sooner.
const BEHIND: Duration = Duration::from_mins(1);

/// How long a delivery waits whose endpoint is called as often as it may be, once its ticket has come for the last time.
const BUSY: Duration = Duration::from_secs(15);

/// So long before its end a batch begins no further call: what the call may take, and the writes after it.
const TIME_TO_CALL: Duration = CALL_TIMEOUT.saturating_add(Duration::from_secs(4));

/// What rested together comes back spread over so many seconds.
const AFTER_REST_SECONDS: f64 = 10.0;

/// The calls of one endpoint that one batch makes: one after another by one slot, until one fails. So a slot brings a batch's
/// tickets as far as a call each, and not one of them while the others go round by the queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lane {
    state: LaneState,
    /// When the batch must be answered.
    pub(crate) end: Instant,
    /// Whether another ticket of the batch comes after this one.
    pub(crate) goes_on: bool,
}

#[derive(Clone, Copy, Debug)]
enum LaneState {
    /// Nothing called yet.
    Fresh,
    /// The slot is ours, and this is what deliveries are claimed with.
    Open(CallSlot, Lease),
    /// No slot was free, or a call failed.
    Closed,
}

impl Lane {
    /// One of a batch that must be answered then.
    pub(crate) const fn until(end: Instant) -> Self {
        Self { state: LaneState::Fresh, end, goes_on: true }
    }

    fn has_time_to_call(&self) -> bool {
        self.end.saturating_duration_since(Instant::now()) >= TIME_TO_CALL
    }
}

/// The worker: its ports.
pub struct WebhookWorker {
    /// Reads webhooks.
    pub webhooks: Arc<dyn ReadWebhooks>,
    /// Keeps how endpoints do.
    pub health: Arc<dyn WorkOnWebhooks>,
    /// Reads deliveries.
    pub deliveries: Arc<dyn ReadWebhookDeliveries>,
    /// Works on them.
    pub work: Arc<dyn WorkOnWebhookDeliveries>,
    /// The endpoints out there.
    pub endpoints: Arc<dyn CallEndpoint>,
    /// Puts tickets on the queue.
    pub tickets: Arc<dyn SendWebhookTicket>,
    /// Hides tickets on the queue.
    pub queue: Arc<dyn PostponeWebhookTicket>,
    /// Puts aside what nobody can read.
    pub dead_letters: Arc<dyn BuryWebhookMessage>,
    /// Bounds how many mails they get, and how fast.
    pub bounds: Arc<dyn BoundNotices>,
    /// Knows who has confirmed to be a contact.
    pub contacts: Arc<dyn ReadContacts>,
    /// Bounds how often others are asked.
    pub confirmations: Arc<dyn BoundConfirmations>,
    /// Has them asked.
    pub ask: Arc<dyn AskForConfirmation>,
    /// Tells merchants.
    pub notices: Arc<dyn SendNotice>,
    /// Knows who gets no mail any more.
    pub suppressions: Arc<dyn ReadSuppressions>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// The numbers to keep to.
    pub rules: Rules,
}

impl WebhookWorker {
    /// Brings the ticket's delivery as far as it gets.
    pub(crate) async fn deal_with(&self, ticket: &WebhookTicket, receives: u32, lane: &mut Lane) -> Verdict {
        match self.step(ticket, receives, lane).await {
            Ok(verdict) => verdict,
            Err(error) => {
                tracing::warn!(event = "delivery_not_begun", %error);
                self.unless_last(receives)
            }
        }
    }

    /// Gives a lane's slot back. If that fails, it is free when its lease is over.
    pub(crate) async fn leave(&self, key: &WebhookKey, lane: Lane) {
        if let LaneState::Open(slot, _) = lane.state
            && let Err(error) = self.health.release_slot(key, slot).await
        {
            tracing::warn!(event = "slot_not_released", %error);
        }
    }

    /// Back to the queue, but never from the last receive: the due time brings another ticket.
    fn unless_last(&self, receives: u32) -> Verdict {
        if receives >= self.rules.max_receives {
            Verdict::Acknowledge
        } else {
            Verdict::ReturnAfter(retry_delay(receives, fastrand::f64()))
        }
    }

    async fn step(&self, ticket: &WebhookTicket, receives: u32, lane: &mut Lane) -> Result<Verdict, PortError> {
        let (id, key) = (ticket.delivery_id, &ticket.webhook);
        let (delivery, webhook, earlier) = tokio::try_join!(
            self.deliveries.delivery(key.webhook_id, id),
            self.webhooks.webhook(key),
            self.work.earlier(key.webhook_id, id),
        )?;
        let Some(delivery) = delivery else {
            // Written before its ticket was, so it was there and is swept away.
            tracing::warn!(event = "delivery_unknown");
            return Ok(Verdict::Acknowledge);
        };
        let now = self.clock.now();
        match next_delivery_step(&delivery, webhook.as_ref(), earlier.map(|(_, state)| state), now) {
            DeliveryStep::Call => match webhook {
                Some(webhook) => self.attempt(&delivery, &webhook, receives, lane, now).await,
                None => self.withdraw(&delivery, None, now).await,
            },
            DeliveryStep::Withdraw => self.withdraw(&delivery, webhook.as_ref(), now).await,
            DeliveryStep::Ended => {
                tracing::info!(event = "repeat_skipped");
                // Its worker may have died right after its end.
                self.wake_next(&delivery, now).await?;
                Ok(Verdict::Acknowledge)
            }
            DeliveryStep::HeldByAnother | DeliveryStep::TooEarly => Ok(Verdict::Acknowledge),
            DeliveryStep::Behind { due } => {
                self.work.put_off(&delivery, None, due.max(now) + BEHIND).await?;
                Ok(Verdict::Acknowledge)
            }
            DeliveryStep::Resting { until } => {
                let next = until + Duration::from_secs_f64(fastrand::f64() * AFTER_REST_SECONDS);
                self.work.put_off(&delivery, Some(next), next).await?;
                Ok(Verdict::Acknowledge)
            }
        }
    }

    /// Takes the endpoint's slot, unless the lane has it, and the delivery's lease, and calls.
    async fn attempt(
        &self,
        delivery: &WebhookDelivery,
        webhook: &Webhook,
        receives: u32,
        lane: &mut Lane,
        now: Timestamp,
    ) -> Result<Verdict, PortError> {
        let key = &delivery.webhook;
        if !lane.has_time_to_call() {
            return self.busy(delivery, receives, now).await;
        }
        let (slot, lease) = match lane.state {
            LaneState::Open(slot, lease) => (slot, lease),
            LaneState::Closed => return self.busy(delivery, receives, now).await,
            LaneState::Fresh => {
                let lease = Lease { holder: LeaseHolder(Uuid::new_v4()), until: now + self.rules.lease };
                match self.health.take_slot(key, webhook.health.calls_at_once(), lease, now).await? {
                    SlotWish::Taken(slot) => {
                        lane.state = LaneState::Open(slot, lease);
                        (slot, lease)
                    }
                    SlotWish::AllTaken => {
                        lane.state = LaneState::Closed;
                        return self.busy(delivery, receives, now).await;
                    }
                    // It was active a moment ago.
                    SlotWish::NotActive => return Ok(self.unless_last(receives)),
                }
            }
        };
        if self.work.claim(delivery, lease, now).await? == Held::Lost {
            return Ok(Verdict::Acknowledge);
        }
        let attempt = self.call(delivery, webhook).await;
        let then = if lane.goes_on && attempt.end.is_success() {
            AfterCall::Keep
        } else {
            lane.state = LaneState::Closed;
            AfterCall::GiveBack
        };
        self.record(delivery, webhook, slot, attempt, then).await?;
        Ok(Verdict::Acknowledge)
    }

    /// The endpoint is called as often as it may be, or not at all for a moment.
    async fn busy(&self, delivery: &WebhookDelivery, receives: u32, now: Timestamp) -> Result<Verdict, PortError> {
        let verdict = self.unless_last(receives);
        if verdict == Verdict::Acknowledge {
            self.work.put_off(delivery, None, now + BUSY).await?;
        }
        Ok(verdict)
    }

    async fn call(&self, delivery: &WebhookDelivery, webhook: &Webhook) -> WebhookAttempt {
        let (at, begin) = (self.clock.now(), Instant::now());
        let headers = [
            ("webhook-id", delivery.event_id.to_string()),
            ("webhook-timestamp", at.seconds().to_string()),
            ("webhook-signature", webhook.secrets.sign(delivery.event_id, at, &delivery.body)),
        ];
        let end = self.endpoints.call(EndpointCall { url: &webhook.url, headers, body: &delivery.body }).await;
        let duration_millis = u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX);
        match &end {
            AttemptEnd::Answered { status, .. } => tracing::info!(event = "endpoint_answered", status, duration_millis),
            AttemptEnd::Unanswered { error } => {
                tracing::info!(event = "endpoint_did_not_answer", kind = ?error, duration_millis);
            }
        }
        WebhookAttempt { at, duration_millis, end }
    }

    /// Writes down how a call went, first of the delivery and then of the endpoint. If the first write fails, the event
    /// may come to the endpoint once more, with the same id.
    async fn record(
        &self,
        delivery: &WebhookDelivery,
        webhook: &Webhook,
        slot: CallSlot,
        attempt: WebhookAttempt,
        then: AfterCall,
    ) -> Result<(), PortError> {
        let (key, now) = (&delivery.webhook, self.clock.now());
        if attempt.end.is_success() {
            let outcome = DeliveryOutcome::Delivered;
            let held = self.work.let_go(delivery, slot.holder, outcome, attempt, now).await?;
            self.health.succeeded(key, slot, then, now).await?;
            if held == Held::Yes {
                telemetry::record(Metric::WebhooksDelivered(now.since(delivery.created_at)), now);
                self.wake_next(delivery, now).await?;
            }
            return Ok(());
        }
        telemetry::record(Metric::WebhookCallsFailed(failure(&attempt.end)), now);
        let health = webhook.health.after_failure(now);
        let switch_off = if attempt.end.is_gone() {
            Some(SwitchOffReason::Gone)
        } else {
            health.failed_for_days(now).then_some(SwitchOffReason::FailedForDays)
        };
        if let Some(reason) = switch_off
            && self.health.switch_off(key, reason, now).await? == StepTaken::Moved
        {
            tracing::warn!(event = "webhook_switched_off", ?reason);
            telemetry::record(Metric::WebhooksSwitchedOff, now);
        }
        // Of a webhook that is switched off it stays pending for a moment: whoever withdraws it sees to the mail.
        let wait = match switch_off {
            Some(_) => Some(Duration::ZERO),
            None => webhook_retry_wait(delivery.failures + 1, fastrand::f64()),
        };
        let outcome = match wait {
            None => DeliveryOutcome::Failed,
            Some(wait) => {
                let next_attempt_at = now + wait;
                // A short wait is the queue's, and the relay looks after it; a long one is the relay's alone.
                let due = if wait <= LONGEST_TICKET_DELAY { next_attempt_at + FIRST_DUE } else { next_attempt_at };
                DeliveryOutcome::Retried { next_attempt_at, due }
            }
        };
        let held = self.work.let_go(delivery, slot.holder, outcome, attempt, now).await?;
        self.health.failed(key, slot, health).await?;
        if held == Held::Lost {
            return Ok(());
        }
        match wait {
            Some(wait) if wait <= LONGEST_TICKET_DELAY => {
                let ticket = WebhookTicket { webhook: key.clone(), delivery_id: delivery.id };
                self.send(&ticket, wait).await;
            }
            Some(_) => {}
            None => {
                tracing::warn!(event = "delivery_failed");
                telemetry::record(Metric::WebhookDeliveriesFailed, now);
                self.wake_next(delivery, now).await?;
            }
        }
        Ok(())
    }

    /// The next one of the same subject waits for this one's end, and is hurried now.
    pub(crate) async fn wake_next(&self, delivery: &WebhookDelivery, now: Timestamp) -> Result<(), PortError> {
        let key = &delivery.webhook;
        let next = self.work.later(key.webhook_id, delivery.id).await?;
        if let Some((id, WebhookDeliveryState::Pending { next_attempt_at, .. })) = next
            && next_attempt_at <= now
        {
            self.work.hurry(key.webhook_id, id, now + FIRST_DUE).await?;
            self.send(&WebhookTicket { webhook: key.clone(), delivery_id: id }, Duration::ZERO).await;
        }
        Ok(())
    }

    /// What the queue does not take, the relay brings.
    async fn send(&self, ticket: &WebhookTicket, delay: Duration) {
        if let Err(error) = self.tickets.send(ticket, delay).await {
            tracing::warn!(event = "ticket_left_to_relay", %error);
        }
    }
}

fn failure(end: &AttemptEnd) -> WebhookFailure {
    match end {
        AttemptEnd::Answered { status: 300..=399, .. } => WebhookFailure::Redirected,
        AttemptEnd::Answered { status: 500.., .. } => WebhookFailure::ServerError,
        AttemptEnd::Answered { .. } => WebhookFailure::Refused,
        AttemptEnd::Unanswered { error } => match error {
            CallError::TimedOut => WebhookFailure::TimedOut,
            CallError::CouldNotResolve | CallError::AddressForbidden => WebhookFailure::BadAddress,
            CallError::CouldNotConnect | CallError::TlsFailed | CallError::ConnectionLost => WebhookFailure::Connection,
        },
    }
}
