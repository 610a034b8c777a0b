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

use crate::App;
use crate::problem::Problem;

/// A parcel moves a few times a day.
const CACHEABLE: HeaderValue = HeaderValue::from_static("public, max-age=30");

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TrackingOut {
    tracking_number: String,
    status: ParcelStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_next: Option<ParcelStatus>,
    created_at: String,
    updated_at: String,
    events: Vec<TrackedEventOut>,
}

#[derive(Serialize)]
struct TrackedEventOut {
    status: ParcelStatus,
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

pub(crate) async fn track(State(app): State<App>, Path(number): Path<String>) -> Result<Response, Problem> {
    let number: TrackingNumber = number
        .parse()
        .map_err(|error: InvalidTrackingNumber| Problem::invalid_parameter("trackingNumber", &error.to_string()))?;
    let unknown = || Problem::NotFound("tracking number");
    let id = app.read_parcels.numbered(&number).await?.ok_or_else(unknown)?;
    let parcel = app.read_parcels.parcel(id).await?.ok_or_else(unknown)?;
    Ok(([(CACHE_CONTROL, CACHEABLE)], Json(TrackingOut::from(parcel))).into_response())
}
