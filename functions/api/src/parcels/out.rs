//! Parcels as the API shows them.

use parceltrack::domain::{InvoiceId, InvoiceStatus, Parcel, ParcelStatus, ProofOfDelivery, TrackingEvent, Weight};
use parceltrack::ports::{InvoiceSummary, ParcelSummary};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::openapi::schemas;

/// A parcel without its timeline, as lists show it.
#[derive(Serialize, ToSchema)]
#[schema(as = ParcelSummary)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ParcelSummaryOut {
    #[schema(schema_with = schemas::uuid)]
    id: Uuid,
    #[schema(schema_with = schemas::tracking_number)]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    weight_grams: Option<u16>,
    #[schema(schema_with = schemas::parcel_status)]
    status: ParcelStatus,
    #[schema(schema_with = schemas::time)]
    created_at: String,
    #[schema(schema_with = schemas::time)]
    updated_at: String,
    invoice: Option<InvoiceSummaryOut>,
}

/// A parcel with its timeline.
#[derive(Serialize, ToSchema)]
#[schema(as = Parcel)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ParcelOut {
    #[serde(flatten)]
    summary: ParcelSummaryOut,
    events: Vec<EventOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof_of_delivery: Option<ProofOut>,
}

/// A line of a timeline.
#[derive(Serialize, ToSchema)]
#[schema(as = Event)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventOut {
    #[schema(schema_with = schemas::uuid)]
    id: Uuid,
    #[schema(schema_with = schemas::parcel_status)]
    status: ParcelStatus,
    #[schema(schema_with = schemas::time)]
    at: String,
    #[schema(schema_with = schemas::time)]
    recorded_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = ProofOfDelivery)]
#[serde(rename_all = "camelCase")]
struct ProofOut {
    #[schema(schema_with = schemas::time)]
    at: String,
    #[schema(schema_with = schemas::photo_type)]
    content_type: &'static str,
}

#[derive(Serialize, ToSchema)]
#[schema(as = InvoiceSummary)]
struct InvoiceSummaryOut {
    #[schema(schema_with = schemas::uuid)]
    id: InvoiceId,
    #[schema(schema_with = schemas::invoice_status)]
    status: InvoiceStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl ParcelSummaryOut {
    pub(crate) fn new(parcel: ParcelSummary, invoice: Option<InvoiceSummary>) -> Self {
        Self {
            id: parcel.id.0,
            tracking_number: parcel.tracking_number.into(),
            recipient: parcel.recipient.into(),
            email: parcel.email.into(),
            address: parcel.address.map(Into::into),
            postal_code: parcel.postal_code.map(Into::into),
            phone: parcel.phone.map(Into::into),
            reference: parcel.reference.map(Into::into),
            weight_grams: parcel.weight.map(Weight::grams),
            status: parcel.status,
            created_at: parcel.created_at.to_string(),
            updated_at: parcel.updated_at.to_string(),
            invoice: invoice.map(|InvoiceSummary { id, status, reason }| InvoiceSummaryOut { id, status, reason }),
        }
    }
}

impl ParcelOut {
    pub(crate) fn new(mut parcel: Parcel, invoice: Option<InvoiceSummary>, proof: Option<ProofOfDelivery>) -> Self {
        let events = std::mem::take(&mut parcel.events);
        Self {
            summary: ParcelSummaryOut::new(parcel.into(), invoice),
            events: events.into_iter().map(EventOut::from).collect(),
            proof_of_delivery: proof.map(|ProofOfDelivery { at, photo_type }| ProofOut {
                at: at.to_string(),
                content_type: photo_type.media_type(),
            }),
        }
    }
}

impl From<TrackingEvent> for EventOut {
    fn from(event: TrackingEvent) -> Self {
        Self {
            id: event.id.0,
            status: event.status,
            at: event.at.to_string(),
            recorded_at: event.recorded_at.to_string(),
            location: event.location.map(Into::into),
            note: event.note.map(Into::into),
        }
    }
}
