//! The one mail that somebody gets who was named as a contact and has not said yes: would they like to be?

use std::time::Duration;

use parceltrack::domain::{ConfirmationTicket, ContactId, ContactToken, LinkSecret, Timestamp, Webhook};
use parceltrack::ports::{MailError, PortError};
use tokio::time::timeout;
use uuid::Uuid;

use crate::batch::Verdict;
use crate::notice;
use crate::switched_off::MAIL_TIMEOUT;
use crate::work::WebhookWorker;

/// When a confirmation is tried again that had no turn, or that the provider did not take.
const AGAIN: Duration = Duration::from_secs(20);

impl WebhookWorker {
    /// Sends a confirmation, if it may be sent. At most once: what may be out counts as sent.
    pub(crate) async fn confirm(&self, ticket: &ConfirmationTicket) -> Verdict {
        let again = match self.try_to_confirm(ticket).await {
            Ok(again) => again,
            Err(error) => {
                tracing::warn!(event = "confirmation_not_begun", %error);
                true
            }
        };
        // A new ticket, not this one once more, which would be a dead letter after a few turns of others.
        if again && let Err(error) = self.ask.ask_for(ticket, AGAIN).await {
            tracing::warn!(event = "confirmation_not_asked_for", %error);
            return Verdict::ReturnAfter(AGAIN);
        }
        Verdict::Acknowledge
    }

    /// Whether it is to be tried again.
    async fn try_to_confirm(&self, ticket: &ConfirmationTicket) -> Result<bool, PortError> {
        let Some(webhook) = self.webhooks.webhook(&ticket.confirm).await? else { return Ok(false) };
        let contact = self.contacts.contact(ContactId::of(&webhook.owner, &webhook.contact)).await?;
        let now = self.clock.now();
        if contact.confirmed_at.is_some()
            || contact.next_confirmation(now).is_some()
            || self.suppressions.suppression(&webhook.contact).await?.is_some()
        {
            return Ok(false);
        }
        let secret = LinkSecret(Uuid::new_v4());
        if !self.confirmations.count_confirmation(&webhook, secret, now).await? {
            tracing::info!(event = "confirmation_over_the_bounds");
            return Ok(false);
        }
        // Last, so that what is over the bounds takes no turn from others.
        if !self.has_turn().await? {
            self.confirmations.not_sent(&webhook, secret, now).await?;
            return Ok(true);
        }
        self.ask_by_mail(&webhook, secret, now).await
    }

    async fn ask_by_mail(&self, webhook: &Webhook, secret: LinkSecret, now: Timestamp) -> Result<bool, PortError> {
        let contact = ContactId::of(&webhook.owner, &webhook.contact);
        let link = format!("{}/c/{}", self.rules.public_url, ContactToken { contact, secret });
        match timeout(MAIL_TIMEOUT, self.notices.tell(&notice::confirmation(webhook, &link))).await {
            Ok(Err(MailError::PutOff(_) | MailError::Unavailable(_))) => {
                self.confirmations.not_sent(webhook, secret, now).await?;
                Ok(true)
            }
            // Lost is perhaps sent, and there is one only; its merchant may ask once more tomorrow.
            Ok(Ok(()) | Err(MailError::Rejected(_) | MailError::AnswerLost(_))) | Err(_) => {
                tracing::info!(event = "contact_asked");
                Ok(false)
            }
        }
    }
}
