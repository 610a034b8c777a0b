//! A batch of messages in, the list of those that come back out. One subject's trouble is never another's.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use futures::FutureExt as _;
use futures::future::join_all;
use lambda_runtime::Error;
use parceltrack::domain::{DomainEvent, EventMessage, ResendWish, Subject, parse_event_message};
use tracing::Instrument as _;

use crate::{EARLY_PAUSE, FanOut, Told};

/// One message, as the queue delivered it.
struct Message {
    id: String,
    receipt_handle: Option<String>,
    body: String,
    receives: u32,
}

impl From<SqsMessage> for Message {
    fn from(message: SqsMessage) -> Self {
        let receives = message.attributes.get("ApproximateReceiveCount").and_then(|count| count.parse().ok());
        Self {
            id: message.message_id.unwrap_or_default(),
            receipt_handle: message.receipt_handle,
            body: message.body.unwrap_or_default(),
            receives: receives.unwrap_or(1),
        }
    }
}

/// Works on a batch: different subjects side by side, the events of one in their order.
pub async fn handle(fan_out: &FanOut, event: SqsEvent) -> Result<SqsBatchResponse, Error> {
    let mut subjects: HashMap<Subject, Vec<(Box<DomainEvent>, Message)>> = HashMap::new();
    let (mut wishes, mut unreadable) = (Vec::new(), Vec::new());
    for message in event.records.into_iter().map(Message::from) {
        match parse_event_message(&message.body) {
            Ok(EventMessage::Event(event)) => subjects.entry(event.subject()).or_default().push((event, message)),
            Ok(EventMessage::Resend(wish)) => wishes.push((wish, message)),
            Err(error) => unreadable.push((error.to_string(), message)),
        }
    }
    let (stories, wishes, unreadable) = tokio::join!(
        join_all(subjects.into_values().map(|events| story(fan_out, events))),
        join_all(wishes.into_iter().map(|(wish, message)| wished(fan_out, wish, message))),
        join_all(unreadable.into_iter().map(|(reason, message)| buried(fan_out, reason, message))),
    );
    let failed: Vec<String> =
        stories.into_iter().flatten().chain(wishes.into_iter().chain(unreadable).flatten()).collect();
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

/// The events of one subject, and the ids of the messages that must come back.
async fn story(fan_out: &FanOut, mut events: Vec<(Box<DomainEvent>, Message)>) -> Vec<String> {
    events.sort_by_key(|(event, _)| event.sequence);
    let mut back = Vec::new();
    for (event, message) in events {
        let span = tracing::info_span!("event", requestId = event.correlation_id.as_str(), parcel = %event.parcel_id);
        let telling = AssertUnwindSafe(fan_out.tell(&event, message.receives)).catch_unwind();
        match telling.instrument(span).await {
            Ok(Ok(Told::Told)) => {}
            Ok(Ok(Told::TooEarly)) => {
                if let Some(handle) = &message.receipt_handle
                    && let Err(error) = fan_out.events.postpone_event(handle, EARLY_PAUSE).await
                {
                    // It comes back later, by its visibility.
                    tracing::warn!(event = "event_not_postponed", %error);
                }
                back.push(message.id);
            }
            Ok(Err(error)) => {
                tracing::warn!(event = "event_not_fanned_out", %error);
                back.push(message.id);
            }
            Err(_) => {
                tracing::error!(event = "record_panicked");
                back.push(message.id);
            }
        }
    }
    back
}

async fn wished(fan_out: &FanOut, wish: ResendWish, message: Message) -> Option<String> {
    match fan_out.resend(&wish).await {
        Ok(()) => None,
        Err(error) => {
            tracing::warn!(event = "resend_failed", webhook = %wish.webhook.webhook_id, %error);
            Some(message.id)
        }
    }
}

async fn buried(fan_out: &FanOut, reason: String, message: Message) -> Option<String> {
    match fan_out.dead_letters.bury_message(&message.body, &reason).await {
        Ok(()) => {
            tracing::error!(event = "event_buried");
            None
        }
        Err(error) => {
            tracing::error!(event = "event_not_buried", %error);
            Some(message.id)
        }
    }
}
