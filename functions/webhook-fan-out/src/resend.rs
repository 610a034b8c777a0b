//! Sends again what came since a time, a page at a time.

use parceltrack::domain::{FIRST_DUE, ResendWish, WebhookTicket};
use parceltrack::ports::{PortError, StepTaken};

use crate::FanOut;

impl FanOut {
    /// Works off one page of a wish, and sends the wish on if there are more. The same page twice begins nothing anew a
    /// second time.
    pub(crate) async fn resend(&self, wish: &ResendWish) -> Result<(), PortError> {
        let webhook = self.webhooks.webhook(&wish.webhook).await?;
        if !webhook.is_some_and(|webhook| webhook.is_active()) {
            tracing::info!(event = "resend_dropped", webhook = %wish.webhook.webhook_id);
            return Ok(());
        }
        let (places, more) = self.reopening.to_resend(wish).await?;
        let mut tickets = Vec::new();
        for place in &places {
            let now = self.clock.now();
            if self.reopening.reopen(wish, place.id, now + FIRST_DUE, now).await? == StepTaken::Moved {
                tickets.push(WebhookTicket { webhook: wish.webhook.clone(), delivery_id: place.id });
            }
        }
        tracing::info!(event = "resend_page", webhook = %wish.webhook.webhook_id, count = tickets.len(), more);
        self.send(&tickets).await;
        if let (true, Some(last)) = (more, places.last()) {
            self.wishes.wish(&ResendWish { after: Some((last.created_at, last.id)), ..wish.clone() }).await?;
        }
        Ok(())
    }
}
