//! The steps of a parcel: a line in its timeline and its new status in one conditional update.

use std::collections::HashMap;

use async_trait::async_trait;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem, Update};

use super::ParcelTable;
use super::rows::{EventRow, IdempotencyRow, status_key};
use crate::aws::failure::port_error;
use crate::aws::row::{attribute, from_row, number, text, to_row};
use crate::aws::transaction::{Transaction, put_key_if_free, transact};
use crate::domain::{MAX_EVENTS, ParcelId, Timestamp, TrackingEvent};
use crate::ports::{
    EventRecording, ExpectProofs, IdempotencyClaim, PortError, ReadAnswers, RecordEvents, SeenParcel, StoredAnswer,
};

const MOVE: &str = "SET #status = :to, statusKey = :statusKey, updatedAt = :now, events = list_append(events, :event)";

/// Both: a parcel may have come back to a status that it had when it was seen. And the bound, which two writes of one
/// millisecond could otherwise pass side by side.
const AS_SEEN: &str = "#status = :from AND updatedAt = :seen AND size(events) < :most";

/// The places of the writes in the transaction.
const PARCEL: usize = 0;
const KEY: usize = 1;

fn values(seen: &SeenParcel, event: &TrackingEvent) -> Result<HashMap<String, AttributeValue>, PortError> {
    let values = [
        (":from", text(seen.status)),
        (":seen", number(seen.updated_at.millis())),
        (":to", text(event.status)),
        (":statusKey", text(status_key(event.status, seen.created_at, seen.id))),
        (":now", number(event.recorded_at.millis())),
        (":most", number(i64::try_from(MAX_EVENTS).unwrap_or(i64::MAX))),
        (":event", attribute([EventRow::from(event.clone())])?),
    ];
    Ok(values.map(|(name, value)| (name.to_owned(), value)).into())
}

impl ParcelTable {
    async fn record_alone(&self, seen: &SeenParcel, event: &TrackingEvent) -> Result<EventRecording, PortError> {
        let result = self
            .client
            .update_item()
            .table_name(&self.parcels)
            .key("parcelId", text(seen.id))
            .update_expression(MOVE)
            .condition_expression(AS_SEEN)
            .expression_attribute_names("#status", "status")
            .set_expression_attribute_values(Some(values(seen, event)?))
            .send()
            .await;
        match result {
            Ok(_) => Ok(EventRecording::Recorded),
            Err(error)
                if error.as_service_error().is_some_and(UpdateItemError::is_conditional_check_failed_exception) =>
            {
                Ok(EventRecording::OvertakenByAnother)
            }
            Err(error) => Err(port_error(&error)),
        }
    }

    async fn record_with_key(
        &self,
        seen: &SeenParcel,
        event: &TrackingEvent,
        claim: &IdempotencyClaim,
    ) -> Result<EventRecording, PortError> {
        let update = Update::builder()
            .table_name(&self.parcels)
            .key("parcelId", text(seen.id))
            .update_expression(MOVE)
            .condition_expression(AS_SEEN)
            .expression_attribute_names("#status", "status")
            .set_expression_attribute_values(Some(values(seen, event)?))
            .build()
            .map_err(|error| PortError::Broken(error.to_string()))?;
        let mut items = Vec::with_capacity(2);
        items.insert(PARCEL, TransactWriteItem::builder().update(update).build());
        let record = to_row(IdempotencyRow::new(claim, seen.id))?;
        items.insert(KEY, put_key_if_free(&self.idempotency_keys, record, event.recorded_at)?);
        let failed = match transact(&self.client, items).await? {
            Transaction::Written => return Ok(EventRecording::Recorded),
            Transaction::Refused(failed) => failed,
        };
        let Some(row) = failed.row(KEY) else { return Ok(EventRecording::OvertakenByAnother) };
        let row: IdempotencyRow = from_row(row)?;
        Ok(if row.answer == claim.answer {
            // Our own write, whose answer was lost and which the SDK tried again.
            EventRecording::Recorded
        } else if row.content_sha256 == claim.content_sha256 {
            EventRecording::Replayed { answer: row.answer }
        } else {
            EventRecording::KeyUsedForOtherContent
        })
    }
}

#[async_trait]
impl RecordEvents for ParcelTable {
    async fn record(
        &self,
        seen: &SeenParcel,
        event: &TrackingEvent,
        claim: Option<&IdempotencyClaim>,
    ) -> Result<EventRecording, PortError> {
        match claim {
            None => self.record_alone(seen, event).await,
            Some(claim) => self.record_with_key(seen, event, claim).await,
        }
    }
}

#[async_trait]
impl ReadAnswers for ParcelTable {
    async fn answer(&self, key: &str, now: Timestamp) -> Result<Option<StoredAnswer>, PortError> {
        let answer = self
            .client
            .get_item()
            .table_name(&self.idempotency_keys)
            .key("idempotencyKey", text(key))
            .consistent_read(true)
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        let row: Option<IdempotencyRow> = answer.item.map(from_row).transpose()?;
        Ok(row
            .filter(|row| row.expires > now.seconds())
            .map(|row| StoredAnswer { content_sha256: row.content_sha256, answer: row.answer }))
    }
}

#[async_trait]
impl ExpectProofs for ParcelTable {
    async fn expect_proof(&self, parcel: ParcelId, now: Timestamp) -> Result<(), PortError> {
        self.client
            .update_item()
            .table_name(&self.parcels)
            .key("parcelId", text(parcel))
            .update_expression("SET proofExpectedSince = if_not_exists(proofExpectedSince, :now)")
            // Or it would make a parcel that has nothing else.
            .condition_expression("attribute_exists(parcelId)")
            .expression_attribute_values(":now", number(now.millis()))
            .send()
            .await
            .map(|_| ())
            .map_err(|error| port_error(&error))
    }
}
