//! Rows of one table or several, read in one call.

use std::collections::HashMap;
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::KeysAndAttributes;

use super::failure::port_error;
use super::row::Row;
use crate::ports::PortError;

/// How often the rest of a batch read that DynamoDB left out is asked for, at most.
const TRIES: u32 = 5;

/// The rows that are there, by table, in any order; all of them or an error. At most 100 keys.
pub(super) async fn batch_read(
    client: &Client,
    mut wanted: HashMap<String, KeysAndAttributes>,
) -> Result<HashMap<String, Vec<Row>>, PortError> {
    let mut rows: HashMap<String, Vec<Row>> = HashMap::new();
    for attempt in 0..TRIES {
        if wanted.is_empty() {
            return Ok(rows);
        }
        if attempt > 0 {
            tokio::time::sleep(Duration::from_millis(fastrand::u64(10..=40) << attempt)).await;
        }
        let answer =
            client.batch_get_item().set_request_items(Some(wanted)).send().await.map_err(|error| port_error(&error))?;
        for (table, found) in answer.responses.unwrap_or_default() {
            rows.entry(table).or_default().extend(found);
        }
        wanted = answer.unprocessed_keys.unwrap_or_default();
    }
    if wanted.is_empty() { Ok(rows) } else { Err(PortError::Unavailable("a batch read stayed incomplete".to_owned())) }
}
