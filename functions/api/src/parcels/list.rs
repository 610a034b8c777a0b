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

const DEFAULT_LIMIT: u16 = 20;
/// The largest page; a batch read of invoices takes as many keys.
const MAX_LIMIT: u16 = 100;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ParcelsOut {
    parcels: Vec<ParcelSummaryOut>,
    next_cursor: Option<String>,
}

/// The last value of a query parameter.
fn parameter(query: &str, name: &str) -> Option<String> {
    form_urlencoded::parse(query.as_bytes()).filter(|(key, _)| key == name).last().map(|(_, value)| value.into_owned())
}

fn limit(query: &str) -> Result<u16, Problem> {
    let Some(text) = parameter(query, "limit") else { return Ok(DEFAULT_LIMIT) };
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(limit @ 1..=MAX_LIMIT) if digits => Ok(limit),
        _ => Err(Problem::invalid_parameter("limit", "must be a whole number from 1 to 100")),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_a_whole_number_from_1_to_100() {
        assert_eq!(limit(""), Ok(20));
        assert_eq!(limit("limit=1"), Ok(1));
        assert_eq!(limit("x=1&limit=100"), Ok(100));
        for query in [
            "limit=",
            "limit=0",
            "limit=101",
            "limit=-1",
            "limit=+5",
            "limit=1.5",
            "limit=99999999999",
            "limit=%31%30%31",
        ] {
            assert!(limit(query).is_err(), "{query}");
        }
    }
}
