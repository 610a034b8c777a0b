//! Parcels: created, read, searched, and moved along their way.

use async_trait::async_trait;

use super::{InvoiceSummary, PortError};
use crate::domain::{
    EmailAddress, OwnerId, Parcel, ParcelId, ParcelStatus, PostalCode, SearchPrefix, Text, Timestamp, TrackingEvent,
    TrackingNumber, Weight, search_form,
};

/// The caller's `Idempotency-Key` with what it was used for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyClaim {
    /// Scope and key: caller, route, and the key itself.
    pub key: String,
    /// SHA-256 of the request's canonical JSON.
    pub content_sha256: String,
    /// The answer to give again.
    pub answer: String,
    /// From when on the key may be used anew.
    pub expires: Timestamp,
}

/// What a request was answered when its `Idempotency-Key` came first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAnswer {
    /// SHA-256 of that request's canonical JSON.
    pub content_sha256: String,
    /// The answer.
    pub answer: String,
}

/// Reads what idempotency keys were used for (API).
#[async_trait]
pub trait ReadAnswers: Send + Sync {
    /// What was answered to this scope and key, unless it may be used anew by `now`.
    async fn answer(&self, key: &str, now: Timestamp) -> Result<Option<StoredAnswer>, PortError>;
}

/// How the creation of a parcel ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParcelCreation {
    /// It is there, made by this call.
    Created,
    /// The same key and content came before: here is the first answer.
    Replayed {
        /// The stored answer.
        answer: String,
    },
    /// The same key came before with other content.
    KeyUsedForOtherContent,
    /// The tracking number is another parcel's: draw again.
    TrackingNumberTaken,
}

/// Creates parcels (API).
#[async_trait]
pub trait CreateParcels: Send + Sync {
    /// Writes the parcel, its tracking number and the key's record in one transaction, or none of them.
    async fn create(
        &self,
        parcel: &Parcel,
        claim: Option<&IdempotencyClaim>,
        now: Timestamp,
    ) -> Result<ParcelCreation, PortError>;
}

/// The part of a parcel that a list shows: all but its timeline and its proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParcelSummary {
    /// Its id.
    pub id: ParcelId,
    /// The merchant whose parcel it is.
    pub owner: OwnerId,
    /// Unique among all parcels.
    pub tracking_number: TrackingNumber,
    /// Who gets it.
    pub recipient: Text<200>,
    /// Where its invoice is mailed to.
    pub email: EmailAddress,
    /// Where it goes.
    pub address: Option<Text<300>>,
    /// Where it goes, in six digits.
    pub postal_code: Option<PostalCode>,
    /// The recipient's telephone number, as written.
    pub phone: Option<Text<30>>,
    /// The merchant's own word for it.
    pub reference: Option<Text<100>>,
    /// What it weighs.
    pub weight: Option<Weight>,
    /// Where it is now.
    pub status: ParcelStatus,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl From<Parcel> for ParcelSummary {
    fn from(parcel: Parcel) -> Self {
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
        }
    }
}

/// Which of an owner's parcels, and in what order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParcelSelection {
    /// All, newest first.
    All,
    /// Those that are there now, newest first.
    InStatus(ParcelStatus),
    /// Those whose reference begins so, by reference, of equal ones the newest first.
    ReferenceBegins(SearchPrefix),
    /// Those whose recipient begins so, by recipient, of equal ones the newest first.
    RecipientBegins(SearchPrefix),
}

/// Where a page of parcels ends, and the next begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageEnd {
    /// What the page's last parcel was found by, in its search form; empty in a list by time.
    pub found_by: String,
    /// When that parcel was created.
    pub created_at: Timestamp,
    /// Which it is.
    pub parcel_id: ParcelId,
}

impl PageEnd {
    /// The page of this selection that ends with this parcel.
    #[must_use]
    pub fn at(selection: &ParcelSelection, parcel: &ParcelSummary) -> Self {
        let found_by = match selection {
            ParcelSelection::All | ParcelSelection::InStatus(_) => None,
            ParcelSelection::ReferenceBegins(_) => parcel.reference.as_ref().map(|text| search_form(text.as_str())),
            ParcelSelection::RecipientBegins(_) => Some(search_form(parcel.recipient.as_str())),
        };
        Self { found_by: found_by.unwrap_or_default(), created_at: parcel.created_at, parcel_id: parcel.id }
    }
}

/// Some parcels of a selection, in its order.
#[derive(Clone, Debug)]
pub struct ParcelPage {
    /// The parcels of this page.
    pub parcels: Vec<ParcelSummary>,
    /// Where to go on; `None` on the last page.
    pub end: Option<PageEnd>,
}

/// Reads parcels (API, simulator).
#[async_trait]
pub trait ReadParcels: Send + Sync {
    /// The parcel with this id.
    async fn parcel(&self, id: ParcelId) -> Result<Option<Parcel>, PortError>;

    /// Which parcel has this tracking number.
    async fn numbered(&self, number: &TrackingNumber) -> Result<Option<ParcelId>, PortError>;

    /// An owner's parcels of a selection, at most `limit`, those after `after`. The indexes lag a little.
    async fn parcels_of(
        &self,
        owner: &OwnerId,
        selection: &ParcelSelection,
        limit: u16,
        after: Option<&PageEnd>,
    ) -> Result<ParcelPage, PortError>;
}

/// A parcel, and how far its invoice is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownParcel {
    /// The parcel.
    pub parcel: Parcel,
    /// Its invoice, if there is one. May lag a little.
    pub invoice: Option<InvoiceSummary>,
}

/// Shows parcels (API).
#[async_trait]
pub trait ShowParcels: Send + Sync {
    /// The parcel with this id and its invoice, in one call.
    async fn shown(&self, id: ParcelId) -> Result<Option<ShownParcel>, PortError>;
}

/// A parcel as somebody who is about to move it has seen it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenParcel {
    /// Which.
    pub id: ParcelId,
    /// When it was created.
    pub created_at: Timestamp,
    /// Where it was.
    pub status: ParcelStatus,
    /// When it had last changed.
    pub updated_at: Timestamp,
}

impl From<&Parcel> for SeenParcel {
    fn from(parcel: &Parcel) -> Self {
        let Parcel { id, created_at, status, updated_at, .. } = *parcel;
        Self { id, created_at, status, updated_at }
    }
}

impl From<&ParcelSummary> for SeenParcel {
    fn from(parcel: &ParcelSummary) -> Self {
        let ParcelSummary { id, created_at, status, updated_at, .. } = *parcel;
        Self { id, created_at, status, updated_at }
    }
}

/// How the writing of a line of a timeline ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventRecording {
    /// It is there, and the parcel has moved.
    Recorded,
    /// The parcel is not as it was seen any more; nothing was written. It may have been this very call, whose answer was
    /// lost: then the line, with its id, is in the timeline.
    OvertakenByAnother,
    /// The same key and content came before: here is the first answer.
    Replayed {
        /// The stored answer.
        answer: String,
    },
    /// The same key came before with other content.
    KeyUsedForOtherContent,
}

/// Moves parcels along (API, simulator).
#[async_trait]
pub trait RecordEvents: Send + Sync {
    /// Adds a line to the timeline and moves the parcel to its status, if the parcel is still as it was seen; together
    /// with the key's record, or none of it. The answer in `claim` must have the line's id in it, so that no two are
    /// equal.
    async fn record(
        &self,
        seen: &SeenParcel,
        event: &TrackingEvent,
        claim: Option<&IdempotencyClaim>,
    ) -> Result<EventRecording, PortError>;
}
