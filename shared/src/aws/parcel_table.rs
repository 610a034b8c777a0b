//! Parcels in DynamoDB, with the tables that keep tracking numbers and idempotency keys unique.

use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{CancellationReason, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem};
use serde::{Deserialize, Serialize};

use super::failure::port_error;
use super::row::{attribute, from_row, number, text, to_row};
use crate::domain::{
    EmailAddress, OwnerId, Parcel, ParcelId, ParcelStatus, PostalCode, Text, Timestamp, TrackingEvent, TrackingNumber,
};
use crate::ports::{
    CreateParcels, IdempotencyClaim, MoveParcels, PageEnd, ParcelCreation, ParcelPage, PortError, ReadParcels,
    StepTaken,
};

const BY_OWNER: &str = "by-owner";

/// How often a transaction that another one got in the way of is tried, at most.
const CONFLICT_TRIES: u32 = 8;

/// The names of the three tables that a parcel's creation writes to.
#[derive(Clone, Debug)]
pub struct ParcelTable {
    client: Client,
    parcels: String,
    tracking_numbers: String,
    idempotency_keys: String,
}

impl ParcelTable {
    /// The three tables of these names.
    #[must_use]
    pub fn new(client: Client, parcels: String, tracking_numbers: String, idempotency_keys: String) -> Self {
        Self { client, parcels, tracking_numbers, idempotency_keys }
    }

    /// The table of parcels alone, for who creates none.
    #[must_use]
    pub fn for_moving(client: Client, parcels: String) -> Self {
        Self::new(client, parcels, String::new(), String::new())
    }
}

/// A parcel as it stands in the table.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ParcelRow {
    parcel_id: ParcelId,
    owner: OwnerId,
    /// Sorts an owner's parcels by time, and those of one millisecond by id.
    created_key: String,
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
    status: ParcelStatus,
    created_at: Timestamp,
    updated_at: Timestamp,
    events: Vec<TrackingEvent>,
}

fn created_key(created_at: Timestamp, id: ParcelId) -> String {
    format!("{:013}#{id}", created_at.millis())
}

impl From<Parcel> for ParcelRow {
    fn from(parcel: Parcel) -> Self {
        Self {
            created_key: created_key(parcel.created_at, parcel.id),
            parcel_id: parcel.id,
            owner: parcel.owner,
            tracking_number: parcel.tracking_number,
            recipient: parcel.recipient,
            email: parcel.email,
            address: parcel.address,
            postal_code: parcel.postal_code,
            phone: parcel.phone,
            reference: parcel.reference,
            status: parcel.status,
            created_at: parcel.created_at,
            updated_at: parcel.updated_at,
            events: parcel.events,
        }
    }
}

