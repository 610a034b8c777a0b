//! How many mails go to merchants, and how fast. The counts stand in the table of webhooks, under names that no owner can have,
//! until TTL sweeps them; their conditions are in the writes.

use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_dynamodb::types::{ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update};

use super::{WebhookTable, row_key};
use crate::aws::row::{Row, number, text};
use crate::aws::transaction::{Transaction, transact};
use crate::aws::update::send;
use crate::domain::{AddressHash, NOTICES_PER_ADDRESS, NOTICES_PER_OWNER, NOTICES_PER_WEBHOOK, Timestamp, Webhook};
use crate::ports::{BoundNotices, NoticeRight, PortError};

/// How long a count is kept: a day, and some more for clocks that differ.
const KEPT: Duration = Duration::from_hours(48);

const TURN: &str = "turn";

/// The place of the webhook's own row in the transaction; the counts follow.
const WEBHOOK: usize = 0;

pub(super) fn count_key(of: &str, what: &str) -> Row {
    [("owner".to_owned(), text(format!("notices#{of}"))), ("webhookId".to_owned(), text(what))].into()
}

/// The count of a day.
pub(super) fn day_key(of: &str, now: Timestamp) -> Row {
    count_key(of, &now.singapore_date().to_string())
}

impl WebhookTable {
    pub(super) fn counted(&self, of: &str, most: u32, now: Timestamp) -> Result<TransactWriteItem, PortError> {
        let update = Update::builder()
            .table_name(&self.name)
            .set_key(Some(day_key(of, now)))
            .update_expression("SET expires = :expires ADD mails :one")
            .condition_expression("attribute_not_exists(mails) OR mails < :most")
            .expression_attribute_values(":expires", number((now + KEPT).seconds()))
            .expression_attribute_values(":one", number(1))
            .expression_attribute_values(":most", number(most));
        built(update.build())
    }
}

pub(super) fn built(
    update: Result<Update, aws_sdk_dynamodb::error::BuildError>,
) -> Result<TransactWriteItem, PortError> {
    let update = update.map_err(|error| PortError::Broken(error.to_string()))?;
    Ok(TransactWriteItem::builder().update(update).build())
}

#[async_trait]
impl BoundNotices for WebhookTable {
    async fn count_notice(&self, webhook: &Webhook, off: Timestamp, now: Timestamp) -> Result<NoticeRight, PortError> {
        let once = Update::builder()
            .table_name(&self.name)
            .set_key(Some(row_key(&webhook.key())))
            .update_expression("SET noticeCounted = :off")
            .condition_expression(
                "switchedOffAt = :off AND (attribute_not_exists(noticeCounted) OR noticeCounted <> :off)",
            )
            .expression_attribute_values(":off", number(off.millis()))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        let items = vec![
            built(once.build())?,
            self.counted(&format!("address#{}", AddressHash::of(&webhook.contact)), NOTICES_PER_ADDRESS, now)?,
            self.counted(&format!("webhook#{}", webhook.id), NOTICES_PER_WEBHOOK, now)?,
            self.counted(&format!("owner#{}", webhook.owner), NOTICES_PER_OWNER, now)?,
        ];
        let Transaction::Refused(failed) = transact(&self.client, items).await? else {
            return Ok(NoticeRight::Granted);
        };
        Ok(match failed.row(WEBHOOK) {
            // Counted before, by whoever did not get to send it.
            Some(row) if row.get("noticeCounted") == Some(&number(off.millis())) => NoticeRight::Granted,
            // Switched on, or deleted meanwhile: nobody is to be told any more.
            Some(_) => NoticeRight::NotYet,
            None => NoticeRight::TooMany,
        })
    }

    async fn notice_turn(&self, interval: Duration, now: Timestamp) -> Result<NoticeRight, PortError> {
        let update = self
            .client
            .update_item()
            .table_name(&self.name)
            .set_key(Some(count_key(TURN, TURN)))
            .update_expression("SET nextAt = :next")
            .condition_expression("attribute_not_exists(nextAt) OR nextAt <= :now")
            .expression_attribute_values(":next", number((now + interval).millis()))
            .expression_attribute_values(":now", number(now.millis()));
        Ok(if send(update).await?.is_ok() { NoticeRight::Granted } else { NoticeRight::NotYet })
    }
}
