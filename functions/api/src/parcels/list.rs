//! `GET /api/parcels`: the caller's parcels page by page, all of them or those that are searched for.

use axum::Json;
use axum::extract::{RawQuery, State};
use parceltrack::domain::{InvoiceId, OwnerId, ParcelId, ParcelStatus, SearchPrefix, TrackingNumber, UnknownStatus};
use parceltrack::ports::{PageEnd, ParcelSelection, ParcelSummary};
use serde::Serialize;
use utoipa::ToSchema;

use super::out::ParcelSummaryOut;
use crate::App;
use crate::caller::{Allowed, Caller, ManageParcels, named_owner};
use crate::cursor::{List, Place, wrong_cursor};
use crate::openapi::parameters::{Page, ParcelsWanted};
use crate::path_id::hyphenated;
use crate::problem::Problem;
use crate::query::{MAX_LIMIT, limit, parameter};

#[derive(Serialize, ToSchema)]
#[schema(as = Parcels)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ParcelsOut {
    parcels: Vec<ParcelSummaryOut>,
    next_cursor: Option<String>,
}

fn status(query: &str) -> Result<Option<ParcelStatus>, Problem> {
    parameter(query, "status")
        .map(|name| {
            name.parse().map_err(|error: UnknownStatus| Problem::invalid_parameter("status", &error.to_string()))
        })
        .transpose()
}

/// What is looked for.
#[derive(Debug, PartialEq, Eq)]
enum Search {
    /// Nothing in particular; an empty search box says no more.
    Everything,
    /// One parcel.
    Number(TrackingNumber),
    /// Those whose reference or recipient begins so.
    Beginning(SearchPrefix),
}

fn search(query: &str) -> Result<Search, Problem> {
    let Some(text) = parameter(query, "q").filter(|text| !text.trim().is_empty()) else {
        return Ok(Search::Everything);
    };
    if let Ok(number) = text.trim().to_ascii_uppercase().parse() {
        return Ok(Search::Number(number));
    }
    SearchPrefix::try_from(text)
        .map(Search::Beginning)
        .map_err(|error| Problem::invalid_parameter("q", &error.to_string()))
}

/// A list in one or two stretches, the second after the first. Each is in one piece in an index.
struct Stretches {
    owner: OwnerId,
    selections: Vec<ParcelSelection>,
    /// Only those that are there now. With a search no index has them in one piece.
    status: Option<ParcelStatus>,
}

impl Stretches {
    fn of(search: &Search, owner: OwnerId, status: Option<ParcelStatus>) -> Self {
        match (search, status) {
            (Search::Beginning(prefix), status) => {
                let selections = vec![
                    ParcelSelection::ReferenceBegins(prefix.clone()),
                    ParcelSelection::RecipientBegins(prefix.clone()),
                ];
                Self { owner, selections, status }
            }
            (_, Some(status)) => Self { owner, selections: vec![ParcelSelection::InStatus(status)], status: None },
            (_, None) => Self { owner, selections: vec![ParcelSelection::All], status: None },
        }
    }

    fn list(&self, stretch: usize) -> List {
        let (kind, of) = match &self.selections[stretch] {
            ParcelSelection::All => ("all", ""),
            ParcelSelection::InStatus(status) => ("status", status.name()),
            ParcelSelection::ReferenceBegins(prefix) => ("reference", prefix.as_str()),
            ParcelSelection::RecipientBegins(prefix) => ("recipient", prefix.as_str()),
        };
        List::of("parcels", &[self.owner.as_str(), kind, of, self.status.map_or("", ParcelStatus::name)])
    }

    fn cursor(&self, stretch: usize, end: &PageEnd) -> String {
        let rest = format!("{}{}", end.parcel_id, end.found_by);
        self.list(stretch).cursor(&Place { time: end.created_at, rest })
    }

    /// The stretch and the place in it that a cursor means.
    fn place(&self, cursor: &str) -> Result<(usize, PageEnd), Problem> {
        (0..self.selections.len())
            .find_map(|stretch| Some((stretch, self.end(stretch, self.list(stretch).place(cursor)?)?)))
            .ok_or_else(wrong_cursor)
    }