impl From<ParcelRow> for Parcel {
    fn from(row: ParcelRow) -> Self {
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
            status: row.status,
            created_at: row.created_at,
            updated_at: row.updated_at,
            events: row.events,
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TrackingNumberRow {
    tracking_number: TrackingNumber,
    parcel_id: ParcelId,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct IdempotencyRow {
    idempotency_key: String,
    parcel_id: ParcelId,
    content_sha256: String,
    answer: String,
    /// Epoch seconds, for the table's TTL; what counts is the comparison in the condition.
    expires: i64,
}

impl ParcelTable {
    fn creation(
        &self,
        parcel: &Parcel,
        claim: Option<&IdempotencyClaim>,
        now: Timestamp,
    ) -> Result<Vec<TransactWriteItem>, PortError> {
        let if_new = |table: &str, key: &str| {
            Put::builder()
                .table_name(table)
                .condition_expression(format!("attribute_not_exists({key})"))
                .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
        };
        let mut puts = vec![
            if_new(&self.parcels, "parcelId").set_item(Some(to_row(ParcelRow::from(parcel.clone()))?)),
            if_new(&self.tracking_numbers, "trackingNumber").set_item(Some(to_row(TrackingNumberRow {
                tracking_number: parcel.tracking_number.clone(),
                parcel_id: parcel.id,
            })?)),
        ];
        if let Some(claim) = claim {
            let row = to_row(IdempotencyRow {
                idempotency_key: claim.key.clone(),
                parcel_id: parcel.id,
                content_sha256: claim.content_sha256.clone(),
                answer: claim.answer.clone(),
                expires: claim.expires.seconds(),
            })?;
            puts.push(
                if_new(&self.idempotency_keys, "idempotencyKey")
                    // TTL sweeps days late; until then an expired key is free all the same.
                    .condition_expression("attribute_not_exists(idempotencyKey) OR expires <= :now")
                    .expression_attribute_values(":now", number(now.seconds()))
                    .set_item(Some(row)),
            );
        }
        puts.into_iter()
            .map(|put| {
                let put = put.build().map_err(|error| PortError::Broken(error.to_string()))?;
                Ok(TransactWriteItem::builder().put(put).build())
            })
            .collect()
    }
}

/// What a cancelled transaction comes to; `None` if it should be tried again.
fn creation_cancelled(
    reasons: &[CancellationReason],
    parcel: &Parcel,
    claim: Option<&IdempotencyClaim>,
) -> Result<Option<ParcelCreation>, PortError> {
    let code = |reason: &CancellationReason| reason.code().unwrap_or("None").to_owned();
    let existing = |index: usize| {
        reasons
            .get(index)
            .filter(|reason| reason.code() == Some("ConditionalCheckFailed"))
            .map(|reason| reason.item().cloned().unwrap_or_default())
    };
    if let (Some(row), Some(claim)) = (existing(2), claim) {
        let row: IdempotencyRow = from_row(row)?;
        return Ok(Some(if row.parcel_id == parcel.id {
            // Our own write, whose answer was lost and which the SDK tried again.
            ParcelCreation::Created
        } else if row.content_sha256 == claim.content_sha256 {
            ParcelCreation::Replayed { answer: row.answer }
        } else {
            ParcelCreation::KeyUsedForOtherContent
        }));
    }
    if let Some(row) = existing(1) {
        let row: TrackingNumberRow = from_row(row)?;
        return Ok(Some(if row.parcel_id == parcel.id {
            ParcelCreation::Created
        } else {
            ParcelCreation::TrackingNumberTaken
        }));
    }
    if existing(0).is_some() {
        return Err(PortError::Broken("another parcel has this parcel's id".to_owned()));
    }
    // Never read as "exists already": somebody else was writing at the same moment, or we write too fast.
    let passing = ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"];
    if reasons.iter().any(|reason| passing.contains(&code(reason).as_str())) {
        return Ok(None);
    }
    Err(PortError::Broken(format!("transaction cancelled: {:?}", reasons.iter().map(code).collect::<Vec<_>>())))
}

#[async_trait]
impl CreateParcels for ParcelTable {
    async fn create(
        &self,
        parcel: &Parcel,
        claim: Option<&IdempotencyClaim>,
        now: Timestamp,
    ) -> Result<ParcelCreation, PortError> {
        let puts = self.creation(parcel, claim, now)?;
        for attempt in 0..CONFLICT_TRIES {
            let result = self.client.transact_write_items().set_transact_items(Some(puts.clone())).send().await;
            let Err(error) = result else { return Ok(ParcelCreation::Created) };
            let SdkError::ServiceError(service) = &error else { return Err(port_error(&error)) };
            let TransactWriteItemsError::TransactionCanceledException(cancelled) = service.err() else {
                return Err(port_error(&error));
            };
            if let Some(outcome) = creation_cancelled(cancelled.cancellation_reasons(), parcel, claim)? {
                return Ok(outcome);
            }
            let ceiling = 20_u64 << attempt.min(5);
            tokio::time::sleep(Duration::from_millis(fastrand::u64(ceiling / 2..=ceiling))).await;
        }
        Err(PortError::Unavailable("other transactions were in the way".to_owned()))
    }
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
        answer.item.map(|row| from_row::<ParcelRow>(row).map(Parcel::from)).transpose()
    }

    async fn parcels_of(&self, owner: &OwnerId, limit: u16, after: Option<&PageEnd>) -> Result<ParcelPage, PortError> {
        let start = after.map(|end| {
            [
                ("owner".to_owned(), text(owner)),
                ("createdKey".to_owned(), text(created_key(end.created_at, end.parcel_id))),
                ("parcelId".to_owned(), text(end.parcel_id)),
            ]
            .into()
        });
        let answer = self
            .client
            .query()
            .table_name(&self.parcels)
            .index_name(BY_OWNER)
            .key_condition_expression("#owner = :owner")
            .expression_attribute_names("#owner", "owner")
            .expression_attribute_values(":owner", text(owner))
            .scan_index_forward(false)
            .limit(i32::from(limit))
            .set_exclusive_start_key(start)
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        let more = answer.last_evaluated_key.is_some_and(|key| !key.is_empty());
        let parcels = answer
            .items
            .unwrap_or_default()
            .into_iter()
            .map(|row| from_row::<ParcelRow>(row).map(Parcel::from))
            .collect::<Result<Vec<_>, _>>()?;
        let end =
            parcels.last().filter(|_| more).map(|last| PageEnd { created_at: last.created_at, parcel_id: last.id });
        Ok(ParcelPage { parcels, end })
    }
}

#[async_trait]
impl MoveParcels for ParcelTable {
    async fn step(
        &self,
        id: ParcelId,
        from: ParcelStatus,
        to: ParcelStatus,
        now: Timestamp,
    ) -> Result<StepTaken, PortError> {
        let event = attribute([TrackingEvent { status: to, at: now }])?;
        let result = self
            .client
            .update_item()
            .table_name(&self.parcels)
            .key("parcelId", text(id))
            .update_expression("SET #status = :to, updatedAt = :now, events = list_append(events, :event)")
            .condition_expression("#status = :from")
            .expression_attribute_names("#status", "status")
            .expression_attribute_values(":from", attribute(from)?)
            .expression_attribute_values(":to", attribute(to)?)
            .expression_attribute_values(":now", number(now.millis()))
            .expression_attribute_values(":event", event)
            .send()
            .await;
        match result {
            Ok(_) => Ok(StepTaken::Moved),
            Err(error)
                if error.as_service_error().is_some_and(UpdateItemError::is_conditional_check_failed_exception) =>
            {
                Ok(StepTaken::OvertakenByAnother)
            }
            Err(error) => Err(port_error(&error)),
        }
    }
}
