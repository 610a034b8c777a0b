//! A batch of tickets in, the list of those that come back out. One record's trouble is never another's.

use std::panic::AssertUnwindSafe;
use std::time::{Duration, SystemTime};

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use futures::FutureExt as _;
use futures::future::join_all;
use lambda_runtime::{Context, Error};
use parceltrack::domain::WebhookTicket;
use tokio::time::{Instant, timeout_at};
use tracing::Instrument as _;

use crate::work::WebhookWorker;

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

/// Works on a batch, all tickets side by side.
pub async fn handle(worker: &WebhookWorker, event: SqsEvent, context: &Context) -> Result<SqsBatchResponse, Error> {
    let left = context.deadline().duration_since(SystemTime::now()).unwrap_or_default();
    let end = Instant::now() + left.saturating_sub(TIME_TO_ANSWER);
    let failed = join_all(event.records.into_iter().map(|message| one(worker, message, end))).await;
    let failed: Vec<String> = failed.into_iter().flatten().collect();
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

/// One message; its id if it must come back.
async fn one(worker: &WebhookWorker, message: SqsMessage, end: Instant) -> Option<String> {
    let receives = message.attributes.get("ApproximateReceiveCount").and_then(|count| count.parse().ok()).unwrap_or(1);
    let body = message.body.unwrap_or_default();
    let verdict = match WebhookTicket::parse(&body) {
        Ok(ticket) => {
            let (webhook, delivery) = (ticket.webhook.webhook_id, ticket.delivery_id);
            let span = tracing::info_span!("delivery", %webhook, %delivery);
            let work = AssertUnwindSafe(worker.deal_with(&ticket, receives)).catch_unwind();
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
        Err(error) => bury(worker, &body, &error.to_string()).await,
    };
    match verdict {
        Verdict::Acknowledge => return None,
        Verdict::ReturnByVisibility => {}
        Verdict::ReturnAfter(delay) => {
            if let Some(handle) = &message.receipt_handle {
                // What is not postponed in time comes back later, by its visibility.
                timeout_at(end, worker.queue.postpone_ticket(handle, delay)).await.ok();
            }
        }
    }
    Some(message.message_id.unwrap_or_default())
}

async fn bury(worker: &WebhookWorker, body: &str, reason: &str) -> Verdict {
    match worker.dead_letters.bury_message(body, reason).await {
        Ok(()) => {
            tracing::error!(event = "ticket_buried");
            Verdict::Acknowledge
        }
        Err(error) => {
            tracing::error!(event = "ticket_not_buried", %error);
            Verdict::ReturnByVisibility
        }
    }
}
