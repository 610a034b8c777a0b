//! A webhook as it stands in the table. Its secrets stand in it as they are, since they sign; who may read the table is
//! decided by IAM, and nothing of this row is logged.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::domain::{
    DomainEventType, EmailAddress, EndpointHealth, InvalidWebhookSecret, NoticeEnd, OwnerId, PreviousSecret,
    SwitchOffReason, Text, Timestamp, Webhook, WebhookId, WebhookSecrets, WebhookState, WebhookUrl,
};
use crate::ports::PortError;

pub(super) const ACTIVE: &str = "Active";
pub(super) const SWITCHED_OFF: &str = "SwitchedOff";

#[derive(Serialize, Deserialize)]
pub(super) struct PreviousSecretRow {
    secret: String,
    until: Timestamp,
}

impl PreviousSecretRow {
    pub(super) fn all(secrets: &WebhookSecrets) -> Vec<Self> {
        let row = |previous: &PreviousSecret| Self { secret: previous.secret.reveal(), until: previous.until };
        secrets.previous.iter().map(row).collect()
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WebhookRow {
    owner: OwnerId,
    webhook_id: WebhookId,
    url: WebhookUrl,
    event_types: BTreeSet<DomainEventType>,
    contact_email: EmailAddress,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<Text<200>>,
    secret: String,
    #[serde(default)]
    previous_secrets: Vec<PreviousSecretRow>,
    state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    switched_off_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    switched_off_reason: Option<SwitchOffReason>,
    #[serde(default)]
    consecutive_failures: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    failing_since: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rest_until: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_success_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice_due: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice_end: Option<NoticeEnd>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl From<&Webhook> for WebhookRow {
    fn from(webhook: &Webhook) -> Self {
        let (state, off) = match webhook.state {
            WebhookState::Active => (ACTIVE, None),
            WebhookState::SwitchedOff { at, reason } => (SWITCHED_OFF, Some((at, reason))),
        };
        Self {
            owner: webhook.owner.clone(),
            webhook_id: webhook.id,
            url: webhook.url.clone(),
            event_types: webhook.event_types.clone(),
            contact_email: webhook.contact.clone(),
            description: webhook.description.clone(),
            secret: webhook.secrets.current.reveal(),
            previous_secrets: PreviousSecretRow::all(&webhook.secrets),
            state: state.to_owned(),
            switched_off_at: off.map(|(at, _)| at),
            switched_off_reason: off.map(|(_, reason)| reason),
            consecutive_failures: webhook.health.consecutive_failures,
            failing_since: webhook.health.failing_since,
            rest_until: webhook.health.rest_until,
            last_success_at: webhook.health.last_success_at,
            notice_due: webhook.notice_due,
            notice_end: webhook.notice_end,
            created_at: webhook.created_at,
            updated_at: webhook.updated_at,
        }
    }
}

impl WebhookRow {
    pub(super) fn into_webhook(self) -> Result<Webhook, PortError> {
        let id = self.webhook_id;
        let broken = |what: &str| PortError::Broken(format!("webhook {id} has no {what}"));
        let secret = |text: &str| text.parse().map_err(|_: InvalidWebhookSecret| broken("readable secret"));
        let state = match (self.state.as_str(), self.switched_off_at, self.switched_off_reason) {
            (ACTIVE, _, _) => WebhookState::Active,
            (SWITCHED_OFF, Some(at), Some(reason)) => WebhookState::SwitchedOff { at, reason },
            _ => return Err(broken("state")),
        };
        let previous = self.previous_secrets.into_iter();
        let previous = previous.map(|row| Ok(PreviousSecret { secret: secret(&row.secret)?, until: row.until }));
        Ok(Webhook {
            id,
            owner: self.owner,
            url: self.url,
            event_types: self.event_types,
            contact: self.contact_email,
            description: self.description,
            secrets: WebhookSecrets {
                current: secret(&self.secret)?,
                previous: previous.collect::<Result<_, PortError>>()?,
            },
            state,
            health: EndpointHealth {
                consecutive_failures: self.consecutive_failures,
                failing_since: self.failing_since,
                rest_until: self.rest_until,
                last_success_at: self.last_success_at,
            },
            notice_due: self.notice_due,
            notice_end: self.notice_end,
            created_at: self.created_at,
            updated_at: self.updated_at,
        })
    }
}
