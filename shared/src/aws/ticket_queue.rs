//! The queue that carries tickets from the API and the relay to the worker.

use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::{MessageAttributeValue, SendMessageBatchRequestEntry};

use super::failure::port_error;
use super::queue_depth::queue_depth;
use crate::domain::{OwnerId, RequestId, Ticket};
use crate::ports::{MeasureQueue, PortError, PostponeTicket, QueueDepth, SendTicket, SendTickets};

/// The message attribute that names the request which asked for a ticket. The body stays the ticket and nothing else.
pub const REQUEST_ATTRIBUTE: &str = "requestId";

/// The queue of tickets. Each merchant is a message group of its own: so SQS keeps one with a long backlog from keeping
/// the others waiting (fair queues).
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html>
#[derive(Clone, Debug)]
pub struct TicketQueue {
    client: Client,
    url: String,
}

impl TicketQueue {
    /// The queue at this URL.
    #[must_use]
    pub fn new(client: Client, url: String) -> Self {
        Self { client, url }
    }

    /// Opens a connection, so that the first ticket need not wait for it. Failure is left for that ticket to meet.
    pub async fn warm_up(&self) {
        if let Err(error) = self.depth().await {
            tracing::warn!(%error, "the queue of tickets did not answer at start");
        }
    }
}

#[async_trait]
impl SendTicket for TicketQueue {
    async fn send(&self, ticket: Ticket, owner: &OwnerId, cause: Option<&RequestId>) -> Result<(), PortError> {
        let mut message = self.client.send_message().queue_url(&self.url).message_body(ticket.to_body());
        message = message.message_group_id(owner.as_str());
        if let Some(cause) = cause {
            let value = MessageAttributeValue::builder().data_type("String").string_value(cause.as_str()).build();
            let value = value.map_err(|error| PortError::Broken(error.to_string()))?;
            message = message.message_attributes(REQUEST_ATTRIBUTE, value);
        }
        message.send().await.map(|_| ()).map_err(|error| port_error(&error))
    }
}

#[async_trait]
impl SendTickets for TicketQueue {
    async fn send_batch(&self, tickets: &[(Ticket, OwnerId)]) -> Result<Vec<Ticket>, PortError> {
        let entries = tickets
            .iter()
            .enumerate()
            .map(|(index, (ticket, owner))| {
                SendMessageBatchRequestEntry::builder()
                    .id(index.to_string())
                    .message_body(ticket.to_body())
                    .message_group_id(owner.as_str())
                    .build()
                    .map_err(|error| PortError::Broken(error.to_string()))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let answer = self
            .client
            .send_message_batch()
            .queue_url(&self.url)
            .set_entries(Some(entries))
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        // Ids that the answer does not name as sent count as failed: a second ticket is harmless, a lost one is not.
        let sent: Vec<&str> =
            answer.successful().iter().map(aws_sdk_sqs::types::SendMessageBatchResultEntry::id).collect();
        Ok(tickets
            .iter()
            .enumerate()
            .filter(|(index, _)| !sent.contains(&index.to_string().as_str()))
            .map(|(_, (ticket, _))| *ticket)
            .collect())
    }

    async fn waiting(&self) -> Result<u64, PortError> {
        Ok(self.depth().await?.waiting)
    }
}

#[async_trait]
impl PostponeTicket for TicketQueue {
    async fn postpone(&self, receipt_handle: &str, delay: Duration) -> Result<(), PortError> {
        let seconds = i32::try_from(delay.as_millis().div_ceil(1000)).unwrap_or(i32::MAX);
        self.client
            .change_message_visibility()
            .queue_url(&self.url)
            .receipt_handle(receipt_handle)
            .visibility_timeout(seconds)
            .send()
            .await
            .map(|_| ())
            .map_err(|error| port_error(&error))
    }
}

#[async_trait]
impl MeasureQueue for TicketQueue {
    async fn depth(&self) -> Result<QueueDepth, PortError> {
        queue_depth(&self.client, &self.url).await
    }
}
