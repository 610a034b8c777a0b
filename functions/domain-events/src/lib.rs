//! The teller: what was written to the tables of parcels and invoices, told to others as events on a bus.
//!
//! The write is the event: the tables' streams bring each write, in order for each row, until the bus has its events.
//! Events may be told twice, with the same id, and those of one subject in their order.

use std::collections::{BTreeMap, HashSet};
use std::iter::Peekable;
use std::sync::Arc;

use parceltrack::aws::{StreamPosition, UnreadableRecord, events_of, position_of};
use parceltrack::clock::SystemClock;
use parceltrack::domain::{DomainEvent, DomainEventId, Subject};
use parceltrack::ports::{Clock as _, DeadLetter, EVENTS_AT_ONCE, PortError, PublishEvents};
use parceltrack::telemetry::{self, Metric};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The function's ports.
pub struct Teller {
    /// Puts events on the bus.
    pub events: Arc<dyn PublishEvents>,
    /// Tells a person of a write that comes to no events that could be told.
    pub dead_letters: Arc<dyn DeadLetter>,
}

/// Records of one shard of a stream, in its order. Each is read by itself, so that one that cannot be read does not stop
/// the others.
#[derive(Debug, Deserialize)]
pub struct Batch {
    /// The records.
    #[serde(rename = "Records")]
    pub records: Vec<Value>,
}

/// What Lambda reads of the answer: from the first of these records on, the batch comes again.
/// <https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html>
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Told {
    /// None if everything was told, otherwise the first that was not.
    pub batch_item_failures: Vec<BatchItemFailure>,
}

/// A record that comes again.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchItemFailure {
    /// Its sequence number.
    pub item_identifier: String,
}

/// An event with the place of its record in the batch.
type Placed = (usize, DomainEvent);

impl Teller {
    /// Puts the events of a batch on the bus, as far as it takes them. After a refusal the other subjects go on: if it is
    /// never taken, nothing of theirs is lost with it.
    pub async fn tell(&self, batch: Batch) -> Told {
        let positions: Vec<StreamPosition> = batch.records.iter().map(position_of).collect();
        let mut first_failure = FirstFailure::default();
        let mut events = Vec::new();
        for (place, record) in batch.records.into_iter().enumerate() {
            match events_of(record) {
                Ok(found) => events.extend(found.into_iter().map(|event| (place, event))),
                Err(unreadable) => {
                    if let Err(error) = self.bury(&positions[place], unreadable).await {
                        tracing::warn!(event = "record_not_buried", %error);
                        first_failure.note(place);
                    }
                }
            }
        }
        self.publish(events, &mut first_failure).await;
        // Without a number, the whole batch comes again.
        let number = |place: usize| positions[place].sequence_number.clone().unwrap_or_default();
        let failure = first_failure.0.map(|place| BatchItemFailure { item_identifier: number(place) });
        Told { batch_item_failures: failure.into_iter().collect() }
    }

    /// Puts aside what would hold up its shard for hours and never come to anything. The letter has no word of the row.
    async fn bury(&self, position: &StreamPosition, why: UnreadableRecord) -> Result<(), PortError> {
        let StreamPosition { stream, sequence_number, row } = position;
        let letter = json!({"streamArn": stream, "sequenceNumber": sequence_number, "row": row});
        self.dead_letters.bury(&letter.to_string(), &why.to_string()).await?;
        tracing::error!(event = "record_buried", row, sequence_number, %why);
        Ok(())
    }

    async fn publish(&self, events: Vec<Placed>, first_failure: &mut FirstFailure) {
        let mut taken = BTreeMap::new();
        let mut held_up: HashSet<Subject> = HashSet::new();
        let mut waiting = events.into_iter().peekable();
        while waiting.peek().is_some() {
            let mut call = next_call(&mut waiting);
            // They come again, after the one that was refused.
            call.retain(|(_, event)| !held_up.contains(&event.subject()));
            let Some((first, _)) = call.first() else { continue };
            let events: Vec<DomainEvent> = call.iter().map(|(_, event)| event.clone()).collect();
            let refused: Vec<DomainEventId> = match self.events.publish(&events).await {
                Ok(refused) => refused,
                Err(error) => {
                    tracing::warn!(event = "events_not_published", %error);
                    first_failure.note(*first);
                    break;
                }
            };
            for (place, event) in call {
                if refused.contains(&event.id) {
                    held_up.insert(event.subject());
                    first_failure.note(place);
                } else {
                    let DomainEvent { id, sequence, correlation_id, .. } = &event;
                    let (kind, subject) = (event.happening.kind(), event.subject());
                    tracing::info!(event = "event_published", %id, %kind, %subject, sequence, requestId = %correlation_id);
                    *taken.entry(kind).or_default() += 1;
                }
            }
        }
        for (kind, count) in taken {
            telemetry::record(Metric::EventsPublished(kind, count), SystemClock.now());
        }
    }
}

/// The events of one call: no two of one subject, so that each is taken before the next of its subject is put.
fn next_call(waiting: &mut Peekable<impl Iterator<Item = Placed>>) -> Vec<Placed> {
    let mut subjects = HashSet::new();
    let mut call = Vec::new();
    while call.len() < EVENTS_AT_ONCE
        && let Some(placed) = waiting.next_if(|(_, event)| !subjects.contains(&event.subject()))
    {
        subjects.insert(placed.1.subject());
        call.push(placed);
    }
    call
}

/// The place of the first record in the batch that comes again, if one does.
#[derive(Default)]
struct FirstFailure(Option<usize>);

impl FirstFailure {
    fn note(&mut self, place: usize) {
        self.0 = Some(self.0.map_or(place, |first| first.min(place)));
    }
}
