//! The creation of a parcel: its row, its tracking number and its key's record in one transaction.

use async_trait::async_trait;

use super::ParcelTable;
use super::rows::{IdempotencyRow, TrackingNumberRow, parcel_row};
use crate::aws::row::{from_row, to_row};
use crate::aws::transaction::{FailedConditions, Transaction, item, put_if_new, put_key_if_free, transact};
use crate::domain::{Parcel, Timestamp};
use crate::ports::{CreateParcels, IdempotencyClaim, ParcelCreation, PortError};

/// The places of the writes in the transaction.
const PARCEL: usize = 0;
const TRACKING_NUMBER: usize = 1;
const KEY: usize = 2;

/// What the rows in the way come to.
fn refused(
    failed: &FailedConditions,
    parcel: &Parcel,
    claim: Option<&IdempotencyClaim>,
) -> Result<ParcelCreation, PortError> {
    if let (Some(row), Some(claim)) = (failed.row(KEY), claim) {
        let row: IdempotencyRow = from_row(row)?;
        return Ok(if row.parcel_id == parcel.id {
            // Our own write, whose answer was lost and which the SDK tried again.
            ParcelCreation::Created
        } else if row.content_sha256 == claim.content_sha256 {
            ParcelCreation::Replayed { answer: row.answer }
        } else {
            ParcelCreation::KeyUsedForOtherContent
        });
    }
    if let Some(row) = failed.row(TRACKING_NUMBER) {
        let row: TrackingNumberRow = from_row(row)?;
        return Ok(if row.parcel_id == parcel.id {
            ParcelCreation::Created
        } else {
            ParcelCreation::TrackingNumberTaken
        });
    }
    Err(PortError::Broken("another parcel has this parcel's id".to_owned()))
}

#[async_trait]
impl CreateParcels for ParcelTable {
    async fn create(
        &self,
        parcel: &Parcel,
        claim: Option<&IdempotencyClaim>,
        now: Timestamp,
    ) -> Result<ParcelCreation, PortError> {
        let number = TrackingNumberRow { tracking_number: parcel.tracking_number.clone(), parcel_id: parcel.id };
        let row = parcel_row(parcel.clone())?;
        let mut items = Vec::with_capacity(3);
        items.insert(PARCEL, item(put_if_new(&self.parcels, "parcelId").set_item(Some(row)))?);
        let put = put_if_new(&self.tracking_numbers, "trackingNumber").set_item(Some(to_row(number)?));
        items.insert(TRACKING_NUMBER, item(put)?);
        if let Some(claim) = claim {
            let record = to_row(IdempotencyRow::new(claim, parcel.id))?;
            items.insert(KEY, put_key_if_free(&self.idempotency_keys, record, now)?);
        }
        match transact(&self.client, items).await? {
            Transaction::Written => Ok(ParcelCreation::Created),
            Transaction::Refused(failed) => refused(&failed, parcel, claim),
        }
    }
}
