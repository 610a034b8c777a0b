//! `GET /api/parcels/{id}/proof-of-delivery`: to the photograph, by a link that is good for minutes.

use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;

use super::PathParcel;
use super::get::of_caller;
use crate::App;
use crate::caller::{Allowed, ManageParcels};
use crate::openapi::parameters::{LinkOrRedirect, ParcelInPath};
use crate::problem::Problem;
use crate::signed_link::{self, LinkOut};

/// Open the photograph of a delivery
#[utoipa::path(
    get, path = "/api/parcels/{id}/proof-of-delivery", operation_id = "getProof", tag = "Parcels",
    params(ParcelInPath, LinkOrRedirect),
    responses(
        (status = 200, description = "The link, for `Accept: application/json`", body = LinkOut),
        (status = 302, description = "To the photograph", headers(
            ("Location" = String, description = "A link good for a minute"),
        )),
        (status = 404, description = "`not-found`: no such parcel, another's, or no photograph yet"),
    )
)]
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
