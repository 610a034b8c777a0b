//! A merchant's endpoint, and how it does.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::super::{DomainEventType, EmailAddress, OwnerId, Text, Timestamp};
use super::waits::endpoint_rest;
use super::{WebhookSecret, WebhookSecrets, WebhookUrl};

/// How many webhooks a merchant may have.
pub const MAX_WEBHOOKS: usize = 10;

/// An endpoint that has failed for so long, without a success, is switched off by its next failure.
pub const SWITCH_OFF_AFTER: Duration = Duration::from_hours(5 * 24);

/// How many calls of one endpoint may be under way at once. Of the workers there are more, so that no endpoint has them all.
const CALLS_AT_ONCE: usize = 2;

/// The id of a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WebhookId(pub Uuid);

impl fmt::Display for WebhookId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// By what a webhook is found.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookKey {
    /// Whose it is.
    pub owner: OwnerId,
    /// Which of theirs.
    pub webhook_id: WebhookId,
}

/// Why a webhook was switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SwitchOffReason {
    /// No success for [`SWITCH_OFF_AFTER`], and failures.
    FailedForDays,
    /// It answered 410, by which an endpoint says that it wants no more.
    Gone,
}

/// How many mails an address gets in a day, from all webhooks of all merchants.
pub const NOTICES_PER_ADDRESS: u32 = 3;

/// How many mails of one webhook go out in a day.
pub const NOTICES_PER_WEBHOOK: u32 = 2;

/// How many mails of all webhooks of a merchant go out in a day.
pub const NOTICES_PER_OWNER: u32 = 10;

/// How it ended that a merchant was to be told that a webhook was switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NoticeEnd {
    /// The mail is out.
    Sent,
    /// The address's owner has not confirmed that it is the contact.
    NotConfirmed,
    /// The address, the webhook or the merchant has had as many mails as a day may have.
    TooMany,
    /// The address gets no mail any more, since it bounced or its owner complained.
    Suppressed,
    /// The provider does not take mail to it.
    Refused,
}

/// Whether events are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookState {
    /// They are.
    Active,
    /// They are not, until its merchant switches it on.
    SwitchedOff {
        /// Since when.
        at: Timestamp,
        /// Why.
        reason: SwitchOffReason,
    },
}

/// How the last calls of an endpoint went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointHealth {
    /// How many have failed since the last success.
    pub consecutive_failures: u32,
    /// When the first of those did.
    pub failing_since: Option<Timestamp>,
    /// Until when it is left alone.
    pub rest_until: Option<Timestamp>,
    /// When it last took an event.
    pub last_success_at: Option<Timestamp>,
}

impl EndpointHealth {
    /// After one more failure.
    #[must_use]
    pub fn after_failure(self, now: Timestamp) -> Self {
        let consecutive_failures = self.consecutive_failures.saturating_add(1);
        Self {
            consecutive_failures,
            failing_since: self.failing_since.or(Some(now)),
            rest_until: endpoint_rest(consecutive_failures).map(|rest| now + rest),
            last_success_at: self.last_success_at,
        }
    }

    /// Until when it is left alone, if it is.
    #[must_use]
    pub fn resting(self, now: Timestamp) -> Option<Timestamp> {
        self.rest_until.filter(|until| now < *until)
    }

    /// Whether it has failed for so long that it is to be switched off.
    #[must_use]
    pub fn failed_for_days(self, now: Timestamp) -> bool {
        self.failing_since.is_some_and(|since| since + SWITCH_OFF_AFTER <= now)
    }

    /// How many calls of it may be under way at once: one, while it is being tried whether it works again.
    #[must_use]
    pub fn calls_at_once(self) -> usize {
        if endpoint_rest(self.consecutive_failures).is_some() { 1 } else { CALLS_AT_ONCE }
    }
}

/// A merchant's endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// Which.
    pub id: WebhookId,
    /// Whose.
    pub owner: OwnerId,
    /// Where events are sent.
    pub url: WebhookUrl,
    /// Which events.
    pub event_types: BTreeSet<DomainEventType>,
    /// Who is told when it is switched off.
    pub contact: EmailAddress,
    /// What its merchant calls it.
    pub description: Option<Text<200>>,
    /// What its requests are signed with.
    pub secrets: WebhookSecrets,
    /// Whether events are sent.
    pub state: WebhookState,
    /// How the last calls went.
    pub health: EndpointHealth,
    /// From when on somebody has to tell its merchant that it was switched off; `None` once that is done.
    pub notice_due: Option<Timestamp>,
    /// How that ended; `None` before, and where it is not known.
    pub notice_end: Option<NoticeEnd>,
    /// When it was registered.
    pub created_at: Timestamp,
    /// When its merchant last changed it.
    pub updated_at: Timestamp,
}

/// What a merchant says of a new webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewWebhook {
    /// Where events are sent.
    pub url: WebhookUrl,
    /// Which events.
    pub event_types: BTreeSet<DomainEventType>,
    /// Who is told when it is switched off.
    pub contact: EmailAddress,
    /// What its merchant calls it.
    pub description: Option<Text<200>>,
}

impl Webhook {
    /// One that has just been registered.
    #[must_use]
    pub fn registered(new: NewWebhook, id: WebhookId, owner: OwnerId, secret: WebhookSecret, now: Timestamp) -> Self {
        let NewWebhook { url, event_types, contact, description } = new;
        Self {
            id,
            owner,
            url,
            event_types,
            contact,
            description,
            secrets: WebhookSecrets { current: secret, previous: vec![] },
            state: WebhookState::Active,
            health: EndpointHealth::default(),
            notice_due: None,
            notice_end: None,
            created_at: now,
            updated_at: now,
        }
    }

    /// By what it is found.
    #[must_use]
    pub fn key(&self) -> WebhookKey {
        WebhookKey { owner: self.owner.clone(), webhook_id: self.id }
    }

    /// Whether events are sent.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.state == WebhookState::Active
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

    #[test]
    fn an_endpoint_rests_after_three_failures_in_a_row_and_is_then_called_once_at_a_time() {
        let mut health = EndpointHealth::default();
        for _ in 0..2 {
            health = health.after_failure(NOW);
            assert_eq!((health.resting(NOW), health.calls_at_once()), (None, CALLS_AT_ONCE));
        }
        health = health.after_failure(NOW);
        let until = health.resting(NOW).unwrap();
        assert_eq!((health.resting(until), health.calls_at_once()), (None, 1));
    }

    #[test]
    fn five_days_count_from_the_first_failure() {
        let first = EndpointHealth::default().after_failure(NOW);
        let days = NOW + SWITCH_OFF_AFTER;
        let more = first.after_failure(NOW + Duration::from_hours(100));
        assert!(!more.failed_for_days(NOW + Duration::from_hours(119)) && more.failed_for_days(days));
        assert!(!EndpointHealth::default().failed_for_days(days));
    }
}
