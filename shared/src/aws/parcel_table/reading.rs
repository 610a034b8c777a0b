//! Parcels by id, by tracking number, and in the order of an index.

use async_trait::async_trait;

use super::ParcelTable;
use super::rows::{ParcelRow, SummaryRow, TrackingNumberRow, created_key, status_key, status_key_prefix, text_key};
use crate::aws::failure::port_error;
use crate::aws::row::{Row, from_row, text};
use crate::domain::{OwnerId, Parcel, ParcelId, TrackingNumber};
use crate::ports::{PageEnd, ParcelPage, ParcelSelection, ParcelSummary, PortError, ReadParcels};

/// The index that has a selection in one piece, in its order. Each has the owner as hash key.
struct Index {
    name: &'static str,
    sort_key: &'static str,
    /// What the sort keys of the selection begin with.
    prefix: Option<String>,
    ascending: bool,
}

impl Index {
    fn of(selection: &ParcelSelection) -> Self {
        let index = |name, sort_key, prefix, ascending| Self { name, sort_key, prefix, ascending };
        match selection {
            ParcelSelection::All => index("by-owner", "createdKey", None, false),
            ParcelSelection::InStatus(status) => {
                index("by-status", "statusKey", Some(status_key_prefix(*status)), false)
            }
            ParcelSelection::ReferenceBegins(prefix) => {
                index("by-reference", "referenceKey", Some(prefix.as_str().to_owned()), true)
            }
            ParcelSelection::RecipientBegins(prefix) => {
                index("by-recipient", "recipientKey", Some(prefix.as_str().to_owned()), true)
            }
        }
    }
}

/// The key of the index after which a page begins. Its partition is the owner's, wherever the rest comes from.
fn start(owner: &OwnerId, selection: &ParcelSelection, end: &PageEnd) -> Row {
    let PageEnd { found_by, created_at, parcel_id } = end;
    let sort_key = match selection {
        ParcelSelection::All => created_key(*created_at, *parcel_id),
        // Where the parcel stood, though it may have moved on.
        ParcelSelection::InStatus(status) => status_key(*status, *created_at, *parcel_id),
        ParcelSelection::ReferenceBegins(_) | ParcelSelection::RecipientBegins(_) => {
            text_key(found_by, *created_at, *parcel_id)
        }
    };
    [
        ("owner".to_owned(), text(owner)),
        (Index::of(selection).sort_key.to_owned(), text(sort_key)),
        ("parcelId".to_owned(), text(parcel_id)),
    ]
    .into()
}

/// The parcel that stands in a row.
pub(in crate::aws) fn parcel_of_row(row: Row) -> Result<Parcel, PortError> {
    from_row::<ParcelRow>(row).map(Parcel::from)
}

#[async_trait]
impl ReadParcels for ParcelTable {
    async fn parcel(&self, id: ParcelId) -> Result<Option<Parcel>, PortError> {
        let answer = self
            .client
            .get_item()
            .table_name(&self.parcels)
            .key("parcelId", text(id))
            .consistent_read(true)
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        answer.item.map(parcel_of_row).transpose()
    }

    async fn numbered(&self, number: &TrackingNumber) -> Result<Option<ParcelId>, PortError> {
        let answer = self
            .client
            .get_item()
            .table_name(&self.tracking_numbers)
            .key("trackingNumber", text(number))
            .consistent_read(true)
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        answer.item.map(|row| from_row::<TrackingNumberRow>(row).map(|row| row.parcel_id)).transpose()
    }

    async fn parcels_of(
        &self,
        owner: &OwnerId,
        selection: &ParcelSelection,
        limit: u16,
        after: Option<&PageEnd>,
    ) -> Result<ParcelPage, PortError> {
        let index = Index::of(selection);
        let query = self.client.query().table_name(&self.parcels).index_name(index.name);
        let query = match index.prefix {
            None => query.key_condition_expression("#owner = :owner"),
            Some(prefix) => query
                .key_condition_expression("#owner = :owner AND begins_with(#key, :prefix)")
                .expression_attribute_names("#key", index.sort_key)
                .expression_attribute_values(":prefix", text(prefix)),
        };
        let answer = query
            .expression_attribute_names("#owner", "owner")
            .expression_attribute_values(":owner", text(owner))
            .scan_index_forward(index.ascending)
            .limit(i32::from(limit))
            .set_exclusive_start_key(after.map(|end| start(owner, selection, end)))
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        let more = answer.last_evaluated_key.is_some_and(|key| !key.is_empty());
        let parcels = answer
            .items
            .unwrap_or_default()
            .into_iter()
            .map(|row| from_row::<SummaryRow>(row).map(ParcelSummary::from))
            .collect::<Result<Vec<_>, _>>()?;
        let end = parcels.last().filter(|_| more).map(|last| PageEnd::at(selection, last));
        Ok(ParcelPage { parcels, end })
    }
}
