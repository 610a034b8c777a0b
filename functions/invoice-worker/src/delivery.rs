//! A ticket as the queue delivered it, and what becomes of it.

use std::time::Duration;

use aws_lambda_events::event::sqs::SqsMessage;
use parceltrack::aws::{LETTER_ATTRIBUTE, REQUEST_ATTRIBUTE};
use parceltrack::domain::{LetterId, RequestId};

/// One message of a batch.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    /// What the answer calls it; empty if the event has none.
    pub(crate) message_id: String,
    /// What the queue calls this delivery of it.
    pub(crate) receipt_handle: Option<String>,
    /// As it was sent.
    pub(crate) body: String,
    /// How often it was delivered, this time included.
    pub(crate) receives: u32,
    /// The dead letter that it was, if it was redriven.
    pub(crate) letter: Option<LetterId>,
    /// The request that asked for it, if one did and says so.
    pub(crate) request: Option<RequestId>,
}

impl From<SqsMessage> for Delivery {
    fn from(message: SqsMessage) -> Self {
        let attribute = |name: &str| message.message_attributes.get(name).and_then(|value| value.string_value.clone());
        let letter = attribute(LETTER_ATTRIBUTE);
        let request = attribute(REQUEST_ATTRIBUTE).and_then(|request| request.parse().ok());
        let receives = message.attributes.get("ApproximateReceiveCount").and_then(|count| count.parse().ok());
        Self {
            message_id: message.message_id.unwrap_or_default(),
            receipt_handle: message.receipt_handle,
            body: message.body.unwrap_or_default(),
            receives: receives.unwrap_or(1),
            letter: letter.map(LetterId),
            request,
        }
    }
}

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The queue may delete it.
    Acknowledge,
    /// It comes back after this long.
    ReturnAfter(Duration),
    /// It comes back when its visibility is over.
    ReturnByVisibility,
    /// The queue may delete it, unless it is a dead letter that somebody redrove: that comes back after this long, and in the
    /// end among the dead letters, with its name and its reason.
    ReturnLettersAfter(Duration),
}
