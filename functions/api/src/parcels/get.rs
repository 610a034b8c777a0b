//! `GET /api/parcels/{id}`: a parcel with its timeline and its invoice's state.

use axum::Json;
use axum::extract::State;
use parceltrack::domain::Parcel;
use parceltrack::ports::InvoiceSummary;

use super::PathParcel;
use super::out::ParcelOut;
use crate::App;
use crate::caller::{Allowed, Caller, ManageParcels};
use crate::openapi::parameters::ParcelInPath;
use crate::problem::Problem;

/// The parcel, if it is there and the caller's. Another's parcel is "not found", so that nobody learns it exists.
pub(crate) fn of_caller(parcel: Option<Parcel>, caller: &Caller) -> Result<Parcel, Problem> {
    parcel.filter(|parcel| caller.sees(&parcel.owner)).ok_or(Problem::NotFound("parcel"))
}

/// The parcel with all that a look at it shows.
pub(super) async fn with_proof(
    app: &App,
    parcel: Parcel,
    invoice: Option<InvoiceSummary>,
) -> Result<ParcelOut, Problem> {
    let proof = match parcel.proof_expected_since {
        Some(_) => app.proofs.proof(parcel.id).await?,
        None => None,
    };
    Ok(ParcelOut::new(parcel, invoice, proof))
}

/// Look at a parcel
///
/// With its timeline and the state of its invoice.
#[utoipa::path(
    get, path = "/api/parcels/{id}", operation_id = "getParcel", tag = "Parcels",
    params(ParcelInPath),
    responses(
        (status = 200, description = "The parcel", body = ParcelOut),
        (status = 404, description = "`not-found`: no such parcel, or another's"),
    )
)]
pub(crate) async fn get(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<ManageParcels>,
    PathParcel(id): PathParcel,
) -> Result<Json<ParcelOut>, Problem> {
    let shown = app.show_parcels.shown(id).await?;
    let (parcel, invoice) = shown.map_or((None, None), |shown| (Some(shown.parcel), shown.invoice));
    with_proof(&app, of_caller(parcel, &caller)?, invoice).await.map(Json)
}
