//! Transactions: all of it or nothing, and again when another one was in the way.

use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::builders::PutBuilder;
use aws_sdk_dynamodb::types::{CancellationReason, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem};

use super::failure::{port_error, shown_code};
use super::row::{Row, number};
use crate::domain::Timestamp;
use crate::ports::PortError;

/// How often a transaction that another one got in the way of is tried, at most.
const CONFLICT_TRIES: u32 = 8;

/// How a transaction ended.
pub(super) enum Transaction {
    /// All of it was written.
    Written,
    /// Nothing was, since conditions failed.
    Refused(FailedConditions),
}

/// The conditions that failed, each with the row that was in its way.
pub(super) struct FailedConditions(Vec<CancellationReason>);

impl FailedConditions {
    /// The row in the way of the transaction's write of this place; empty if there is none.
    pub(super) fn row(&self, place: usize) -> Option<Row> {
        self.0
            .get(place)
            .filter(|reason| reason.code() == Some("ConditionalCheckFailed"))
            .map(|reason| reason.item().cloned().unwrap_or_default())
    }
}

/// Writes all of it, or nothing.
pub(super) async fn transact(client: &Client, items: Vec<TransactWriteItem>) -> Result<Transaction, PortError> {
    for attempt in 0..CONFLICT_TRIES {
        let result = client.transact_write_items().set_transact_items(Some(items.clone())).send().await;
        let Err(error) = result else { return Ok(Transaction::Written) };
        let SdkError::ServiceError(service) = &error else { return Err(port_error(&error)) };
        let TransactWriteItemsError::TransactionCanceledException(cancelled) = service.err() else {
            return Err(port_error(&error));
        };
        let reasons = cancelled.cancellation_reasons();
        let is = |code: &str| reasons.iter().any(|reason| reason.code() == Some(code));
        if is("ConditionalCheckFailed") {
            return Ok(Transaction::Refused(FailedConditions(reasons.to_vec())));
        }
        // Never read as "exists already": somebody else was writing at the same moment, or we write too fast.
        if !["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"].into_iter().any(is) {
            let codes: Vec<_> = reasons.iter().map(|reason| reason.code().map_or("None", shown_code)).collect();
            return Err(PortError::Broken(format!("transaction cancelled: {codes:?}")));
        }
        let ceiling = 20_u64 << attempt.min(5);
        tokio::time::sleep(Duration::from_millis(fastrand::u64(ceiling / 2..=ceiling))).await;
    }
    Err(PortError::Unavailable("other transactions were in the way".to_owned()))
}

/// The write of an idempotency key's record, if the key is free.
pub(super) fn put_key_if_free(table: &str, record: Row, now: Timestamp) -> Result<TransactWriteItem, PortError> {
    let put = put_if_new(table, "idempotencyKey")
        // TTL sweeps days late; until then an expired key is free all the same.
        .condition_expression("attribute_not_exists(idempotencyKey) OR expires <= :now")
        .expression_attribute_values(":now", number(now.seconds()));
    item(put.set_item(Some(record)))
}

/// A write that fails if the row is there.
pub(super) fn put_if_new(table: &str, key: &str) -> PutBuilder {
    Put::builder()
        .table_name(table)
        .condition_expression(format!("attribute_not_exists({key})"))
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
}

/// A write as a part of a transaction.
pub(super) fn item(put: PutBuilder) -> Result<TransactWriteItem, PortError> {
    let put = put.build().map_err(|error| PortError::Broken(error.to_string()))?;
    Ok(TransactWriteItem::builder().put(put).build())
}
