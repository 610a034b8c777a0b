//! `POST /api/parcels/{id}/events`: what happened to a parcel, told by a driver or an operator. Safe to repeat.

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, StatusCode};
use parceltrack::domain::{EventReport, ParcelStatus, RequestId, Text, Timestamp, TrackingEvent};
use serde_json::Value;

use super::PathParcel;
use super::idempotency::{IDEMPOTENT_REPLAYED, KeyUse};
use super::out::EventOut;
use super::step::{self, Step};
use crate::App;
use crate::caller::{Allowed, CancelParcels, ReportEvents, Right as _};
use crate::fields::{Fields, Problems};
use crate::json::Json;
use crate::openapi::bodies::NewEvent;
use crate::openapi::parameters::{IdempotencyKey, ParcelInPath};
use crate::problem::Problem;

fn parse(body: Value) -> Result<EventReport, Problem> {
    let mut problems = Problems::default();
    let report = Fields::of(body, "", &mut problems).and_then(|mut fields| {
        let status = fields.required("status", &mut problems, |name| name.parse::<ParcelStatus>());
        let at = fields.optional("occurredAt", &mut problems, |text| {
            Timestamp::parse(&text).ok_or("must be a time such as 2026-11-30T09:15:00+08:00")
        });
        let location = fields.optional("location", &mut problems, Text::try_from);
        let note = fields.optional("note", &mut problems, Text::try_from);
        fields.finish(&mut problems);
        Some(EventReport { status: status?, at: at?, location: location?, note: note? })
    });
    problems.into_result(report)
}

fn answer_of(event: &TrackingEvent) -> Result<String, Problem> {
    serde_json::to_string(&EventOut::from(event.clone())).map_err(|_| Problem::Internal)
}

fn created(answer: String) -> Response {
    (StatusCode::CREATED, [(CONTENT_TYPE, "application/json")], answer).into_response()
}

fn replayed(answer: String) -> Response {
    tracing::info!(event = "event_replayed");
    let mut response = created(answer);
    response.headers_mut().insert(IDEMPOTENT_REPLAYED, HeaderValue::from_static("true"));
    response
}

/// Tell what happened to a parcel
///
/// For drivers and operators, any parcel. The same event again gets its line again. `occurredAt` is now, if unsaid; it is
/// not before the parcel, and at most five minutes ahead of our clock.
#[utoipa::path(
    post, path = "/api/parcels/{id}/events", operation_id = "reportEvent", tag = "Parcels",
    params(ParcelInPath, IdempotencyKey), request_body = NewEvent,
    responses(
        (status = 201, description = "The line of the timeline", body = EventOut, headers(
            ("Idempotent-Replayed" = String, description = "`true` if the event was known"),
        )),
        (status = 404, description = "`not-found`: no such parcel"),
        (status = 409, description = "`step-not-allowed`: a parcel does not go from where it is to there; \
                                      `timeline-full`: it has 200 lines"),
        (status = 422, description = "`invalid-fields`: fields of the body are wrong, the first fifty named; \
                                      `idempotency-key-reused`: the key came with other content before"),
    )
)]
pub(crate) async fn report_event(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<ReportEvents>,
    PathParcel(id): PathParcel,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
    Json(body): Json,
) -> Result<Response, Problem> {
    let key = KeyUse::of(&headers, &caller.owner, &format!("POST /api/parcels/{id}/events"), &body)?;
    let report = parse(body)?;
    if report.status == ParcelStatus::Cancelled && !CancelParcels::belongs_to(caller.role) {
        return Err(Problem::Forbidden);
    }
    let now = app.clock.now();
    // Asked before the step is judged: what was allowed when the key came first need not be allowed now.
    if let Some(key) = &key
        && let Some(known) = app.read_answers.answer(&key.key, now).await?
    {
        let same = known.content_sha256 == key.content_sha256;
        return if same { Ok(replayed(known.answer)) } else { Err(Problem::KeyUsedForOtherContent) };
    }
    let claim = |event: &TrackingEvent| key.as_ref().map(|key| Ok(key.claim(&answer_of(event)?, now))).transpose();
    let any = |parcel: Option<_>| parcel.ok_or(Problem::NotFound("parcel"));
    match step::take(&app, id, &report, &request_id, any, claim).await? {
        Step::Taken { event, .. } => answer_of(&event).map(created),
        Step::TakenBefore { event, .. } => answer_of(&event).map(replayed),
        Step::Replayed { answer } => Ok(replayed(answer)),
    }
}
