//! What becomes of a delivery that nobody wants any more, and the mail that says so.

use std::time::Duration;

use parceltrack::domain::{ContactId, NoticeEnd, SwitchOffReason, Timestamp, Webhook, WebhookDelivery, WebhookState};
use parceltrack::ports::{MailError, NoticeRight, PortError, StepTaken};
use tokio::time::{Instant, sleep, timeout};

use crate::batch::Verdict;
use crate::notice;
use crate::work::WebhookWorker;

/// How long the mail provider may take.
pub(crate) const MAIL_TIMEOUT: Duration = Duration::from_secs(3);

/// How long the answer may take that gives the right to a mail.
const TURN_TIMEOUT: Duration = Duration::from_millis(500);

/// How long a notice waits for its turn, looking again in between: others have asked for a turn as well, and one who only looks once a
/// minute would seldom find it free. Two intervals, within the time of an invocation.
const TURN_PATIENCE: Duration = Duration::from_secs(10);
const TURN_PAUSE: Duration = Duration::from_millis(500);

/// When the merchant is to be told again, if nothing came of it. Longer than a worker lives.
const NEXT_NOTICE: Duration = Duration::from_mins(1);

impl WebhookWorker {
    /// Ends a delivery without a call. If its merchant is still to be told why, that comes first: as long as the mail is not
    /// out, the delivery is due, and so somebody comes to try.
    pub(crate) async fn withdraw(
        &self,
        delivery: &WebhookDelivery,
        webhook: Option<&Webhook>,
        now: Timestamp,
    ) -> Result<Verdict, PortError> {
        if let Some(webhook) = webhook.filter(|webhook| webhook.notice_due.is_some())
            && !self.told(webhook, now).await?
        {
            self.work.put_off(delivery, None, now + NEXT_NOTICE).await?;
            return Ok(Verdict::Acknowledge);
        }
        if self.work.withdraw(delivery, now).await? == StepTaken::Moved {
            tracing::info!(event = "delivery_withdrawn");
        }
        self.wake_next(delivery, now).await?;
        Ok(Verdict::Acknowledge)
    }

    /// Whether the merchant has been told, or cannot be.
    async fn told(&self, webhook: &Webhook, now: Timestamp) -> Result<bool, PortError> {
        let WebhookState::SwitchedOff { at, reason } = webhook.state else { return Ok(true) };
        let key = webhook.key();
        if self.health.claim_notice(&key, now + NEXT_NOTICE, now).await? == StepTaken::OvertakenByAnother {
            return Ok(false);
        }
        let Some(end) = self.tell(webhook, at, reason, now).await? else {
            tracing::info!(event = "merchant_not_told_yet");
            return Ok(false);
        };
        tracing::info!(event = "notice_ended", ?end);
        self.health.notice_done(&key, end).await?;
        Ok(true)
    }

    /// The right to send one mail now. One that comes late is not used, since the next may be given soon after it.
    pub(crate) async fn has_turn(&self) -> Result<bool, PortError> {
        let turn = self.bounds.notice_turn(self.rules.notice_interval, self.clock.now());
        Ok(timeout(TURN_TIMEOUT, turn).await.unwrap_or(Ok(NoticeRight::NotYet))? == NoticeRight::Granted)
    }

    /// Sends the notice, within the bounds that there are for it; `None` if it is to be tried again.
    async fn tell(
        &self,
        webhook: &Webhook,
        at: Timestamp,
        reason: SwitchOffReason,
        now: Timestamp,
    ) -> Result<Option<NoticeEnd>, PortError> {
        if self.suppressions.suppression(&webhook.contact).await?.is_some() {
            return Ok(Some(NoticeEnd::Suppressed));
        }
        let contact = self.contacts.contact(ContactId::of(&webhook.owner, &webhook.contact)).await?;
        if contact.confirmed_at.is_none() {
            return Ok(Some(NoticeEnd::NotConfirmed));
        }
        match self.bounds.count_notice(webhook, at, now).await? {
            NoticeRight::Granted => {}
            NoticeRight::NotYet => return Ok(None),
            NoticeRight::TooMany => return Ok(Some(NoticeEnd::TooMany)),
        }
        // Last, so that a right that was given is used at once.
        let end = Instant::now() + TURN_PATIENCE;
        while !self.has_turn().await? {
            if Instant::now() >= end {
                return Ok(None);
            }
            sleep(TURN_PAUSE).await;
        }
        let notice = notice::compose(webhook, at, reason);
        Ok(match timeout(MAIL_TIMEOUT, self.notices.tell(&notice)).await {
            Ok(Ok(())) => Some(NoticeEnd::Sent),
            Ok(Err(MailError::Rejected(_))) => Some(NoticeEnd::Refused),
            // It may be out. A second one would say the same; none would be worse.
            Ok(Err(MailError::PutOff(_) | MailError::Unavailable(_) | MailError::AnswerLost(_))) | Err(_) => None,
        })
    }
}