    /// The end of a page at this place, which must be within the stretch: DynamoDB refuses a key that is not.
    fn end(&self, stretch: usize, Place { time, rest }: Place) -> Option<PageEnd> {
        let (id, found_by) = rest.split_at_checked(uuid::fmt::Hyphenated::LENGTH)?;
        let within = match &self.selections[stretch] {
            ParcelSelection::All | ParcelSelection::InStatus(_) => found_by.is_empty(),
            ParcelSelection::ReferenceBegins(prefix) | ParcelSelection::RecipientBegins(prefix) => {
                prefix.finds(found_by)
            }
        };
        let end = PageEnd { found_by: found_by.to_owned(), created_at: time, parcel_id: ParcelId(hyphenated(id)?) };
        within.then_some(end)
    }

    /// Whether the list shows a parcel of this stretch.
    fn shows(&self, stretch: usize, parcel: &ParcelSummary) -> bool {
        // Who is found by reference as well was shown there.
        let shown_before = self.selections[..stretch].iter().any(|earlier| match (earlier, &parcel.reference) {
            (ParcelSelection::ReferenceBegins(prefix), Some(reference)) => prefix.begins(reference.as_str()),
            _ => false,
        });
        !shown_before && self.status.is_none_or(|status| parcel.status == status)
    }

    /// At most `limit` parcels from the cursor on, and the next cursor. One read of each stretch at most, so a page of
    /// which much is not shown is short.
    async fn page(
        &self,
        app: &App,
        limit: u16,
        cursor: Option<&str>,
    ) -> Result<(Vec<ParcelSummary>, Option<String>), Problem> {
        let (first, mut after) = match cursor.map(|cursor| self.place(cursor)).transpose()? {
            Some((stretch, end)) => (stretch, Some(end)),
            None => (0, None),
        };
        let mut shown = Vec::new();
        for (stretch, selection) in self.selections.iter().enumerate().skip(first) {
            let room = limit - u16::try_from(shown.len()).unwrap_or(limit);
            // Most of what is read may be elsewhere.
            let read = if self.status.is_some() { MAX_LIMIT } else { room };
            let page = app.read_parcels.parcels_of(&self.owner, selection, read, after.take().as_ref()).await?;
            for parcel in page.parcels {
                let end = PageEnd::at(selection, &parcel);
                if self.shows(stretch, &parcel) {
                    shown.push(parcel);
                }
                if shown.len() >= limit.into() && (page.end.as_ref() != Some(&end)) {
                    return Ok((shown, Some(self.cursor(stretch, &end))));
                }
            }
            if let Some(end) = page.end {
                return Ok((shown, Some(self.cursor(stretch, &end))));
            }
        }
        Ok((shown, None))
    }
}

/// The one parcel with this number: an operator's search for it goes through all owners, unless one is named.
async fn numbered(
    app: &App,
    number: &TrackingNumber,
    caller: &Caller,
    owner: Option<&OwnerId>,
    status: Option<ParcelStatus>,
) -> Result<Vec<ParcelSummary>, Problem> {
    let Some(id) = app.read_parcels.numbered(number).await? else { return Ok(Vec::new()) };
    let parcel = app.read_parcels.parcel(id).await?.filter(|parcel| {
        caller.sees(&parcel.owner)
            && owner.is_none_or(|owner| parcel.owner == *owner)
            && status.is_none_or(|status| parcel.status == status)
    });
    Ok(parcel.map(ParcelSummary::from).into_iter().collect())
}

