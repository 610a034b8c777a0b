//! Webhooks that are there: seen, deleted, given another secret, switched on.

use axum::Json;
use axum::extract::{RawQuery, State};
use futures::future::try_join_all;
use http::StatusCode;
use parceltrack::domain::{SecretRotation, Webhook, WebhookId, WebhookSecret};
use parceltrack::ports::StepTaken;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::out::WebhookOut;
use super::{contact, key, owner, webhook};
use crate::App;
use crate::caller::{Allowed, ManageWebhooks};
use crate::openapi::parameters::{OwnerNamed, WebhookInPath};
use crate::path_id::PathId;
use crate::problem::Problem;

/// How often a rotation is tried that another one got in the way of.
const ROTATIONS: u32 = 3;

#[derive(Serialize, ToSchema)]
#[schema(as = Webhooks)]
pub(crate) struct WebhooksOut {
    webhooks: Vec<WebhookOut>,
}

/// List webhooks
///
/// All of a merchant's, the oldest first.
#[utoipa::path(
    get, path = "/api/webhooks", operation_id = "listWebhooks", tag = "Webhooks",
    params(OwnerNamed),
    responses(
        (status = 200, description = "All of them", body = WebhooksOut),
        (status = 404, description = "`not-found`: an owner whom the caller may not know of"),
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<ManageWebhooks>,
    RawQuery(query): RawQuery,
) -> Result<Json<WebhooksOut>, Problem> {
    let owner = owner(query.as_deref(), caller)?;
    let (webhooks, now) = (app.webhooks.read.webhooks_of(&owner).await?, app.clock.now());
    let contacts = try_join_all(webhooks.iter().map(|webhook| contact(&app, webhook))).await?;
    let webhooks = webhooks.into_iter().zip(contacts).map(|(webhook, contact)| WebhookOut::new(webhook, contact, now));
    Ok(Json(WebhooksOut { webhooks: webhooks.collect() }))
}

/// Look at a webhook
#[utoipa::path(
    get, path = "/api/webhooks/{id}", operation_id = "getWebhook", tag = "Webhooks",
    params(WebhookInPath),
    responses(
        (status = 200, description = "The webhook", body = WebhookOut),
        (status = 404, description = "`not-found`: no such webhook, or another's"),
    )
)]
pub(crate) async fn get(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<ManageWebhooks>,
    PathId(id): PathId,
    RawQuery(query): RawQuery,
) -> Result<Json<WebhookOut>, Problem> {
    let key = key(WebhookId(id), query.as_deref(), caller)?;
    let webhook = webhook(&app, &key).await?;
    let contact = contact(&app, &webhook).await?;
    Ok(Json(WebhookOut::new(webhook, contact, app.clock.now())))
}

/// Delete a webhook
///
/// What it has not yet got is withdrawn.
#[utoipa::path(
    delete, path = "/api/webhooks/{id}", operation_id = "deleteWebhook", tag = "Webhooks",
    params(WebhookInPath),
    responses(
        (status = 204, description = "It is gone"),
        (status = 404, description = "`not-found`: no such webhook, or another's"),
    )
)]
pub(crate) async fn delete(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<ManageWebhooks>,
    PathId(id): PathId,
    RawQuery(query): RawQuery,
) -> Result<StatusCode, Problem> {
    let key = key(WebhookId(id), query.as_deref(), caller)?;
    if !app.webhooks.change.delete(&key).await? {
        return Err(Problem::NotFound("webhook"));
    }
    tracing::info!(event = "webhook_deleted", webhook = %key.webhook_id);
    Ok(StatusCode::NO_CONTENT)
}

/// Give a webhook another secret
///
/// It is in this answer and never shown again. The former one is good for another 24 h, in which both sign.
#[utoipa::path(
    post, path = "/api/webhooks/{id}/rotate-secret", operation_id = "rotateWebhookSecret", tag = "Webhooks",
    params(WebhookInPath),
    responses(
        (status = 200, description = "The webhook, with its new secret", body = WebhookOut),
        (status = 404, description = "`not-found`: no such webhook, or another's"),
        (status = 429, description = "`too-many-requests`: four secrets are good already"),
    )
)]
pub(crate) async fn rotate_secret(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<ManageWebhooks>,
    PathId(id): PathId,
    RawQuery(query): RawQuery,
) -> Result<Json<WebhookOut>, Problem> {
    let key = key(WebhookId(id), query.as_deref(), caller)?;
    for _ in 0..ROTATIONS {
        let (seen, now) = (webhook(&app, &key).await?, app.clock.now());
        let new = WebhookSecret::from_random([Uuid::new_v4(), Uuid::new_v4()]);
        let secrets = match seen.secrets.rotated(new, now) {
            SecretRotation::Rotated(secrets) => secrets,
            SecretRotation::TooMany { until } => {
                return Err(Problem::TooManyRequests { retry_after: until.since(now) });
            }
        };
        if app.webhooks.change.rotate(&seen, &secrets, now).await? == StepTaken::Moved {
            tracing::info!(event = "webhook_secret_rotated", webhook = %key.webhook_id);
            let rotated = Webhook { secrets, updated_at: now, ..seen };
            let contact = contact(&app, &rotated).await?;
            return Ok(Json(WebhookOut::with_secret(rotated, contact, now)));
        }
    }
    Err(Problem::Unavailable)
}

/// Switch a webhook on
///
/// One that is on stays as it is.
#[utoipa::path(
    post, path = "/api/webhooks/{id}/enable", operation_id = "enableWebhook", tag = "Webhooks",
    params(WebhookInPath),
    responses(
        (status = 200, description = "The webhook", body = WebhookOut),
        (status = 404, description = "`not-found`: no such webhook, or another's"),
    )
)]
pub(crate) async fn enable(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<ManageWebhooks>,
    PathId(id): PathId,
    RawQuery(query): RawQuery,
) -> Result<Json<WebhookOut>, Problem> {
    let (key, now) = (key(WebhookId(id), query.as_deref(), caller)?, app.clock.now());
    let webhook = app.webhooks.change.enable(&key, now).await?.ok_or(Problem::NotFound("webhook"))?;
    tracing::info!(event = "webhook_enabled", webhook = %key.webhook_id);
    let contact = contact(&app, &webhook).await?;
    Ok(Json(WebhookOut::new(webhook, contact, now)))
}
