//! What stands in the rows, and in the keys of the indexes.

use serde::{Deserialize, Serialize};

use crate::aws::row::{Row, text, to_row};
use crate::domain::{
    EmailAddress, OwnerId, Parcel, ParcelId, ParcelStatus, ParcelStory, PostalCode, RequestId, StoryLine, Text,
    Timestamp, TrackingEvent, TrackingEventId, TrackingNumber, Weight, search_form,
};
use crate::ports::{IdempotencyClaim, ParcelSummary, PortError};

/// Stands after a text in a key. It sorts before whatever a text may go on with, and no text has it.
const END_OF_TEXT: char = '\u{1f}';

/// Sorts an owner's parcels by time, and those of one millisecond by id.
pub(super) fn created_key(created_at: Timestamp, id: ParcelId) -> String {
    format!("{:013}#{id}", created_at.millis())
}

/// What the keys of the parcels in this status begin with.
pub(super) fn status_key_prefix(status: ParcelStatus) -> String {
    format!("{status}#")
}

/// Sorts an owner's parcels by status, then as [`created_key`].
pub(super) fn status_key(status: ParcelStatus, created_at: Timestamp, id: ParcelId) -> String {
    format!("{}{}", status_key_prefix(status), created_key(created_at, id))
}

/// Sorts an owner's parcels by the search form of a text, those of one text by time, the newest first.
pub(super) fn text_key(form: &str, created_at: Timestamp, id: ParcelId) -> String {
    format!("{form}{END_OF_TEXT}{:013}#{id}", Timestamp::LAST.since(created_at).as_millis())
}

/// The part of a parcel's row that every index has.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SummaryRow {
    parcel_id: ParcelId,
    owner: OwnerId,
    tracking_number: TrackingNumber,
    recipient: Text<200>,
    email: EmailAddress,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<Text<300>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    postal_code: Option<PostalCode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phone: Option<Text<30>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<Text<100>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight_grams: Option<Weight>,
    status: ParcelStatus,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl From<ParcelSummary> for SummaryRow {
    fn from(parcel: ParcelSummary) -> Self {
        Self {
            parcel_id: parcel.id,
            owner: parcel.owner,
            tracking_number: parcel.tracking_number,
            recipient: parcel.recipient,
            email: parcel.email,
            address: parcel.address,
            postal_code: parcel.postal_code,
            phone: parcel.phone,
            reference: parcel.reference,
            weight_grams: parcel.weight,
            status: parcel.status,
            created_at: parcel.created_at,
            updated_at: parcel.updated_at,
        }
    }
}

