//! The part of an invoice's row that events tell of.

use serde::Deserialize;

use crate::domain::{
    Delivery, InvoiceId, InvoiceNumber, InvoiceStatus, InvoiceStory, OwnerId, ParcelId, RequestId, Timestamp,
    TrackingNumber,
};

/// Those attributes of [`super::InvoiceRow`]. Rows from before there were events have neither request nor count.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::aws) struct InvoiceStoryRow {
    invoice_id: InvoiceId,
    number: InvoiceNumber,
    parcel_id: ParcelId,
    owner: OwnerId,
    tracking_number: TrackingNumber,
    status: InvoiceStatus,
    delivery: Option<Delivery>,
    #[serde(default)]
    event_count: u64,
    correlation_id: Option<RequestId>,
    updated_at: Timestamp,
}

impl From<InvoiceStoryRow> for InvoiceStory {
    fn from(row: InvoiceStoryRow) -> Self {
        Self {
            id: row.invoice_id,
            number: row.number,
            parcel_id: row.parcel_id,
            owner: row.owner,
            tracking_number: row.tracking_number,
            status: row.status,
            delivery: row.delivery,
            event_count: row.event_count,
            correlation_id: row.correlation_id,
            updated_at: row.updated_at,
        }
    }
}
