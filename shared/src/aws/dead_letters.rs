//! The queue of messages that a person must look at.

use async_trait::async_trait;
use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::MessageAttributeValue;

use super::failure::port_error;
use crate::ports::{DeadLetter, PortError};

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
        let reason = MessageAttributeValue::builder()
            .data_type("String")
            .string_value(fit_for_sqs(reason))
            .build()
            .map_err(|error| PortError::Broken(error.to_string()))?;
        self.client
            .send_message()
            .queue_url(&self.url)
            .message_body(body)
            .message_attributes("reason", reason)
            .send()
            .await
            .map(|_| ())
            .map_err(|error| port_error(&error))
    }
}

/// SQS refuses most control characters and empty values, and a reason need not be long.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html>
fn fit_for_sqs(reason: &str) -> String {
    let text: String = reason
        .chars()
        .map(
            |character| {
                if character.is_control() || matches!(character, '\u{fffe}' | '\u{ffff}') { ' ' } else { character }
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
