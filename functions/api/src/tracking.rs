//! `GET /api/track/{trackingNumber}`: how far a parcel has come, for whoever has its number.
//!
//! Everybody may ask, so nothing of it tells who sends what to whom.

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::CACHE_CONTROL;
use parceltrack::domain::{InvalidTrackingNumber, Parcel, ParcelStatus, TrackingEvent, TrackingNumber};
use serde::Serialize;
use utoipa::ToSchema;

use crate::App;
use crate::openapi::parameters::TrackingNumberInPath;
use crate::openapi::schemas;
use crate::problem::Problem;

/// A parcel moves a few times a day.
const CACHEABLE: HeaderValue = HeaderValue::from_static("public, max-age=30");

#[derive(Serialize, ToSchema)]
#[schema(as = Tracking)]
#[serde(rename_all = "camelCase")]
struct TrackingOut {
    #[schema(schema_with = schemas::tracking_number)]
    tracking_number: String,
    #[schema(schema_with = schemas::parcel_status)]
    status: ParcelStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = schemas::parcel_status)]
    expected_next: Option<ParcelStatus>,
    #[schema(schema_with = schemas::time)]
    created_at: String,
    #[schema(schema_with = schemas::time)]
    updated_at: String,
    events: Vec<TrackedEventOut>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = TrackedEvent)]
struct TrackedEventOut {
    #[schema(schema_with = schemas::parcel_status)]
    status: ParcelStatus,
    #[schema(schema_with = schemas::time)]
    at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<String>,
}

impl From<Parcel> for TrackingOut {
    fn from(parcel: Parcel) -> Self {
        Self {
            tracking_number: parcel.tracking_number.into(),
            status: parcel.status,
            expected_next: parcel.status.next_without_trouble(),
            created_at: parcel.created_at.to_string(),
            updated_at: parcel.updated_at.to_string(),
            events: parcel
                .events
                .into_iter()
                .map(|TrackingEvent { status, at, location, .. }| TrackedEventOut {
                    status,
                    at: at.to_string(),
                    location: location.map(Into::into),
                })
                .collect(),
        }
    }
}

/// Track a parcel
///
/// For everybody who has its number; nothing of it tells who sends what to whom.
#[utoipa::path(
    get, path = "/api/track/{trackingNumber}", operation_id = "trackParcel", tag = "Tracking", security(()),
    params(TrackingNumberInPath),
    responses(
        (status = 200, description = "How far it has come", body = TrackingOut),
        (status = 404, description = "`not-found`: no such number"),
    )
)]
pub(crate) async fn track(State(app): State<App>, Path(number): Path<String>) -> Result<Response, Problem> {
    let number: TrackingNumber = number
        .parse()
        .map_err(|error: InvalidTrackingNumber| Problem::invalid_parameter("trackingNumber", &error.to_string()))?;
    let unknown = || Problem::NotFound("tracking number");
    let id = app.read_parcels.numbered(&number).await?.ok_or_else(unknown)?;
    let parcel = app.read_parcels.parcel(id).await?.ok_or_else(unknown)?;
    Ok(([(CACHE_CONTROL, CACHEABLE)], Json(TrackingOut::from(parcel))).into_response())
}
