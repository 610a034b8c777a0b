//! What is shown of webhooks and their deliveries.

use parceltrack::domain::{
    AttemptEnd, CallError, Contact, DeliveryId, DomainEventType, NoticeEnd, SwitchOffReason, Timestamp, Webhook,
    WebhookAttempt, WebhookDelivery, WebhookDeliveryState, WebhookDeliveryStatus, WebhookEventType, WebhookState,
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::openapi::schemas;

#[derive(Serialize, ToSchema)]
#[schema(as = Webhook)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WebhookOut {
    #[schema(schema_with = schemas::uuid)]
    id: String,
    owner: String,
    #[schema(schema_with = schemas::plain)]
    url: String,
    #[schema(schema_with = schemas::event_types)]
    event_types: Vec<DomainEventType>,
    contact_email: String,
    contact_confirmed_at: Option<String>,
    confirmation_sent_at: Option<String>,
    description: Option<String>,
    #[schema(schema_with = schemas::webhook_state)]
    state: &'static str,
    switched_off_at: Option<String>,
    #[schema(schema_with = schemas::optional_switch_off_reason)]
    switched_off_reason: Option<SwitchOffReason>,
    #[schema(schema_with = schemas::optional_notice)]
    switch_off_notice: Option<&'static str>,
    consecutive_failures: u32,
    failing_since: Option<String>,
    rest_until: Option<String>,
    last_success_at: Option<String>,
    #[schema(schema_with = schemas::times)]
    previous_secrets_until: Vec<String>,
    #[schema(schema_with = schemas::time)]
    created_at: String,
    #[schema(schema_with = schemas::time)]
    updated_at: String,
    /// Only where it was just made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    secret: Option<String>,
}

impl WebhookOut {
    /// What everybody sees who may see the webhook.
    pub(super) fn new(webhook: Webhook, contact: Contact, now: Timestamp) -> Self {
        let text = |time: Option<Timestamp>| time.map(|time| time.to_string());
        let (state, off) = match webhook.state {
            WebhookState::Active => ("Active", None),
            WebhookState::SwitchedOff { at, reason } => ("SwitchedOff", Some((at, reason))),
        };
        let health = webhook.health;
        Self {
            id: webhook.id.to_string(),
            owner: webhook.owner.as_str().to_owned(),
            url: webhook.url.into(),
            event_types: webhook.event_types.into_iter().collect(),
            contact_email: webhook.contact.as_str().to_owned(),
            contact_confirmed_at: text(contact.confirmed_at),
            confirmation_sent_at: text(contact.asked_at),
            description: webhook.description.map(Into::into),
            state,
            switched_off_at: text(off.map(|(at, _)| at)),
            switched_off_reason: off.map(|(_, reason)| reason),
            switch_off_notice: match (webhook.notice_due, webhook.notice_end) {
                (Some(_), _) => Some("Pending"),
                (None, Some(NoticeEnd::Sent)) => Some("Sent"),
                (None, Some(NoticeEnd::NotConfirmed)) => Some("NotConfirmed"),
                (None, Some(NoticeEnd::TooMany)) => Some("TooMany"),
                (None, Some(NoticeEnd::Suppressed)) => Some("Suppressed"),
                (None, Some(NoticeEnd::Refused)) => Some("Refused"),
                (None, None) => None,
            },
            consecutive_failures: health.consecutive_failures,
            failing_since: text(health.failing_since),
            rest_until: text(health.resting(now)),
            last_success_at: text(health.last_success_at),
            previous_secrets_until: webhook.secrets.good_previous(now).map(|secret| secret.until.to_string()).collect(),
            created_at: webhook.created_at.to_string(),
            updated_at: webhook.updated_at.to_string(),
            secret: None,
        }
    }

    /// The same with its secret, for the one answer that shows it.
    pub(super) fn with_secret(webhook: Webhook, contact: Contact, now: Timestamp) -> Self {
        let secret = Some(webhook.secrets.current.reveal());
        Self { secret, ..Self::new(webhook, contact, now) }
    }
}

#[derive(Serialize, ToSchema)]
#[schema(as = WebhookAttempt)]
#[serde(rename_all = "camelCase")]
struct AttemptOut {
    #[schema(schema_with = schemas::time)]
    at: String,
    status_code: Option<u16>,
    #[schema(schema_with = schemas::optional_call_error)]
    error: Option<CallError>,
    duration_millis: u64,
    response_start: Option<String>,
}

impl From<WebhookAttempt> for AttemptOut {
    fn from(attempt: WebhookAttempt) -> Self {
        let (status_code, error, response_start) = match attempt.end {
            AttemptEnd::Answered { status, response_start } => (Some(status), None, Some(response_start)),
            AttemptEnd::Unanswered { error } => (None, Some(error), None),
        };
        let duration_millis = attempt.duration_millis;
        Self { at: attempt.at.to_string(), status_code, error, duration_millis, response_start }
    }
}

#[derive(Serialize, ToSchema)]
#[schema(as = WebhookDelivery)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeliveryOut {
    id: String,
    #[schema(schema_with = schemas::uuid)]
    event_id: String,
    #[schema(schema_with = schemas::delivered_event_type)]
    event_type: WebhookEventType,
    #[schema(schema_with = schemas::delivery_status)]
    status: WebhookDeliveryStatus,
    #[schema(schema_with = schemas::time)]
    created_at: String,
    ended_at: Option<String>,
    next_attempt_at: Option<String>,
    attempt_count: u32,
    attempts: Vec<AttemptOut>,
    /// What is sent; not in a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    body: Option<String>,
}

impl DeliveryOut {
    /// A line of a list.
    pub(super) fn listed(delivery: WebhookDelivery) -> Self {
        let next_attempt_at = match delivery.state {
            WebhookDeliveryState::Pending { next_attempt_at, .. } => Some(next_attempt_at.to_string()),
            _ => None,
        };
        Self {
            id: delivery.id.to_string(),
            event_id: delivery.event_id.to_string(),
            event_type: delivery.event_type,
            status: delivery.state.status(),
            created_at: delivery.created_at.to_string(),
            ended_at: delivery.state.ended_at().map(|at| at.to_string()),
            next_attempt_at,
            attempt_count: delivery.attempt_count,
            attempts: delivery.attempts.into_iter().map(Into::into).collect(),
            body: None,
        }
    }

    /// The whole of one.
    pub(super) fn whole(mut delivery: WebhookDelivery) -> Self {
        let body = Some(std::mem::take(&mut delivery.body));
        Self { body, ..Self::listed(delivery) }
    }
}

/// That a delivery is on its way.
#[derive(Serialize, ToSchema)]
#[schema(as = WebhookDeliveryAccepted)]
pub(crate) struct AcceptedOut {
    id: String,
    #[schema(schema_with = schemas::delivery_status)]
    status: WebhookDeliveryStatus,
}

impl AcceptedOut {
    pub(super) fn pending(id: DeliveryId) -> Self {
        Self { id: id.to_string(), status: WebhookDeliveryStatus::Pending }
    }
}
