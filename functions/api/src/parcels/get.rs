//! `GET /api/parcels/{id}`: a parcel with its timeline and its invoice's state.

use axum::Json;
use axum::extract::State;
use parceltrack::domain::{InvoiceId, Parcel, ParcelId};

use super::out::ParcelOut;
use crate::App;
use crate::caller::{Allowed, Caller, ManageParcels};
use crate::path_id::PathId;
use crate::problem::Problem;

/// The parcel, if it is there and the caller's. Another's parcel is "not found", so that nobody learns it exists.
pub(crate) fn of_caller(parcel: Option<Parcel>, caller: &Caller) -> Result<Parcel, Problem> {
    parcel.filter(|parcel| caller.sees(&parcel.owner)).ok_or(Problem::NotFound("parcel"))
}

pub(crate) async fn get(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<ManageParcels>,
    PathId(id): PathId,
) -> Result<Json<ParcelOut>, Problem> {
    let id = ParcelId(id);
    let invoice_id = [InvoiceId::of_parcel(id)];
    let (parcel, invoices) = tokio::join!(app.read_parcels.parcel(id), app.read_invoices.summaries(&invoice_id));
    let parcel = of_caller(parcel?, &caller)?;
    Ok(Json(ParcelOut::new(parcel, invoices?.pop())))
}
