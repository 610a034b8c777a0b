//! `POST /api/parcels/{id}/cancel`: calls a parcel off that nobody has picked up yet.

use axum::extract::State;
use axum::{Extension, Json};
use parceltrack::domain::{EventReport, InvoiceId, Parcel, ParcelStatus, RequestId};

use super::out::ParcelOut;
use super::step::{self, Step};
use super::{PathParcel, get};
use crate::App;
use crate::caller::{Allowed, CancelParcels};
use crate::openapi::parameters::ParcelInPath;
use crate::problem::Problem;

/// Call a parcel off
///
/// Only while it is `Created`. A second time is the same as once.
#[utoipa::path(
    post, path = "/api/parcels/{id}/cancel", operation_id = "cancelParcel", tag = "Parcels",
    params(ParcelInPath),
    responses(
        (status = 200, description = "The parcel, cancelled now or before", body = ParcelOut),
        (status = 404, description = "`not-found`: no such parcel, or another's"),
        (status = 409, description = "`step-not-allowed`: somebody has it already; `timeline-full`"),
    )
)]
pub(crate) async fn cancel(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<CancelParcels>,
    PathParcel(id): PathParcel,
    Extension(request_id): Extension<RequestId>,
) -> Result<Json<ParcelOut>, Problem> {
    let report = EventReport { status: ParcelStatus::Cancelled, at: None, location: None, note: None };
    let own = |parcel: Option<Parcel>| get::of_caller(parcel, &caller);
    let parcel = match step::take(&app, id, &report, &request_id, own, |_| Ok(None)).await {
        Ok(Step::Taken { parcel, .. } | Step::TakenBefore { parcel, .. }) => parcel,
        // Called off before, with other words: it is what the caller wants.
        Err(Problem::StepNotAllowed { current: ParcelStatus::Cancelled, .. }) => {
            own(app.read_parcels.parcel(id).await?)?
        }
        // Only a request with a key is replayed, and this one has none.
        Ok(Step::Replayed { .. }) => return Err(Problem::Internal),
        Err(problem) => return Err(problem),
    };
    let invoice = app.read_invoices.summaries(&[InvoiceId::of_parcel(id)]).await?.pop();
    get::with_proof(&app, parcel, invoice).await.map(Json)
}
