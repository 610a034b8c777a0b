//! Parcels as the API shows them.

use parceltrack::domain::{InvoiceId, InvoiceStatus, Parcel, ParcelStatus, TrackingEvent};
use parceltrack::ports::InvoiceSummary;
use serde::Serialize;
use uuid::Uuid;

/// A parcel without its timeline, as lists show it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ParcelSummaryOut {
    id: Uuid,
    tracking_number: String,
    recipient: String,
    email: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    postal_code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
    status: ParcelStatus,
    created_at: String,
    updated_at: String,
    invoice: Option<InvoiceSummaryOut>,
}

/// A parcel with its timeline.
#[derive(Serialize)]
pub(crate) struct ParcelOut {
    #[serde(flatten)]
    summary: ParcelSummaryOut,
    events: Vec<EventOut>,
}

#[derive(Serialize)]
struct EventOut {
    status: ParcelStatus,
    at: String,
}

#[derive(Serialize)]
struct InvoiceSummaryOut {
    id: InvoiceId,
    status: InvoiceStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl ParcelSummaryOut {
    pub(crate) fn new(parcel: Parcel, invoice: Option<InvoiceSummary>) -> Self {
        Self {
            id: parcel.id.0,
            tracking_number: parcel.tracking_number.into(),
            recipient: parcel.recipient.into(),
            email: parcel.email.into(),
            address: parcel.address.map(Into::into),
            postal_code: parcel.postal_code.map(Into::into),
            phone: parcel.phone.map(Into::into),
            reference: parcel.reference.map(Into::into),
            status: parcel.status,
            created_at: parcel.created_at.to_string(),
            updated_at: parcel.updated_at.to_string(),
            invoice: invoice.map(|InvoiceSummary { id, status, reason }| InvoiceSummaryOut { id, status, reason }),
        }
    }
}

impl ParcelOut {
    pub(crate) fn new(mut parcel: Parcel, invoice: Option<InvoiceSummary>) -> Self {
        let events = std::mem::take(&mut parcel.events);
        Self {
            summary: ParcelSummaryOut::new(parcel, invoice),
            events: events
                .into_iter()
                .map(|TrackingEvent { status, at }| EventOut { status, at: at.to_string() })
                .collect(),
        }
    }
}
