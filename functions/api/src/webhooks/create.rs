//! `POST /api/webhooks`: an endpoint is registered, and its secret is shown this once.

use std::collections::BTreeSet;
use std::time::Duration;

use axum::Json as JsonOut;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use http::header::{HeaderMap, LOCATION};
use http::{HeaderValue, StatusCode};
use parceltrack::domain::{
    AddressRule, ConfirmationTicket, Contact, DomainEventType, EmailAddress, InvalidWebhookUrl, NewWebhook, Text,
    Timestamp, UnknownDomainEventType, Webhook, WebhookId, WebhookKey, WebhookSecret, WebhookUrl,
};
use parceltrack::ports::WebhookCreation;
use serde_json::Value;
use uuid::Uuid;

use super::out::WebhookOut;
use super::{contact, owner, webhook};
use crate::App;
use crate::caller::{Allowed, ManageWebhooks};
use crate::fields::{Fields, Problems};
use crate::json::Json;
use crate::openapi::bodies::NewWebhook as NewWebhookBody;
use crate::openapi::parameters::{IdempotencyKey, OwnerNamed};
use crate::parcels::{IDEMPOTENT_REPLAYED, KeyUse};
use crate::problem::Problem;

fn parse(body: Value, addresses: &AddressRule) -> Result<NewWebhook, Problem> {
    let mut problems = Problems::default();
    let webhook = Fields::of(body, "", &mut problems).and_then(|mut fields| {
        let url = fields.required("url", &mut problems, |text| endpoint(&text, addresses));
        let event_types = event_types(&mut fields, &mut problems);
        let contact = fields.required("contactEmail", &mut problems, EmailAddress::try_from);
        let description = fields.optional("description", &mut problems, Text::try_from);
        fields.finish(&mut problems);
        Some(NewWebhook { url: url?, event_types: event_types?, contact: contact?, description: description? })
    });
    problems.into_result(webhook)
}

fn endpoint(text: &str, addresses: &AddressRule) -> Result<WebhookUrl, String> {
    let url: WebhookUrl = text.parse().map_err(|error: InvalidWebhookUrl| error.to_string())?;
    if addresses.admits_url(&url) {
        Ok(url)
    } else {
        Err("must be https, with a host of the public internet".to_owned())
    }
}

fn event_types(fields: &mut Fields, problems: &mut Problems) -> Option<BTreeSet<DomainEventType>> {
    let name = fields.name("eventTypes");
    let Some(value) = fields.take("eventTypes") else {
        problems.add(name, "is required");
        return None;
    };
    let Value::Array(values) = value else {
        problems.add(name, "must be an array");
        return None;
    };
    if values.is_empty() {
        problems.add(name, "must not be empty");
        return None;
    }
    let most = DomainEventType::ALL.len();
    if values.len() > most {
        problems.add(name, format!("must be at most {most}"));
        return None;
    }
    let mut types = BTreeSet::new();
    let mut all_good = true;
    for (index, value) in values.iter().enumerate() {
        let kind = value.as_str().ok_or(UnknownDomainEventType).and_then(str::parse);
        let wrong = match kind {
            Ok(kind) if types.insert(kind) => continue,
            Ok(_) => "must not stand there twice".to_owned(),
            Err(error) => error.to_string(),
        };
        problems.add(format!("{name}[{index}]"), wrong);
        all_good = false;
    }
    all_good.then_some(types)
}

/// Register a webhook
///
/// Its secret is in this answer and never shown again. A repeat with the same `Idempotency-Key` gets the webhook as it is
/// now, with the secret that it has now.
#[utoipa::path(
    post, path = "/api/webhooks", operation_id = "createWebhook", tag = "Webhooks",
    params(OwnerNamed, IdempotencyKey), request_body = NewWebhookBody,
    responses(
        (status = 201, description = "The webhook, with its secret", body = WebhookOut, headers(
            ("Location" = String, description = "Where the webhook is"),
            ("Idempotent-Replayed" = String, description = "`true` if it was registered before"),
        ), links(
            ("webhook" = (
                operation_id = "getWebhook",
                parameters(("id" = "$response.body#/id"), ("owner" = "$response.body#/owner"))
            )),
            ("deletion" = (
                operation_id = "deleteWebhook",
                parameters(("id" = "$response.body#/id"), ("owner" = "$response.body#/owner"))
            )),
            ("test" = (
                operation_id = "testWebhook",
                parameters(("id" = "$response.body#/id"), ("owner" = "$response.body#/owner"))
            )),
            ("deliveries" = (
                operation_id = "listWebhookDeliveries",
                parameters(("id" = "$response.body#/id"), ("owner" = "$response.body#/owner"))
            )),
        )),
        (status = 404, description = "`not-found`: an owner whom the caller may not know of, or a webhook that this \
                                      key registered and that is deleted"),
        (status = 409, description = "`too-many-webhooks`: the merchant has ten"),
        (status = 422, description = "`invalid-fields`: fields of the body are wrong, the first fifty named; \
                                      `idempotency-key-reused`: the key came with other content before"),
    )
)]
pub(crate) async fn create(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<ManageWebhooks>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    Json(body): Json,
) -> Result<Response, Problem> {
    let owner = owner(query.as_deref(), caller)?;
    let key = KeyUse::of(&headers, &owner, "POST /api/webhooks", &body)?;
    let now = app.clock.now();
    let secret = WebhookSecret::from_random([Uuid::new_v4(), Uuid::new_v4()]);
    let new = parse(body, &app.webhooks.addresses)?;
    let new = Webhook::registered(new, WebhookId(Uuid::new_v4()), owner.clone(), secret, now);
    // The secret is not among what is remembered: it stands with the webhook alone.
    let claim = key.map(|key| key.claim(&new.id.to_string(), now));
    match app.webhooks.create.create(&new, claim.as_ref(), now).await? {
        WebhookCreation::Created => {
            tracing::info!(event = "webhook_created", webhook = %new.id);
            let contact = contact(&app, &new).await?;
            if contact.confirmed_at.is_none() && contact.next_confirmation(now).is_none() {
                // Who registers it can ask once more, if this gets lost.
                if let Err(error) =
                    app.webhooks.ask.ask_for(&ConfirmationTicket { confirm: new.key() }, Duration::ZERO).await
                {
                    tracing::warn!(event = "confirmation_not_asked_for", webhook = %new.id, %error);
                }
            }
            Ok(created(new, contact, now))
        }
        WebhookCreation::Replayed(webhook_id) => {
            let found = webhook(&app, &WebhookKey { owner, webhook_id }).await?;
            let contact = contact(&app, &found).await?;
            let mut response = created(found, contact, now);
            response.headers_mut().insert(IDEMPOTENT_REPLAYED, HeaderValue::from_static("true"));
            Ok(response)
        }
        WebhookCreation::KeyUsedForOtherContent => Err(Problem::KeyUsedForOtherContent),
        WebhookCreation::TooMany => Err(Problem::TooManyWebhooks),
    }
}

fn created(webhook: Webhook, contact: Contact, now: Timestamp) -> Response {
    let location = format!("/api/webhooks/{}", webhook.id);
    (StatusCode::CREATED, [(LOCATION, location)], JsonOut(WebhookOut::with_secret(webhook, contact, now)))
        .into_response()
}
