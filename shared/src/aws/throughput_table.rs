//! Counts of sent mails in DynamoDB: one row for each slot of time, swept by TTL.

use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use serde::Deserialize;

use super::failure::port_error;
use super::row::{from_row, number, text};
use crate::domain::{Slot, Slots, Timestamp};
use crate::ports::{CountSends, PortError, ReadSends};

/// The counter of mails that the provider accepted.
const SENT: &str = "sent";

/// How long a slot is kept.
const KEPT: Duration = Duration::from_hours(1);

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
}

#[async_trait]
impl CountSends for ThroughputTable {
    async fn add(&self, mails: u32, now: Timestamp) -> Result<(), PortError> {
        self.client
            .update_item()
            .table_name(&self.name)
            .key("counter", text(SENT))
            .key("slot", number(Slot::of(now).seconds()))
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
        #[derive(Deserialize)]
        struct SlotRow {
            sent: u64,
        }

        let answer = self
            .client
            .query()
            .table_name(&self.name)
            .key_condition_expression("#counter = :counter AND slot BETWEEN :first AND :last")
            // A word of DynamoDB's own.
            .expression_attribute_names("#counter", "counter")
            .expression_attribute_values(":counter", text(SENT))
            .expression_attribute_values(":first", number(slots.first.seconds()))
            .expression_attribute_values(":last", number(slots.last.seconds()))
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        answer
            .items
            .unwrap_or_default()
            .into_iter()
            .map(|row| Ok(from_row::<SlotRow>(row)?.sent))
            .sum::<Result<u64, PortError>>()
    }
}
