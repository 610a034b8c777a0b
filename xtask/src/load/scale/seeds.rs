//! Parcels, put straight into the tables.
//!
//! The rows of one are made by the code that makes them in AWS; those of the others are the same text with other ids
//! and numbers. Of each portion one is made by the code as well, and must come out the same.

use std::ops::Range;

use anyhow::{Result, ensure};
use bench::{Aws, caller, clients};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use parceltrack::aws::ParcelTable;
use parceltrack::clock::SystemClock;
use parceltrack::domain::{
    OwnerId, Parcel, ParcelId, ParcelStatus, PostalCode, Text, Timestamp, TrackingEvent, TrackingEventId,
    TrackingNumber,
};
use parceltrack::ports::{Clock as _, CreateParcels as _, ParcelCreation};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::tables::Tables;

/// Rows that `BatchWriteItem` takes at most.
const BATCH: usize = 25;

/// Batches that are made before they go to the table.
const PORTION: usize = 2_500;

/// Batches that are on their way at the same time.
const AT_ONCE: usize = 4;

/// The tables that have a row of each parcel.
const TABLES: [&str; 2] = ["parcels", "tracking-numbers"];

pub(super) struct Seeds<'a> {
    tables: &'a Tables,
    maker: Aws,
    parcels: ParcelTable,
    /// When all of them were made. In a list they are in the order of their ids.
    at: Timestamp,
    pattern: Pattern,
}

/// The rows of the first parcel, as text, with what is another's in another one's.
struct Pattern {
    own: [String; 6],
    rows: [String; TABLES.len()],
}

impl<'a> Seeds<'a> {
    /// With the caller's key in place.
    pub(super) async fn new(tables: &'a Tables) -> Result<Self> {
        let maker = Aws::default();
        let [parcels, numbers, keys] = ["parcels", "tracking-numbers", "idempotency"].map(str::to_owned);
        let parcels = ParcelTable::new(clients(maker.clone()).dynamodb(), parcels, numbers, keys);
        caller::issue_key(&maker).await?;
        for row in maker.rows("api-keys") {
            tables.call("PutItem", &json!({"TableName": "api-keys", "Item": row})).await?;
        }
        let at = SystemClock.now();
        let first = parcel(0, at)?;
        let rows = made(&maker, &parcels, &first).await?;
        Ok(Self { tables, maker, parcels, at, pattern: Pattern { own: own(&first), rows } })
    }

    /// Parcels of these numbers, newer than all before. Returns the id of one of them.
    pub(super) async fn sow(&self, numbers: Range<usize>) -> Result<Uuid> {
        let mut next = numbers.clone();
        while !next.is_empty() {
            let portion = next.start..numbers.end.min(next.start + PORTION);
            next.start = portion.end;
            let mut rows: [Vec<String>; TABLES.len()] = Default::default();
            for number in portion.clone() {
                let copies = self.pattern.copied(&parcel(number, self.at)?);
                rows.iter_mut().zip(copies).for_each(|(rows, copy)| rows.push(copy));
            }
            let last = made(&self.maker, &self.parcels, &parcel(portion.end - 1, self.at)?).await?;
            for ((rows, made), table) in rows.iter().zip(&last).zip(TABLES) {
                ensure!(rows.last() == Some(made), "a copy for {table} is not what the code makes: {made}");
            }
            for (table, rows) in TABLES.into_iter().zip(rows) {
                self.put_all(table, &rows).await?;
            }
        }
        Ok(parcel(numbers.start, self.at)?.id.0)
    }

    async fn put_all(&self, table: &str, rows: &[String]) -> Result<()> {
        let mut batches = Vec::new();
        for batch in rows.chunks(BATCH) {
            let puts = batch.iter().map(|row| Ok(json!({"PutRequest": {"Item": serde_json::from_str::<Value>(row)?}})));
            batches.push(json!({"RequestItems": {table: puts.collect::<Result<Vec<_>>>()?}}));
        }
        stream::iter(&batches)
            .map(async |batch| {
                let answer = self.tables.call("BatchWriteItem", batch).await?;
                ensure!(answer["UnprocessedItems"].as_object().is_none_or(Map::is_empty), "not all was written");
                Ok(())
            })
            .buffer_unordered(AT_ONCE)
            .try_collect()
            .await
    }
}

impl Pattern {
    fn copied(&self, parcel: &Parcel) -> [String; TABLES.len()] {
        let own = own(parcel);
        self.rows.clone().map(|row| self.own.iter().zip(&own).fold(row, |row, (from, to)| row.replace(from, to)))
    }
}

/// The rows that the code makes of a parcel.
async fn made(maker: &Aws, table: &ParcelTable, parcel: &Parcel) -> Result<[String; TABLES.len()]> {
    let made = table.create(parcel, None, parcel.created_at).await?;
    ensure!(made == ParcelCreation::Created, "no new parcel: {made:?}");
    let rows = TABLES.map(|name| maker.rows(name).iter().map(Value::to_string).collect());
    for name in TABLES {
        maker.clear(name);
    }
    Ok(rows)
}

fn parcel(number: usize, at: Timestamp) -> Result<Parcel> {
    let text = |text: &str| text.to_owned();
    let number = u64::try_from(number)?;
    Ok(Parcel {
        id: ParcelId(Uuid::from_u64_pair(0xace, number)),
        owner: OwnerId::house(),
        // Of the long numbers, so that none of them is drawn for a new parcel.
        tracking_number: TrackingNumber::draw(number, 1),
        recipient: Text::try_from(text("Tan Wei Ming"))?,
        email: format!("customer{number:07}@example.com").parse()?,
        address: Some(Text::try_from(text("21 Choa Chu Kang Avenue 4, #05-12"))?),
        postal_code: Some(PostalCode::try_from(text("689812"))?),
        phone: Some(Text::try_from(text("+6591234567"))?),
        reference: Some(Text::try_from(format!("PO-2026-{number:07}"))?),
        weight: None,
        status: ParcelStatus::Created,
        created_at: at,
        updated_at: at,
        events: vec![TrackingEvent::now(
            TrackingEventId(Uuid::from_u64_pair(0xfee, number)),
            ParcelStatus::Created,
            at,
        )],
        proof_expected_since: None,
    })
}

/// What stands in the rows of this parcel alone.
fn own(parcel: &Parcel) -> [String; 6] {
    let reference = parcel.reference.as_ref().map(|reference| reference.as_str().to_owned()).unwrap_or_default();
    [
        parcel.id.to_string(),
        parcel.events[0].id.0.to_string(),
        parcel.tracking_number.to_string(),
        parcel.email.as_str().to_owned(),
        // As the index has it.
        reference.to_lowercase(),
        reference,
    ]
}
