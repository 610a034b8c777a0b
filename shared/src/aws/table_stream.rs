//! What a table's stream tells of a write, read as the events that it comes to.
//!
//! <https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html>

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_dynamo::Item;
use serde_json::Value;

use super::invoice_table::InvoiceStoryRow;
use super::parcel_table::ParcelStoryRow;
use crate::domain::{DomainEvent, InvoiceStory, Miscounted, ParcelStory};

/// Which write of which table. It has neither names nor addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamPosition {
    /// The stream's ARN, which names the table.
    pub stream: Option<String>,
    /// The write's place in its shard; what failures are reported by.
    pub sequence_number: Option<String>,
    /// The parcel or the invoice that was written.
    pub row: Option<String>,
}

/// Why a record comes to no events, and never will.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableRecord {
    /// It is no record of a stream of parcels or invoices with old and new images. The reader's words are left out, since
    /// they may quote the row.
    #[error("no write of a parcel or an invoice that can be read")]
    Malformed,
    /// The invoice's row does not count its events as it should.
    #[error(transparent)]
    Miscounted(#[from] Miscounted),
}

/// Where a record is from, as far as it says so.
#[must_use]
pub fn position_of(record: &Value) -> StreamPosition {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let written = &record["dynamodb"];
    let keys = &written["Keys"];
    StreamPosition {
        stream: text(&record["eventSourceARN"]),
        sequence_number: text(&written["SequenceNumber"]),
        row: text(&keys[PARCEL_KEY]["S"]).or_else(|| text(&keys[INVOICE_KEY]["S"])),
    }
}

const PARCEL_KEY: &str = "parcelId";

const INVOICE_KEY: &str = "invoiceId";

/// The events that a record comes to, in their order; none for most of them.
pub fn events_of(record: Value) -> Result<Vec<DomainEvent>, UnreadableRecord> {
    #[derive(Deserialize)]
    struct Record {
        dynamodb: Written,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Written {
        keys: Item,
        old_image: Option<Item>,
        new_image: Option<Item>,
    }

    let Record { dynamodb: Written { keys, old_image, new_image } } = from_value(record)?;
    let has = |key| keys.contains_key(key);
    match (new_image, has(PARCEL_KEY), has(INVOICE_KEY)) {
        // A row that is gone tells nothing.
        (None, true, false) | (None, false, true) => Ok(Vec::new()),
        (Some(now), true, false) => {
            let now: ParcelStory = story::<ParcelStoryRow>(now)?.into();
            let before: Option<ParcelStory> = old_image.map(story::<ParcelStoryRow>).transpose()?.map(Into::into);
            Ok(now.since(before.as_ref()))
        }
        (Some(now), false, true) => {
            let now: InvoiceStory = story::<InvoiceStoryRow>(now)?.into();
            let before: Option<InvoiceStory> = old_image.map(story::<InvoiceStoryRow>).transpose()?.map(Into::into);
            Ok(now.since(before.as_ref())?)
        }
        (_, true, true) | (_, false, false) => Err(UnreadableRecord::Malformed),
    }
}

fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, UnreadableRecord> {
    serde_json::from_value(value).map_err(|_| UnreadableRecord::Malformed)
}

fn story<T: DeserializeOwned>(row: Item) -> Result<T, UnreadableRecord> {
    serde_dynamo::from_item(row).map_err(|_| UnreadableRecord::Malformed)
}
