//! `GET /api/parcels/{id}/proof-of-delivery`: to the photograph, by a link that is good for minutes.

use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;

use super::PathParcel;
use super::get::of_caller;
use crate::App;
use crate::caller::{Allowed, ManageParcels};
use crate::problem::Problem;
use crate::signed_link;

pub(crate) async fn proof(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<ManageParcels>,
    PathParcel(id): PathParcel,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let parcel = of_caller(app.read_parcels.parcel(id).await?, &caller)?;
    let none = Problem::NotFound("proof of delivery yet");
    if parcel.proof_expected_since.is_none() {
        return Err(none);
    }
    let proof = app.proofs.proof(id).await?.ok_or(none)?;
    Ok(signed_link::answer(app.proofs.link(id, proof.photo_type).await?, &headers))
}
