//! Webhooks: registered, changed, found, and how they do.

use std::time::Duration;

use async_trait::async_trait;

use super::{IdempotencyClaim, PortError, StepTaken};
use crate::domain::{
    EmailAddress, EndpointHealth, Lease, LeaseHolder, NoticeEnd, OwnerId, SwitchOffReason, Timestamp, Webhook,
    WebhookId, WebhookKey, WebhookSecrets,
};

/// How the registration of a webhook ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookCreation {
    /// It is there, made by this call.
    Created,
    /// The same key and content came before, and made this one.
    Replayed(WebhookId),
    /// The same key came before with other content.
    KeyUsedForOtherContent,
    /// Its owner has [`MAX_WEBHOOKS`](crate::domain::MAX_WEBHOOKS).
    TooMany,
}

/// Registers webhooks (API).
#[async_trait]
pub trait CreateWebhooks: Send + Sync {
    /// Writes the webhook and the key's record in one transaction, or neither; never more webhooks than an owner may have,
    /// however many calls there are at once. The answer in `claim` is the webhook's id and nothing else: no secret is kept a
    /// second time.
    async fn create(
        &self,
        webhook: &Webhook,
        claim: Option<&IdempotencyClaim>,
        now: Timestamp,
    ) -> Result<WebhookCreation, PortError>;
}

/// Reads webhooks (API, fan-out, worker).
#[async_trait]
pub trait ReadWebhooks: Send + Sync {
    /// The webhook of this key.
    async fn webhook(&self, key: &WebhookKey) -> Result<Option<Webhook>, PortError>;

    /// All of an owner's, the oldest first.
    async fn webhooks_of(&self, owner: &OwnerId) -> Result<Vec<Webhook>, PortError>;
}

/// Changes webhooks for their merchants (API).
#[async_trait]
pub trait ChangeWebhooks: Send + Sync {
    /// Writes the secrets, if nobody has changed them since `seen`.
    async fn rotate(&self, seen: &Webhook, secrets: &WebhookSecrets, now: Timestamp) -> Result<StepTaken, PortError>;

    /// Switches it on, and forgets its failures. `None` if there is none.
    async fn enable(&self, key: &WebhookKey, now: Timestamp) -> Result<Option<Webhook>, PortError>;

    /// Removes it. Whether there was one.
    async fn delete(&self, key: &WebhookKey) -> Result<bool, PortError>;
}

/// The right to one of the calls of an endpoint that may be under way at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSlot {
    /// Which of them.
    pub number: usize,
    /// Whose.
    pub holder: LeaseHolder,
}

/// How the wish for a slot ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotWish {
    /// It is ours.
    Taken(CallSlot),
    /// All are taken.
    AllTaken,
    /// The webhook is switched off or deleted.
    NotActive,
}

/// What becomes of a slot after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterCall {
    /// It is kept for another one.
    Keep,
    /// It is given back.
    GiveBack,
}

/// Keeps how endpoints do (worker).
#[async_trait]
pub trait WorkOnWebhooks: Send + Sync {
    /// Takes one of the first `slots` slots of an active webhook.
    async fn take_slot(
        &self,
        key: &WebhookKey,
        slots: usize,
        lease: Lease,
        now: Timestamp,
    ) -> Result<SlotWish, PortError>;

    /// Gives the slot back. Does nothing if the slot is somebody else's by now.
    async fn release_slot(&self, key: &WebhookKey, slot: CallSlot) -> Result<(), PortError>;

    /// Notes a success. Does nothing if the slot is somebody else's by now.
    async fn succeeded(
        &self,
        key: &WebhookKey,
        slot: CallSlot,
        then: AfterCall,
        now: Timestamp,
    ) -> Result<(), PortError>;

    /// Gives the slot back after a failure. `health` is what the caller makes of it; failures that were counted meanwhile
    /// stay counted. Does nothing if the slot is somebody else's by now.
    async fn failed(&self, key: &WebhookKey, slot: CallSlot, health: EndpointHealth) -> Result<(), PortError>;

    /// Switches the webhook off, if it is active. From then on its merchant is to be told.
    async fn switch_off(
        &self,
        key: &WebhookKey,
        reason: SwitchOffReason,
        now: Timestamp,
    ) -> Result<StepTaken, PortError>;

    /// Takes it upon the caller to tell the merchant, if that is due; it is due again at `until`, if nothing comes of it.
    async fn claim_notice(&self, key: &WebhookKey, until: Timestamp, now: Timestamp) -> Result<StepTaken, PortError>;

    /// How it ended that the merchant was to be told.
    async fn notice_done(&self, key: &WebhookKey, end: NoticeEnd) -> Result<(), PortError>;
}

/// Whether a mail about a webhook may go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeRight {
    /// It may, as far as this goes.
    Granted,
    /// A mail went out a moment ago; soon.
    NotYet,
    /// The address, the webhook or its owner has had as many as a day may have.
    TooMany,
}

/// Bounds the mails to merchants (worker).
#[async_trait]
pub trait BoundNotices: Send + Sync {
    /// Counts the notice of this switching off for its address, its webhook and its owner, all of them or none, and once
    /// however often it is asked for.
    async fn count_notice(&self, webhook: &Webhook, off: Timestamp, now: Timestamp) -> Result<NoticeRight, PortError>;

    /// The right to send one mail now. The next is given no sooner than after `interval`, whoever asks.
    async fn notice_turn(&self, interval: Duration, now: Timestamp) -> Result<NoticeRight, PortError>;
}

/// A short mail about something else than an invoice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What makes its `Message-ID`: the same for a second copy.
    pub id: String,
    /// To whom.
    pub to: EmailAddress,
    /// One line.
    pub subject: String,
    /// The text.
    pub text: String,
}

/// Tells merchants of their webhooks by mail (worker).
#[async_trait]
pub trait SendNotice: Send + Sync {
    /// One try.
    async fn tell(&self, notice: &Notice) -> Result<(), super::MailError>;
}
