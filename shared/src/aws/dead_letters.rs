//! The queue of messages that a person must look at.

use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::{Message, MessageAttributeValue, MessageSystemAttributeName};
use uuid::Uuid;

use super::failure::port_error;
use super::queue_depth::queue_depth;
use crate::domain::{LetterId, Timestamp, moves_text};
use crate::ports::{BuriedTicket, DeadLetter, MeasureQueue, PortError, QueueDepth, TakeDeadLetters};

/// The message attribute that names a dead letter. A redrive, which makes a new message of it, keeps its attributes.
pub const LETTER_ATTRIBUTE: &str = "letter";

const REASON_ATTRIBUTE: &str = "reason";

/// How long one look into the queue waits: without waiting, SQS asks only some of its servers.
const LOOK: i32 = 1;

/// How many looks in a row must find nothing before the queue counts as empty.
const EMPTY_LOOKS: u32 = 2;

/// The dead-letter queue, as the worker writes to it when it knows the reason. SQS moves messages there too, but mute.
#[derive(Clone, Debug)]
pub struct DeadLetterQueue {
    client: Client,
    url: String,
}

impl DeadLetterQueue {
    /// The queue at this URL.
    #[must_use]
    pub fn new(client: Client, url: String) -> Self {
        Self { client, url }
    }
}

#[async_trait]
impl DeadLetter for DeadLetterQueue {
    async fn bury(&self, body: &str, reason: &str) -> Result<(), PortError> {
        let text = |value: String| {
            MessageAttributeValue::builder()
                .data_type("String")
                .string_value(value)
                .build()
                .map_err(|error| PortError::Broken(error.to_string()))
        };
        self.client
            .send_message()
            .queue_url(&self.url)
            .message_body(body)
            .message_attributes(REASON_ATTRIBUTE, text(fit_for_sqs(reason))?)
            .message_attributes(LETTER_ATTRIBUTE, text(Uuid::new_v4().to_string())?)
            .send()
            .await
            .map(|_| ())
            .map_err(|error| port_error(&error))
    }
}

#[async_trait]
impl TakeDeadLetters for DeadLetterQueue {
    async fn take(&self, hidden_for: Duration) -> Result<Vec<BuriedTicket>, PortError> {
        for _ in 0..EMPTY_LOOKS {
            let answer = self
                .client
                .receive_message()
                .queue_url(&self.url)
                .max_number_of_messages(10)
                .visibility_timeout(i32::try_from(hidden_for.as_secs()).unwrap_or(i32::MAX))
                .wait_time_seconds(LOOK)
                .message_attribute_names("All")
                .message_system_attribute_names(MessageSystemAttributeName::SentTimestamp)
                .send()
                .await
                .map_err(|error| port_error(&error))?;
            let messages = answer.messages.unwrap_or_default();
            if !messages.is_empty() {
                return Ok(messages.into_iter().map(buried).collect());
            }
        }
        Ok(vec![])
    }

    async fn put_back(&self, ticket: &BuriedTicket) -> Result<(), PortError> {
        self.client
            .change_message_visibility()
            .queue_url(&self.url)
            .receipt_handle(&ticket.receipt_handle)
            .visibility_timeout(0)
            .send()
            .await
            .map(|_| ())
            .map_err(|error| port_error(&error))
    }

    async fn remove(&self, ticket: &BuriedTicket) -> Result<(), PortError> {
        self.client
            .delete_message()
            .queue_url(&self.url)
            .receipt_handle(&ticket.receipt_handle)
            .send()
            .await
            .map(|_| ())
            .map_err(|error| port_error(&error))
    }
}

#[async_trait]
impl MeasureQueue for DeadLetterQueue {
    async fn depth(&self) -> Result<QueueDepth, PortError> {
        queue_depth(&self.client, &self.url).await
    }
}

fn buried(message: Message) -> BuriedTicket {
    let attribute = |name| {
        let attributes = message.message_attributes.as_ref();
        attributes.and_then(|attributes| attributes.get(name)?.string_value.clone())
    };
    let sent = message
        .attributes
        .as_ref()
        .and_then(|attributes| attributes.get(&MessageSystemAttributeName::SentTimestamp)?.parse().ok());
    BuriedTicket {
        // What SQS itself gave up has no name of ours, but it has never been through a redrive of ours either.
        letter: LetterId(attribute(LETTER_ATTRIBUTE).unwrap_or_else(|| message.message_id.clone().unwrap_or_default())),
        reason: attribute(REASON_ATTRIBUTE),
        since: Timestamp::from_millis(sent.unwrap_or_default()),
        body: message.body.unwrap_or_default(),
        receipt_handle: message.receipt_handle.unwrap_or_default(),
    }
}

/// SQS refuses most control characters and empty values, and a reason need not be long.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html>
fn fit_for_sqs(reason: &str) -> String {
    let text: String = reason
        .chars()
        .map(
            |character| {
                if moves_text(character) || matches!(character, '\u{fffe}' | '\u{ffff}') { ' ' } else { character }
            },
        )
        .take(1000)
        .collect();
    if text.trim().is_empty() { "unknown".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_made_fit_for_a_message_attribute() {
        assert_eq!(fit_for_sqs("550 no such\r\nuser\u{0}"), "550 no such  user ");
        assert_eq!(fit_for_sqs(""), "unknown");
        assert_eq!(fit_for_sqs(&"é".repeat(5000)).chars().count(), 1000);
    }
}
