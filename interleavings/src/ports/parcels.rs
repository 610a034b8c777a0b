//! Parcels, as the API creates and reads them.

use async_trait::async_trait;
use parceltrack::domain::{OwnerId, Parcel, ParcelId, Timestamp, TrackingNumber};
use parceltrack::ports::{
    CreateParcels, DrawTrackingNumber, IdempotencyClaim, PageEnd, ParcelCreation, ParcelPage, PortError, ReadParcels,
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

    async fn parcels_of(&self, _: &OwnerId, _: u16, _: Option<&PageEnd>) -> Result<ParcelPage, PortError> {
        Ok(ParcelPage { parcels: self.gate.world().parcels.rows().to_vec(), end: None })
    }
}
