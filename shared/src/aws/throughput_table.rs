//! How the work goes, in DynamoDB: one row for each slot of time and counter, swept by TTL.

use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::update_item::builders::UpdateItemFluentBuilder;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::failure::port_error;
use super::row::{attribute, from_row, number, text};
use crate::domain::{Provider, ProviderState, Slot, Slots, Timestamp};
use crate::ports::{
    Backlog, CountSends, History, NoteBacklog, NoteProvider, OpenInvoices, PastBacklog, PortError, ReadHistory,
    ReadProvider, ReadSends,
};

/// The counter of mails that the provider accepted.
const SENT: &str = "sent";

/// What was open.
const BACKLOG: &str = "backlog";

/// Whether the provider takes mail. Of all time: there is one row.
const PROVIDER: &str = "provider";
const OF_ALL_TIME: Slot = Slot::at_seconds(0);

/// How long a slot is kept: an hour is shown, in whole minutes.
const KEPT: Duration = Duration::from_mins(70);

/// The table of throughput.
#[derive(Clone, Debug)]
pub struct ThroughputTable {
    client: Client,
    name: String,
}

impl ThroughputTable {
    /// The table of this name.
    #[must_use]
    pub fn new(client: Client, name: String) -> Self {
        Self { client, name }
    }

    fn update(&self, counter: &str, slot: Slot) -> UpdateItemFluentBuilder {
        let update = self.client.update_item().table_name(&self.name);
        update.key("counter", text(counter)).key("slot", number(slot.seconds()))
    }

    /// The rows of a counter, oldest first. An hour of them is far below the megabyte that one answer holds.
    async fn rows<T: DeserializeOwned>(&self, counter: &str, slots: Slots) -> Result<Vec<T>, PortError> {
        let answer = self
            .client
            .query()
            .table_name(&self.name)
            .key_condition_expression("#counter = :counter AND slot BETWEEN :first AND :last")
            // A word of DynamoDB's own.
            .expression_attribute_names("#counter", "counter")
            .expression_attribute_values(":counter", text(counter))
            .expression_attribute_values(":first", number(slots.first.seconds()))
            .expression_attribute_values(":last", number(slots.last.seconds()))
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        answer.items.unwrap_or_default().into_iter().map(from_row).collect()
    }
}

#[derive(Deserialize)]
struct SentRow {
    slot: i64,
    sent: u64,
}

#[derive(Deserialize)]
struct BacklogRow {
    slot: i64,
    open: u64,
    oldest: Option<Timestamp>,
}

#[derive(Deserialize)]
struct ProviderRow {
    state: ProviderState,
    since: Timestamp,
}

#[async_trait]
impl CountSends for ThroughputTable {
    async fn add(&self, mails: u32, now: Timestamp) -> Result<(), PortError> {
        self.update(SENT, Slot::of(now))
            .update_expression("ADD sent :mails SET expires = :expires")
            .expression_attribute_values(":mails", number(mails))
            .expression_attribute_values(":expires", number((now + KEPT).seconds()))
            .send()
            .await
            .map(|_| ())
            .map_err(|error| port_error(&error))
    }
}

#[async_trait]
impl ReadSends for ThroughputTable {
    async fn sent_in(&self, slots: Slots) -> Result<u64, PortError> {
        let rows: Vec<SentRow> = self.rows(SENT, slots).await?;
        Ok(rows.iter().map(|row| row.sent).sum())
    }
}

#[async_trait]
impl NoteProvider for ThroughputTable {
    async fn note_provider(&self, state: ProviderState, now: Timestamp) -> Result<(), PortError> {
        let update = self
            .update(PROVIDER, OF_ALL_TIME)
            .update_expression("SET #state = :state, since = :now")
            .condition_expression("attribute_not_exists(#state) OR #state <> :state")
            .expression_attribute_names("#state", "state")
            .expression_attribute_values(":state", attribute(state)?)
            .expression_attribute_values(":now", number(now.millis()));
        match update.send().await {
            Ok(_) => Ok(()),
            // Found before; since then it is so.
            Err(SdkError::ServiceError(service)) if service.err().is_conditional_check_failed_exception() => Ok(()),
            Err(error) => Err(port_error(&error)),
        }
    }
}

#[async_trait]
impl ReadProvider for ThroughputTable {
    async fn provider(&self) -> Result<Option<Provider>, PortError> {
        let rows: Vec<ProviderRow> = self.rows(PROVIDER, Slots { first: OF_ALL_TIME, last: OF_ALL_TIME }).await?;
        Ok(rows.into_iter().next().map(|ProviderRow { state, since }| Provider { state, since }))
    }
}

#[async_trait]
impl NoteBacklog for ThroughputTable {
    async fn note_backlog(&self, backlog: Backlog, now: Timestamp) -> Result<(), PortError> {
        let (OpenInvoices::Exactly(open) | OpenInvoices::AtLeast(open)) = backlog.open;
        self.update(BACKLOG, Slot::of(now))
            .update_expression("SET #open = :open, oldest = :oldest, expires = :expires")
            // A word of DynamoDB's own.
            .expression_attribute_names("#open", "open")
            .expression_attribute_values(":open", attribute(open)?)
            .expression_attribute_values(":oldest", attribute(backlog.oldest)?)
            .expression_attribute_values(":expires", number((now + KEPT).seconds()))
            .send()
            .await
            .map(|_| ())
            .map_err(|error| port_error(&error))
    }
}

#[async_trait]
impl ReadHistory for ThroughputTable {
    async fn history(&self, slots: Slots) -> Result<History, PortError> {
        let (backlog, sends) =
            tokio::try_join!(self.rows::<BacklogRow>(BACKLOG, slots), self.rows::<SentRow>(SENT, slots))?;
        let past = |row: BacklogRow| PastBacklog { at: Slot::at_seconds(row.slot), open: row.open, oldest: row.oldest };
        Ok(History {
            backlog: backlog.into_iter().map(past).collect(),
            sends: sends.into_iter().map(|row| (Slot::at_seconds(row.slot), row.sent)).collect(),
        })
    }
}