impl From<SummaryRow> for ParcelSummary {
    fn from(row: SummaryRow) -> Self {
        Self {
            id: row.parcel_id,
            owner: row.owner,
            tracking_number: row.tracking_number,
            recipient: row.recipient,
            email: row.email,
            address: row.address,
            postal_code: row.postal_code,
            phone: row.phone,
            reference: row.reference,
            weight: row.weight_grams,
            status: row.status,
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

/// A parcel as it stands in the table. Rows from before a field existed do not have it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ParcelRow {
    #[serde(flatten)]
    summary: SummaryRow,
    events: Vec<EventRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof_expected_since: Option<Timestamp>,
}

/// A parcel's row with the sort keys of the indexes, which follow from the rest and are never read.
pub(super) fn parcel_row(parcel: Parcel) -> Result<Row, PortError> {
    let Parcel { id, created_at, status, .. } = parcel;
    let mut keys = vec![
        ("createdKey", created_key(created_at, id)),
        ("statusKey", status_key(status, created_at, id)),
        ("recipientKey", text_key(&search_form(parcel.recipient.as_str()), created_at, id)),
    ];
    // Absent without a reference, so that the index has only those with one.
    let reference = parcel.reference.as_ref().map(|text| search_form(text.as_str()));
    keys.extend(reference.map(|form| ("referenceKey", text_key(&form, created_at, id))));
    let mut row = to_row(ParcelRow::from(parcel))?;
    row.extend(keys.into_iter().map(|(name, key)| (name.to_owned(), text(key))));
    Ok(row)
}

impl From<Parcel> for ParcelRow {
    fn from(mut parcel: Parcel) -> Self {
        Self {
            events: std::mem::take(&mut parcel.events).into_iter().map(EventRow::from).collect(),
            proof_expected_since: parcel.proof_expected_since,
            summary: ParcelSummary::from(parcel).into(),
        }
    }
}

impl From<ParcelRow> for Parcel {
    fn from(row: ParcelRow) -> Self {
        let parcel = ParcelSummary::from(row.summary);
        let events =
            row.events.into_iter().enumerate().map(|(place, event)| event.at_place(parcel.id, place)).collect();
        Self {
            id: parcel.id,
            owner: parcel.owner,
            tracking_number: parcel.tracking_number,
            recipient: parcel.recipient,
            email: parcel.email,
            address: parcel.address,
            postal_code: parcel.postal_code,
            phone: parcel.phone,
            reference: parcel.reference,
            weight: parcel.weight,
            status: parcel.status,
            created_at: parcel.created_at,
            updated_at: parcel.updated_at,
            events,
            proof_expected_since: row.proof_expected_since,
        }
    }
}

/// The part of a parcel's row that events tell of.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::aws) struct ParcelStoryRow {
    parcel_id: ParcelId,
    owner: OwnerId,
    tracking_number: TrackingNumber,
    events: Vec<EventRow>,
}

impl From<ParcelStoryRow> for ParcelStory {
    fn from(row: ParcelStoryRow) -> Self {
        let line = |line: EventRow| StoryLine {
            status: line.status,
            at: line.at,
            recorded_at: line.recorded_at.unwrap_or(line.at),
            correlation_id: line.correlation_id,
        };
        let lines = row.events.into_iter().map(line).collect();
        Self { id: row.parcel_id, owner: row.owner, tracking_number: row.tracking_number, lines }
    }
}

/// A line of a timeline. The first ones that were ever written have neither `id` nor `recordedAt`, and the next had no
/// `correlationId`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EventRow {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<TrackingEventId>,
    status: ParcelStatus,
    at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<Text<100>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<Text<200>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    correlation_id: Option<RequestId>,
}

impl From<TrackingEvent> for EventRow {
    fn from(event: TrackingEvent) -> Self {
        let TrackingEvent { id, status, at, recorded_at, location, note, correlation_id } = event;
        Self { id: Some(id), status, at, recorded_at: Some(recorded_at), location, note, correlation_id }
    }
}

impl EventRow {
    fn at_place(self, parcel: ParcelId, place: usize) -> TrackingEvent {
        TrackingEvent {
            id: self.id.unwrap_or_else(|| TrackingEventId::of_place(parcel, place)),
            status: self.status,
            at: self.at,
            recorded_at: self.recorded_at.unwrap_or(self.at),
            location: self.location,
            note: self.note,
            correlation_id: self.correlation_id,
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TrackingNumberRow {
    pub(super) tracking_number: TrackingNumber,
    pub(super) parcel_id: ParcelId,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct IdempotencyRow {
    idempotency_key: String,
    pub(super) parcel_id: ParcelId,
    pub(super) content_sha256: String,
    pub(super) answer: String,
    /// Epoch seconds, for the table's TTL; what counts is the comparison with the time.
    pub(super) expires: i64,
}

impl IdempotencyRow {
    pub(super) fn new(claim: &IdempotencyClaim, parcel_id: ParcelId) -> Self {
        Self {
            idempotency_key: claim.key.clone(),
            parcel_id,
            content_sha256: claim.content_sha256.clone(),
            answer: claim.answer.clone(),
            expires: claim.expires.seconds(),
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_key_sorts_by_text_then_newest_first_and_fits_into_an_index() {
        let id = ParcelId(Uuid::max());
        let key = |text: &str, millis| text_key(&search_form(text), Timestamp::from_millis(millis), id);
        let sorted = [key("Tan", 2_000), key("TAN", 1_000), key("Tan Ah Beng", 3_000), key("Tana", 0)];
        assert!(sorted.is_sorted(), "{sorted:?}");
        // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
        assert!(key(&"\u{10ffff}".repeat(200), 0).len() <= 1024);
    }
}