/// List and search parcels
///
/// Newest first; of a search, those found by reference before those found by recipient. A page may be short or even empty
/// though there are more: only `nextCursor: null` is the end.
#[utoipa::path(
    get, path = "/api/parcels", operation_id = "listParcels", tag = "Parcels",
    params(ParcelsWanted, Page),
    responses(
        (status = 200, description = "One page", body = ParcelsOut),
        (status = 404, description = "`not-found`: an owner whom the caller may not know of"),
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<ManageParcels>,
    RawQuery(query): RawQuery,
) -> Result<Json<ParcelsOut>, Problem> {
    let query = query.unwrap_or_default();
    let (limit, status, search) = (limit(&query)?, status(&query)?, search(&query)?);
    let owner = named_owner(&query, &caller)?;
    let cursor = parameter(&query, "cursor");

    let (parcels, next_cursor) = match (&search, cursor) {
        (Search::Number(_), Some(_)) => return Err(wrong_cursor()),
        (Search::Number(number), None) => (numbered(&app, number, &caller, owner.as_ref(), status).await?, None),
        (_, cursor) => {
            let stretches = Stretches::of(&search, owner.unwrap_or(caller.owner), status);
            stretches.page(&app, limit, cursor.as_deref()).await?
        }
    };
    let ids: Vec<InvoiceId> = parcels.iter().map(|parcel| InvoiceId::of_parcel(parcel.id)).collect();
    let mut invoices = app.read_invoices.summaries(&ids).await?;
    let parcels = parcels
        .into_iter()
        .zip(ids)
        .map(|(parcel, id)| {
            let invoice = invoices.iter().position(|invoice| invoice.id == id).map(|index| invoices.swap_remove(index));
            ParcelSummaryOut::new(parcel, invoice)
        })
        .collect();
    Ok(Json(ParcelsOut { parcels, next_cursor }))
}

#[cfg(test)]
mod tests {
    use parceltrack::domain::Timestamp;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cursor_comes_back_as_it_went_in_its_own_list_and_in_no_other() {
        let prefix = SearchPrefix::try_from("tan".to_owned()).unwrap();
        let (all, searched) = (Search::Everything, Search::Beginning(prefix));
        let mut lists = Vec::new();
        for (search, status) in [
            (&all, None),
            (&all, Some(ParcelStatus::Created)),
            (&all, Some(ParcelStatus::Delivered)),
            (&searched, None),
            (&searched, Some(ParcelStatus::Created)),
        ] {
            for owner in ["lion-city", "orchard-books"] {
                lists.push(Stretches::of(search, owner.parse().unwrap(), status));
            }
        }
        let end = |list: &Stretches| PageEnd {
            found_by: if list.selections.len() == 2 { "tan wei ming".to_owned() } else { String::new() },
            created_at: Timestamp::from_millis(1_790_000_000_123),
            parcel_id: ParcelId(uuid::Uuid::from_u128(7)),
        };
        for (from, list) in lists.iter().enumerate() {
            for stretch in 0..list.selections.len() {
                let cursor = list.cursor(stretch, &end(list));
                for (to, other) in lists.iter().enumerate() {
                    let place = other.place(&cursor);
                    assert_eq!(place, if from == to { Ok((stretch, end(list))) } else { Err(wrong_cursor()) });
                }
            }
        }
    }

    proptest! {
        #[test]
        fn a_forged_place_is_within_what_was_asked_for_or_none(time in 0_i64..2_000_000_000_000, text in ".{0,120}") {
            let prefix = SearchPrefix::try_from("tan".to_owned()).unwrap();
            let list = Stretches::of(&Search::Beginning(prefix.clone()), "lion-city".parse().unwrap(), None);
            let id = uuid::Uuid::from_u128(7);
            for rest in [text.clone(), format!("{id}{text}"), format!("{id}tan{text}")] {
                let place = Place { time: Timestamp::from_millis(time), rest };
                if let Ok((_, end)) = list.place(&list.list(0).cursor(&place)) {
                    prop_assert!(prefix.finds(&end.found_by));
                    prop_assert!(end.found_by.len() <= 400);
                }
            }
        }
    }

    #[test]
    fn a_search_is_for_a_number_if_it_can_be_one() {
        let number = |text: &str| Search::Number(text.parse().unwrap());
        assert_eq!(search("q=LCL48291057"), Ok(number("LCL48291057")));
        assert_eq!(search("q=+lcl48291057+"), Ok(number("LCL48291057")));
        assert_eq!(search("q="), Ok(Search::Everything));
        assert_eq!(search("q=%20"), Ok(Search::Everything));
        for query in ["q=LCL48291058", "q=tan", "q=%E9%99%88", "q=LCL"] {
            assert!(matches!(search(query), Ok(Search::Beginning(_))), "{query}");
        }
        assert!(search("q=a%0Ab").is_err());
        assert!(search(&format!("q={}", "a".repeat(101))).is_err());
    }
}
