//! The two queues of webhooks: events that come from the bus, and tickets of deliveries.

use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::SendMessageBatchRequestEntry;

use super::dead_letters::DeadLetterQueue;
use super::failure::port_error;
use crate::domain::{ConfirmationTicket, ResendWish, WebhookTicket};
use crate::ports::{
    AskForConfirmation, BuryWebhookMessage, DeadLetter as _, PortError, PostponeWebhookEvent, PostponeWebhookTicket,
    SendResendWish, SendWebhookTicket, SendWebhookTickets,
};

/// Rounded up, as SQS counts.
fn whole_seconds(delay: Duration) -> i32 {
    i32::try_from(delay.as_millis().div_ceil(1000)).unwrap_or(i32::MAX)
}

async fn hide(client: &Client, url: &str, receipt_handle: &str, delay: Duration) -> Result<(), PortError> {
    client
        .change_message_visibility()
        .queue_url(url)
        .receipt_handle(receipt_handle)
        .visibility_timeout(whole_seconds(delay))
        .send()
        .await
        .map(|_| ())
        .map_err(|error| port_error(&error))
}

/// The queue of tickets of deliveries. Each webhook is a message group of its own: so SQS keeps one with a long backlog
/// from keeping the others waiting (fair queues).
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html>
#[derive(Clone, Debug)]
pub struct WebhookTicketQueue {
    client: Client,
    url: String,
}

impl WebhookTicketQueue {
    /// The queue at this URL.
    #[must_use]
    pub fn new(client: Client, url: String) -> Self {
        Self { client, url }
    }
}

#[async_trait]
impl SendWebhookTicket for WebhookTicketQueue {
    async fn send(&self, ticket: &WebhookTicket, delay: Duration) -> Result<(), PortError> {
        self.client
            .send_message()
            .queue_url(&self.url)
            .message_body(ticket.to_body())
            .message_group_id(ticket.webhook.webhook_id.to_string())
            .delay_seconds(whole_seconds(delay))
            .send()
            .await
            .map(|_| ())
            .map_err(|error| port_error(&error))
    }
}

#[async_trait]
impl AskForConfirmation for WebhookTicketQueue {
    async fn ask_for(&self, ticket: &ConfirmationTicket, delay: Duration) -> Result<(), PortError> {
        self.client
            .send_message()
            .queue_url(&self.url)
            .message_body(ticket.to_body())
            .message_group_id(ticket.confirm.webhook_id.to_string())
            .delay_seconds(whole_seconds(delay))
            .send()
            .await
            .map(|_| ())
            .map_err(|error| port_error(&error))
    }
}

#[async_trait]
impl SendWebhookTickets for WebhookTicketQueue {
    async fn send_batch(&self, tickets: &[WebhookTicket]) -> Result<Vec<WebhookTicket>, PortError> {
        let entries = tickets
            .iter()
            .enumerate()
            .map(|(index, ticket)| {
                SendMessageBatchRequestEntry::builder()
                    .id(index.to_string())
                    .message_body(ticket.to_body())
                    .message_group_id(ticket.webhook.webhook_id.to_string())
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
        // What the answer does not name as sent counts as refused: a second ticket is harmless.
        let sent: Vec<&str> =
            answer.successful().iter().map(aws_sdk_sqs::types::SendMessageBatchResultEntry::id).collect();
        let refused = tickets.iter().enumerate().filter(|(index, _)| !sent.contains(&index.to_string().as_str()));
        Ok(refused.map(|(_, ticket)| ticket.clone()).collect())
    }
}

#[async_trait]
impl PostponeWebhookTicket for WebhookTicketQueue {
    async fn postpone_ticket(&self, receipt_handle: &str, delay: Duration) -> Result<(), PortError> {
        hide(&self.client, &self.url, receipt_handle, delay).await
    }
}

/// The queue of events for the fan-out; also of wishes to send again.
#[derive(Clone, Debug)]
pub struct WebhookEventQueue {
    client: Client,
    url: String,
}

impl WebhookEventQueue {
    /// The queue at this URL.
    #[must_use]
    pub fn new(client: Client, url: String) -> Self {
        Self { client, url }
    }
}

#[async_trait]
impl PostponeWebhookEvent for WebhookEventQueue {
    async fn postpone_event(&self, receipt_handle: &str, delay: Duration) -> Result<(), PortError> {
        hide(&self.client, &self.url, receipt_handle, delay).await
    }
}

#[async_trait]
impl SendResendWish for WebhookEventQueue {
    async fn wish(&self, wish: &ResendWish) -> Result<(), PortError> {
        let message = self.client.send_message().queue_url(&self.url).message_body(wish.to_body());
        message.send().await.map(|_| ()).map_err(|error| port_error(&error))
    }
}

#[async_trait]
impl BuryWebhookMessage for DeadLetterQueue {
    async fn bury_message(&self, body: &str, reason: &str) -> Result<(), PortError> {
        self.bury(body, reason).await
    }
}
