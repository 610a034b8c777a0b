//! Events that are sent again: one, or all since a time.

use std::time::Duration;

use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use parceltrack::domain::{
    FIRST_DUE, ResendId, ResendWhich, ResendWish, Timestamp, WEBHOOK_DELIVERY_LIFETIME, WebhookId,
};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::out::AcceptedOut;
use super::test::on_its_way;
use super::{active_webhook, key};
use crate::App;
use crate::caller::{Allowed, ManageWebhooks};
use crate::fields::{Fields, Problems};
use crate::json::Json;
use crate::openapi::bodies::ResendSince;
use crate::openapi::parameters::{DeliveryInPath, WebhookInPath};
use crate::openapi::schemas;
use crate::path_id::{PathDelivery, PathId};
use crate::problem::Problem;

/// How far ahead of our clock the caller's may be.
const CLOCK_SKEW: Duration = Duration::from_mins(5);

/// Send one event again
///
/// It is tried at once, also while the endpoint is left alone; from its first attempt on if it was at its end.
#[utoipa::path(
    post, path = "/api/webhooks/{id}/deliveries/{deliveryId}/resend", operation_id = "resendWebhookDelivery",
    tag = "Webhooks",
    params(WebhookInPath, DeliveryInPath),
    responses(
        (status = 202, description = "It is going to be sent", body = AcceptedOut, headers(
            ("Location" = String, description = "Where the delivery is"),
        )),
        (status = 404, description = "`not-found`: no such delivery, or another's"),
        (status = 409, description = "`webhook-switched-off`: enable it first"),
    )
)]
pub(crate) async fn resend(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<ManageWebhooks>,
    PathDelivery(webhook, id): PathDelivery,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let key = key(webhook, query.as_deref(), caller)?;
    active_webhook(&app, &key).await?;
    let now = app.clock.now();
    // If a worker has it right now, it is being sent.
    app.webhooks.retry.retry(webhook, id, now + FIRST_DUE, now).await?.ok_or(Problem::NotFound("delivery"))?;
    tracing::info!(event = "delivery_resend_requested", %webhook, delivery = %id);
    Ok(on_its_way(&app, key, id).await)
}

/// Which events are going to be sent again.
#[derive(Serialize, ToSchema)]
#[schema(as = ResendAccepted)]
pub(crate) struct ResendOut {
    #[schema(schema_with = schemas::time)]
    since: String,
    #[schema(schema_with = schemas::time)]
    until: String,
    #[schema(schema_with = which_schema)]
    which: ResendWhich,
}

fn which_schema() -> utoipa::openapi::Object {
    schemas::word(["undelivered", "all"])
}

fn parse(body: Value, now: Timestamp) -> Result<(Timestamp, ResendWhich), Problem> {
    let mut problems = Problems::default();
    let wanted = Fields::of(body, "", &mut problems).and_then(|mut fields| {
        let since = fields.required("since", &mut problems, |text| {
            let since = Timestamp::parse(&text).ok_or("must be a time such as 2026-11-30T01:02:03Z")?;
            if now + CLOCK_SKEW < since {
                return Err("must not be ahead of our clock");
            }
            // Older ones are not kept.
            let oldest = now.millis() - i64::try_from(WEBHOOK_DELIVERY_LIFETIME.as_millis()).unwrap_or(i64::MAX);
            Ok(since.max(Timestamp::from_millis(oldest)))
        });
        let which = fields.optional("which", &mut problems, |text| match text.as_str() {
            "undelivered" => Ok(ResendWhich::Undelivered),
            "all" => Ok(ResendWhich::All),
            _ => Err("must be undelivered or all"),
        });
        fields.finish(&mut problems);
        Some((since?, which?.unwrap_or(ResendWhich::Undelivered)))
    });
    problems.into_result(wanted)
}

/// Send events again since a time
///
/// Those whose delivery failed or was withdrawn, or all. It is worked off in the background, in order.
#[utoipa::path(
    post, path = "/api/webhooks/{id}/resend", operation_id = "resendWebhookSince", tag = "Webhooks",
    params(WebhookInPath), request_body = ResendSince,
    responses(
        (status = 202, description = "They are going to be sent", body = ResendOut),
        (status = 404, description = "`not-found`: no such webhook, or another's"),
        (status = 409, description = "`webhook-switched-off`: enable it first"),
    )
)]
pub(crate) async fn resend_since(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<ManageWebhooks>,
    PathId(id): PathId,
    RawQuery(query): RawQuery,
    Json(body): Json,
) -> Result<Response, Problem> {
    let key = key(WebhookId(id), query.as_deref(), caller)?;
    let until = app.clock.now();
    let (since, which) = parse(body, until)?;
    active_webhook(&app, &key).await?;
    let resend_id = ResendId(Uuid::new_v4());
    tracing::info!(event = "resend_requested", webhook = %key.webhook_id, ?which);
    app.webhooks.wishes.wish(&ResendWish { resend_id, webhook: key, since, until, which, after: None }).await?;
    let accepted = ResendOut { since: since.to_string(), until: until.to_string(), which };
    Ok((StatusCode::ACCEPTED, axum::Json(accepted)).into_response())
}
