//! Contacts of webhooks, who get one mail until they have said yes.

use std::time::Duration;

use async_trait::async_trait;

use super::PortError;
use crate::domain::{
    ConfirmationLink, ConfirmationTicket, Contact, ContactId, ContactToken, LinkSecret, Timestamp, Webhook,
};

/// Knows how far it has come with contacts (API, worker).
#[async_trait]
pub trait ReadContacts: Send + Sync {
    /// One that was never asked is one all the same.
    async fn contact(&self, id: ContactId) -> Result<Contact, PortError>;
}

/// Takes the yes of contacts (API).
#[async_trait]
pub trait ConfirmContacts: Send + Sync {
    /// Confirms, if the link is good. What the link was before.
    async fn confirm(&self, token: ContactToken, now: Timestamp) -> Result<ConfirmationLink, PortError>;
}

/// Bounds confirmations (worker).
#[async_trait]
pub trait BoundConfirmations: Send + Sync {
    /// Counts a confirmation for its address, its webhook and its owner, all of them or none. From then on its link is
    /// good. Whether it may be sent: not to who has confirmed, and not before a pause is over.
    async fn count_confirmation(
        &self,
        webhook: &Webhook,
        secret: LinkSecret,
        now: Timestamp,
    ) -> Result<bool, PortError>;

    /// Takes that back, as it was counted then, since the provider has surely not taken the mail.
    async fn not_sent(&self, webhook: &Webhook, secret: LinkSecret, then: Timestamp) -> Result<(), PortError>;
}

/// Asks for confirmations (API, worker).
#[async_trait]
pub trait AskForConfirmation: Send + Sync {
    /// Returns once the queue has it. Nobody gets it before `delay` is over.
    async fn ask_for(&self, ticket: &ConfirmationTicket, delay: Duration) -> Result<(), PortError>;
}
