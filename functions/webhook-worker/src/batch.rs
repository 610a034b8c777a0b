//! A batch of tickets in, the list of those that come back out. One record's trouble is never another's.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, SystemTime};

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use futures::FutureExt as _;
use futures::future::join_all;
use lambda_runtime::{Context, Error};
use parceltrack::domain::{ConfirmationTicket, WebhookKey, WebhookTicket};
use tokio::time::{Instant, timeout_at};
use tracing::Instrument as _;

use crate::work::{Lane, WebhookWorker};

/// So long before Lambda would kill the process, what is not at its end is left where it is, as a kill would leave it: so the
/// batch is answered, and what the others have done need not be delivered again.
const TIME_TO_ANSWER: Duration = Duration::from_millis(500);

/// What becomes of a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The queue may delete it.
    Acknowledge,
    /// It comes back after this long.
    ReturnAfter(Duration),
    /// It comes back when its visibility is over.
    ReturnByVisibility,
}

/// Works on a batch: endpoints side by side, the tickets of one one after another.
pub async fn handle(worker: &WebhookWorker, event: SqsEvent, context: &Context) -> Result<SqsBatchResponse, Error> {
    let left = context.deadline().duration_since(SystemTime::now()).unwrap_or_default();
    let end = Instant::now() + left.saturating_sub(TIME_TO_ANSWER);
    let mut lanes: HashMap<WebhookKey, Vec<(WebhookTicket, SqsMessage)>> = HashMap::new();
    let (mut confirmations, mut unreadable) = (Vec::new(), Vec::new());
    for message in event.records {
        match WebhookTicket::parse(message.body.as_deref().unwrap_or_default()) {
            Ok(ticket) => lanes.entry(ticket.webhook.clone()).or_default().push((ticket, message)),
            Err(error) => match ConfirmationTicket::parse(message.body.as_deref().unwrap_or_default()) {
                Ok(ticket) => confirmations.push((ticket, message)),
                Err(_) => unreadable.push((error.to_string(), message)),
            },
        }
    }
    let (lanes, confirmations, unreadable) = tokio::join!(
        join_all(lanes.into_iter().map(|(webhook, tickets)| lane(worker, webhook, tickets, end))),
        join_all(confirmations.into_iter().map(|(ticket, message)| confirm(worker, ticket, message, end))),
        join_all(unreadable.into_iter().map(|(reason, message)| unread(worker, reason, message))),
    );
    let alone = confirmations.into_iter().chain(unreadable).flatten();
    let failed: Vec<String> = lanes.into_iter().flatten().chain(alone).collect();
    // The queue knows its messages by id alone. Without one, only the whole batch can be reported.
    if failed.iter().any(String::is_empty) {
        return Err("a record without a messageId failed".into());
    }
    let mut response = SqsBatchResponse::default();
    for id in failed {
        response.add_failure(id);
    }
    Ok(response)
}

/// The tickets of one endpoint; the ids of the messages that must come back.
async fn lane(
    worker: &WebhookWorker,
    webhook: WebhookKey,
    tickets: Vec<(WebhookTicket, SqsMessage)>,
    end: Instant,
) -> Vec<String> {
    let mut lane = Lane::until(end);
    let mut back = Vec::new();
    let last = tickets.len().saturating_sub(1);
    for (place, (ticket, message)) in tickets.into_iter().enumerate() {
        lane.goes_on = place < last;
        match one(worker, &ticket, &message, &mut lane).await {
            Verdict::Acknowledge => {}
            Verdict::ReturnByVisibility => back.push((None, message)),
            Verdict::ReturnAfter(delay) => back.push((Some(delay), message)),
        }
    }
    // What is not done in time is done by itself: the slot's lease ends, and so does a message's visibility.
    timeout_at(end, worker.leave(&webhook, lane)).await.ok();
    join_all(back.into_iter().map(async |(delay, message)| {
        if let (Some(delay), Some(handle)) = (delay, &message.receipt_handle) {
            timeout_at(end, worker.queue.postpone_ticket(handle, delay)).await.ok();
        }
        message.message_id.unwrap_or_default()
    }))
    .await
}

async fn one(worker: &WebhookWorker, ticket: &WebhookTicket, message: &SqsMessage, lane: &mut Lane) -> Verdict {
    let receives = message.attributes.get("ApproximateReceiveCount").and_then(|count| count.parse().ok()).unwrap_or(1);
    let (webhook, delivery) = (ticket.webhook.webhook_id, ticket.delivery_id);
    let span = tracing::info_span!("delivery", %webhook, %delivery);
    let end = lane.end;
    let work = AssertUnwindSafe(worker.deal_with(ticket, receives, lane)).catch_unwind();
    match timeout_at(end, work.instrument(span)).await {
        Ok(Ok(verdict)) => verdict,
        Ok(Err(_)) => {
            tracing::error!(event = "record_panicked");
            Verdict::ReturnByVisibility
        }
        // The lease runs out, and then it is due.
        Err(_) => Verdict::Acknowledge,
    }
}

/// A contact that is to be asked; the message's id if it must come back.
async fn confirm(
    worker: &WebhookWorker,
    ticket: ConfirmationTicket,
    message: SqsMessage,
    end: Instant,
) -> Option<String> {
    let span = tracing::info_span!("confirmation", webhook = %ticket.confirm.webhook_id);
    let work = AssertUnwindSafe(worker.confirm(&ticket)).catch_unwind().instrument(span);
    match timeout_at(end, work).await {
        Ok(Ok(Verdict::Acknowledge)) => None,
        _ => Some(message.message_id.unwrap_or_default()),
    }
}

/// A message that nobody can read; its id if it must come back.
async fn unread(worker: &WebhookWorker, reason: String, message: SqsMessage) -> Option<String> {
    match worker.dead_letters.bury_message(&message.body.unwrap_or_default(), &reason).await {
        Ok(()) => {
            tracing::error!(event = "ticket_buried");
            None
        }
        Err(error) => {
            tracing::error!(event = "ticket_not_buried", %error);
            Some(message.message_id.unwrap_or_default())
        }
    }
}
