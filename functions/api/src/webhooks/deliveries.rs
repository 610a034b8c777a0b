//! What became of each event.

use axum::Json;
use axum::extract::{RawQuery, State};
use parceltrack::domain::{WebhookDeliveryStatus, WebhookId};
use parceltrack::ports::DeliveryPageEnd;
use serde::Serialize;
use utoipa::ToSchema;

use super::out::DeliveryOut;
use super::{key, webhook};
use crate::App;
use crate::caller::{Allowed, ManageWebhooks};
use crate::cursor::{List, Place};
use crate::openapi::parameters::{DeliveriesWanted, DeliveryInPath, Page, WebhookInPath};
use crate::path_id::{PathDelivery, PathId};
use crate::problem::Problem;
use crate::query::{limit, parameter};

#[derive(Serialize, ToSchema)]
#[schema(as = WebhookDeliveries)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeliveriesOut {
    deliveries: Vec<DeliveryOut>,
    next_cursor: Option<String>,
}

fn status(query: &str) -> Result<Option<WebhookDeliveryStatus>, Problem> {
    let Some(name) = parameter(query, "status") else { return Ok(None) };
    let known = WebhookDeliveryStatus::ALL.into_iter().find(|status| status.name() == name);
    let wrong = || Problem::invalid_parameter("status", "must be Pending, Delivered, Failed or Withdrawn");
    known.map(Some).ok_or_else(wrong)
}

/// List a webhook's deliveries
///
/// Newest first. With a status a page may be short or even empty though there are more: only `nextCursor: null` is the end.
#[utoipa::path(
    get, path = "/api/webhooks/{id}/deliveries", operation_id = "listWebhookDeliveries", tag = "Webhooks",
    params(WebhookInPath, DeliveriesWanted, Page),
    responses(
        (status = 200, description = "One page", body = DeliveriesOut),
        (status = 404, description = "`not-found`: no such webhook, or another's"),
    )
)]
pub(crate) async fn list_deliveries(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<ManageWebhooks>,
    PathId(id): PathId,
    RawQuery(query): RawQuery,
) -> Result<Json<DeliveriesOut>, Problem> {
    let key = key(WebhookId(id), query.as_deref(), caller)?;
    let query = query.unwrap_or_default();
    let (limit, status) = (limit(&query)?, status(&query)?);
    let list = List::of("deliveries", &[&key.webhook_id.to_string(), status.map_or("", WebhookDeliveryStatus::name)]);
    let after =
        list.after(&query, |place| Some(DeliveryPageEnd { created_at: place.time, id: place.rest.parse().ok()? }))?;
    webhook(&app, &key).await?;
    let page = app.webhooks.list.deliveries(key.webhook_id, status, limit, after).await?;
    Ok(Json(DeliveriesOut {
        deliveries: page.deliveries.into_iter().map(DeliveryOut::listed).collect(),
        next_cursor: page.end.map(|end| list.cursor(&Place { time: end.created_at, rest: end.id.to_string() })),
    }))
}

/// Look at a delivery
///
/// With what is sent.
#[utoipa::path(
    get, path = "/api/webhooks/{id}/deliveries/{deliveryId}", operation_id = "getWebhookDelivery", tag = "Webhooks",
    params(WebhookInPath, DeliveryInPath),
    responses(
        (status = 200, description = "The delivery", body = DeliveryOut),
        (status = 404, description = "`not-found`: no such delivery, or another's"),
    )
)]
pub(crate) async fn get_delivery(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<ManageWebhooks>,
    PathDelivery(id, delivery): PathDelivery,
    RawQuery(query): RawQuery,
) -> Result<Json<DeliveryOut>, Problem> {
    let key = key(id, query.as_deref(), caller)?;
    webhook(&app, &key).await?;
    let delivery = app.webhooks.deliveries.delivery(id, delivery).await?;
    Ok(Json(DeliveryOut::whole(delivery.ok_or(Problem::NotFound("delivery"))?)))
}
