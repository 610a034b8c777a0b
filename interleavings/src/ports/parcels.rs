//! Parcels, as the API creates and reads them.

use async_trait::async_trait;
use parceltrack::domain::{
    InvoiceId, OwnerId, Parcel, ParcelId, PhotoSize, PhotoType, ProofOfDelivery, Timestamp, TrackingEvent,
    TrackingNumber,
};
use parceltrack::ports::{
    CreateParcels, DrawTrackingNumber, EventRecording, ExpectProofs, IdempotencyClaim, KeepProofs, PageEnd,
    ParcelCreation, ParcelPage, ParcelSelection, ParcelSummary, PortError, ReadAnswers, ReadInvoices as _, ReadParcels,
    RecordEvents, SeenParcel, ShowParcels, ShownParcel, SignedUpload, StoredAnswer,
};

use super::{Ports, unavailable};
use crate::gate::{Op, digest};
use crate::mutation::Mutation;
use crate::world::World;

impl DrawTrackingNumber for Ports {
    /// The first try always gives the same number, so that all parcels but one must draw again.
    fn draw(&self, attempt: u32) -> TrackingNumber {
        let mut taken = 0;
        let world = self.gate.world();
        loop {
            let number = TrackingNumber::draw(taken, attempt);
            if attempt == 0 || world.parcels.by_number(&number).is_none() {
                return number;
            }
            taken += 1;
        }
    }
}

#[async_trait]
impl CreateParcels for Ports {
    async fn create(
        &self,
        parcel: &Parcel,
        claim: Option<&IdempotencyClaim>,
        now: Timestamp,
    ) -> Result<ParcelCreation, PortError> {
        let apart = self.gate.world().mutation == Some(Mutation::KeyRecordApart);
        let effect = |world: &mut World| {
            let before = world.parcels.rows().len();
            let answer = if apart {
                // Asked for first, and written later.
                match world.parcels.known(claim, now) {
                    Some((_, known)) => known,
                    None => world.parcels.create(parcel, None, now),
                }
            } else {
                world.parcels.create(parcel, claim, now)
            };
            if world.parcels.rows().len() > before {
                world.witness.parcel_created(parcel.id, claim.map(|claim| (&*claim.key, claim.expires)), now);
            }
            let word = match answer {
                ParcelCreation::Created => "created",
                ParcelCreation::Replayed { .. } => "replayed",
                ParcelCreation::KeyUsedForOtherContent => "other content",
                ParcelCreation::TrackingNumberTaken => "number taken",
            };
            self.tell(world, "creates a parcel", &word);
            answer
        };
        let seen = |answer: &ParcelCreation| digest(std::mem::discriminant(answer));
        let answer = self.gate.pass((Op::CreateParcel, 0), &[], effect, seen).await.map_err(unavailable)?;
        if let (true, Some(claim), ParcelCreation::Created) = (apart, claim, &answer) {
            let effect = |world: &mut World| {
                world.parcels.record_key(parcel.id, claim);
                self.tell(world, "records the key", &());
            };
            self.gate.pass((Op::RecordKey, 0), &[], effect, |()| 0).await.map_err(unavailable)?;
        }
        Ok(answer)
    }
}

#[async_trait]
impl ReadParcels for Ports {
    async fn parcel(&self, id: ParcelId) -> Result<Option<Parcel>, PortError> {
        let read = |world: &mut World| world.parcels.parcel(id).cloned();
        self.gate.pass((Op::ReadParcel, 0), &[], read, |parcel| u64::from(parcel.is_some())).await.map_err(unavailable)
    }

    async fn numbered(&self, number: &TrackingNumber) -> Result<Option<ParcelId>, PortError> {
        let read = |world: &mut World| world.parcels.by_number(number);
        self.gate.pass((Op::ReadParcel, 1), &[], read, |id| u64::from(id.is_some())).await.map_err(unavailable)
    }

    /// All of them, whatever is asked for: no request of ours lists any.
    async fn parcels_of(
        &self,
        _: &OwnerId,
        _: &ParcelSelection,
        _: u16,
        _: Option<&PageEnd>,
    ) -> Result<ParcelPage, PortError> {
        let parcels = self.gate.world().parcels.rows().iter().cloned().map(ParcelSummary::from).collect();
        Ok(ParcelPage { parcels, end: None })
    }
}

#[async_trait]
impl ShowParcels for Ports {
    /// As two reads, which may see more than one call would.
    async fn shown(&self, id: ParcelId) -> Result<Option<ShownParcel>, PortError> {
        let Some(parcel) = self.parcel(id).await? else { return Ok(None) };
        let invoice = self.summaries(&[InvoiceId::of_parcel(id)]).await?.pop();
        Ok(Some(ShownParcel { parcel, invoice }))
    }
}

#[async_trait]
impl RecordEvents for Ports {
    async fn record(
        &self,
        seen: &SeenParcel,
        event: &TrackingEvent,
        claim: Option<&IdempotencyClaim>,
    ) -> Result<EventRecording, PortError> {
        let effect = |world: &mut World| {
            let answer = world.parcels.record_event(seen, event, claim);
            self.tell(world, "moves a parcel", &answer);
            answer
        };
        let seen = |answer: &EventRecording| digest(std::mem::discriminant(answer));
        self.gate.pass((Op::RecordEvent, 0), &[], effect, seen).await.map_err(unavailable)
    }
}

#[async_trait]
impl ReadAnswers for Ports {
    async fn answer(&self, key: &str, now: Timestamp) -> Result<Option<StoredAnswer>, PortError> {
        let read = |world: &mut World| world.parcels.answer(key, now);
        self.gate.pass((Op::ReadAnswer, 0), &[], read, |answer| u64::from(answer.is_some())).await.map_err(unavailable)
    }
}

#[async_trait]
impl ExpectProofs for Ports {
    async fn expect_proof(&self, parcel: ParcelId, now: Timestamp) -> Result<(), PortError> {
        let effect = |world: &mut World| world.parcels.expect_proof(parcel, now);
        self.gate.pass((Op::ExpectProof, 0), &[], effect, |()| 0).await.map_err(unavailable)
    }
}

/// A store to which nobody has uploaded anything.
#[async_trait]
impl KeepProofs for Ports {
    async fn upload(&self, parcel: ParcelId, _: PhotoType, _: PhotoSize) -> Result<SignedUpload, PortError> {
        Ok(SignedUpload { url: format!("https://bucket.example/{parcel}"), headers: Vec::new() })
    }

    async fn proof(&self, _: ParcelId) -> Result<Option<ProofOfDelivery>, PortError> {
        Ok(None)
    }

    async fn link(&self, parcel: ParcelId, _: PhotoType) -> Result<String, PortError> {
        Ok(format!("https://bucket.example/{parcel}"))
    }
}
