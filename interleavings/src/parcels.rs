//! The tables of parcels: the transaction of `parceltrack::aws::ParcelTable`, all of it or nothing.

use std::collections::BTreeMap;

use parceltrack::domain::{Parcel, ParcelId, Timestamp, TrackingEvent, TrackingNumber};
use parceltrack::ports::{EventRecording, IdempotencyClaim, ParcelCreation, SeenParcel, StoredAnswer};

#[derive(Clone, Debug)]
struct KeyRow {
    parcel_id: ParcelId,
    claim: IdempotencyClaim,
}

/// Parcels, their tracking numbers, and idempotency keys.
#[derive(Debug, Default)]
pub struct Parcels {
    rows: Vec<Parcel>,
    numbers: BTreeMap<String, ParcelId>,
    keys: BTreeMap<String, KeyRow>,
}

impl Parcels {
    /// All parcels, in the order of creation.
    #[must_use]
    pub fn rows(&self) -> &[Parcel] {
        &self.rows
    }

    /// One parcel.
    #[must_use]
    pub fn parcel(&self, id: ParcelId) -> Option<&Parcel> {
        self.rows.iter().find(|parcel| parcel.id == id)
    }

    /// How many idempotency keys are known.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.keys.len()
    }

    /// Which parcel has this number.
    #[must_use]
    pub fn by_number(&self, number: &TrackingNumber) -> Option<ParcelId> {
        self.numbers.get(number.as_str()).copied()
    }

    /// What a key that came before says to this creation.
    pub fn known(&self, claim: Option<&IdempotencyClaim>, now: Timestamp) -> Option<(ParcelId, ParcelCreation)> {
        let claim = claim?;
        // In seconds, as the condition compares.
        let row = self.keys.get(&claim.key).filter(|row| row.claim.expires.seconds() > now.seconds())?;
        let answer = if row.claim.content_sha256 == claim.content_sha256 {
            ParcelCreation::Replayed { answer: row.claim.answer.clone() }
        } else {
            ParcelCreation::KeyUsedForOtherContent
        };
        Some((row.parcel_id, answer))
    }

    /// The transaction.
    pub fn create(&mut self, parcel: &Parcel, claim: Option<&IdempotencyClaim>, now: Timestamp) -> ParcelCreation {
        if let Some((first, answer)) = self.known(claim, now) {
            return if first == parcel.id { ParcelCreation::Created } else { answer };
        }
        match self.by_number(&parcel.tracking_number) {
            Some(owner) if owner == parcel.id => return ParcelCreation::Created,
            Some(_) => return ParcelCreation::TrackingNumberTaken,
            None => {}
        }
        self.numbers.insert(parcel.tracking_number.as_str().to_owned(), parcel.id);
        self.rows.push(parcel.clone());
        if let Some(claim) = claim {
            self.record_key(parcel.id, claim);
        }
        ParcelCreation::Created
    }

    /// A line of a timeline with the parcel's new status and the key's record: all of it or nothing.
    pub fn record_event(
        &mut self,
        seen: &SeenParcel,
        event: &TrackingEvent,
        claim: Option<&IdempotencyClaim>,
    ) -> EventRecording {
        if let Some((claim, known)) = claim.and_then(|claim| Some((claim, self.answer(&claim.key, event.recorded_at)?)))
        {
            return if known.answer == claim.answer {
                EventRecording::Recorded
            } else if known.content_sha256 == claim.content_sha256 {
                EventRecording::Replayed { answer: known.answer }
            } else {
                EventRecording::KeyUsedForOtherContent
            };
        }
        let Some(parcel) = self.rows.iter_mut().find(|parcel| SeenParcel::from(&**parcel) == *seen) else {
            return EventRecording::OvertakenByAnother;
        };
        *parcel = parcel.clone().after(event.clone());
        if let Some(claim) = claim {
            self.record_key(seen.id, claim);
        }
        EventRecording::Recorded
    }

    /// What was answered to this key.
    #[must_use]
    pub fn answer(&self, key: &str, now: Timestamp) -> Option<StoredAnswer> {
        let claim = &self.keys.get(key)?.claim;
        (claim.expires.seconds() > now.seconds())
            .then(|| StoredAnswer { content_sha256: claim.content_sha256.clone(), answer: claim.answer.clone() })
    }

    /// Notes that a photograph may come.
    pub fn expect_proof(&mut self, id: ParcelId, now: Timestamp) {
        if let Some(parcel) = self.rows.iter_mut().find(|parcel| parcel.id == id) {
            parcel.proof_expected_since.get_or_insert(now);
        }
    }

    /// The key's record alone: only for a world that is broken on purpose.
    pub fn record_key(&mut self, parcel_id: ParcelId, claim: &IdempotencyClaim) {
        self.keys.insert(claim.key.clone(), KeyRow { parcel_id, claim: claim.clone() });
    }
}
