//! `POST /api/webhooks/{id}/test`: an event of no parcel, by the same queue and worker as all others.

use std::time::Duration;

use axum::Json;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::LOCATION;
use parceltrack::domain::{DeliveryId, WebhookDelivery, WebhookId, WebhookKey, WebhookTicket};
use uuid::Uuid;

use super::out::AcceptedOut;
use super::{active_webhook, key};
use crate::App;
use crate::caller::{Allowed, ManageWebhooks};
use crate::openapi::parameters::WebhookInPath;
use crate::path_id::PathId;
use crate::problem::Problem;

/// Send a test event
///
/// A `WebhookTest`, tried at once, also while the endpoint is left alone.
#[utoipa::path(
    post, path = "/api/webhooks/{id}/test", operation_id = "testWebhook", tag = "Webhooks",
    params(WebhookInPath),
    responses(
        (status = 202, description = "It is going to be sent", body = AcceptedOut, headers(
            ("Location" = String, description = "Where the delivery is"),
        )),
        (status = 404, description = "`not-found`: no such webhook, or another's"),
        (status = 409, description = "`webhook-switched-off`: enable it first"),
    )
)]
pub(crate) async fn test(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<ManageWebhooks>,
    PathId(id): PathId,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let key = key(WebhookId(id), query.as_deref(), caller)?;
    active_webhook(&app, &key).await?;
    let (event_id, now) = (Uuid::new_v4(), app.clock.now());
    let delivery = WebhookDelivery::of_test(event_id, key.clone(), now);
    app.webhooks.record.record(&delivery).await?;
    Ok(on_its_way(&app, key, delivery.id).await)
}

/// Sends the ticket and says so. If the queue refuses, the relay brings it.
pub(super) async fn on_its_way(app: &App, webhook: WebhookKey, delivery_id: DeliveryId) -> Response {
    let location = format!("/api/webhooks/{}/deliveries/{delivery_id}", webhook.webhook_id);
    let ticket = WebhookTicket { webhook, delivery_id };
    if let Err(error) = app.webhooks.tickets.send(&ticket, Duration::ZERO).await {
        tracing::warn!(event = "ticket_left_to_relay", delivery = %delivery_id, %error);
    }
    (StatusCode::ACCEPTED, [(LOCATION, location)], Json(AcceptedOut::pending(delivery_id))).into_response()
}
