//! `GET /api/parcels`: the caller's parcels, newest first, page by page.

use axum::Json;
use axum::extract::{RawQuery, State};
use parceltrack::domain::{InvalidOwner, InvoiceId, OwnerId};
use parceltrack::ports::PageEnd;
use serde::Serialize;

use super::cursor;
use super::out::ParcelSummaryOut;
use crate::App;
use crate::caller::{Allowed, Caller, ManageParcels};
use crate::problem::Problem;
use crate::query::{limit, parameter};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ParcelsOut {
    parcels: Vec<ParcelSummaryOut>,
    next_cursor: Option<String>,
}

/// Whose parcels: the caller's own, or, for operators, those of the owner they name.
fn owner(query: &str, caller: Caller) -> Result<OwnerId, Problem> {
    match parameter(query, "owner") {
        None => Ok(caller.owner),
        Some(name) => {
            let owner: OwnerId =
                name.parse().map_err(|error: InvalidOwner| Problem::invalid_parameter("owner", &error.to_string()))?;
            if caller.sees(&owner) { Ok(owner) } else { Err(Problem::NotFound("owner")) }
        }
    }
}

pub(crate) async fn list(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<ManageParcels>,
    RawQuery(query): RawQuery,
) -> Result<Json<ParcelsOut>, Problem> {
    let query = query.unwrap_or_default();
    let limit = limit(&query)?;
    let owner = owner(&query, caller)?;
    let after: Option<PageEnd> = match parameter(&query, "cursor") {
        None => None,
        Some(text) => Some(
            cursor::decode(&owner, &text)
                .ok_or_else(|| Problem::invalid_parameter("cursor", "must be a nextCursor of this list"))?,
        ),
    };

    let page = app.read_parcels.parcels_of(&owner, limit, after.as_ref()).await?;
    let ids: Vec<InvoiceId> = page.parcels.iter().map(|parcel| InvoiceId::of_parcel(parcel.id)).collect();
    let mut invoices = app.read_invoices.summaries(&ids).await?;
    let parcels = page
        .parcels
        .into_iter()
        .zip(ids)
        .map(|(parcel, id)| {
            let invoice = invoices.iter().position(|invoice| invoice.id == id).map(|index| invoices.swap_remove(index));
            ParcelSummaryOut::new(parcel, invoice)
        })
        .collect();
    let next_cursor = page.end.map(|end| cursor::encode(&owner, &end));
    Ok(Json(ParcelsOut { parcels, next_cursor }))
}
