//! The function on batches as Lambda brings them, before a bus that refuses what a test wants.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use domain_events::{Batch, BatchItemFailure, Teller, Told};
use parceltrack::domain::{DomainEvent, DomainEventId, Subject};
use parceltrack::ports::{DeadLetter, EVENTS_AT_ONCE, PortError, PublishEvents};
use serde_json::{Value, json};
use uuid::Uuid;

/// What the bus answers to one call.
enum Answer {
    TakesAll,
    TakesAllButOf(u128),
    IsAway,
}

/// A bus, and a queue of dead letters, that remember what came.
#[derive(Default)]
struct World {
    answers: Mutex<Vec<Answer>>,
    calls: Mutex<Vec<Vec<DomainEvent>>>,
    letters: Mutex<Vec<(String, String)>>,
    letters_are_refused: bool,
}

#[async_trait]
impl PublishEvents for World {
    async fn publish(&self, events: &[DomainEvent]) -> Result<Vec<DomainEventId>, PortError> {
        assert!((1..=EVENTS_AT_ONCE).contains(&events.len()));
        let refused = match self.answers.lock().unwrap().pop().unwrap_or(Answer::TakesAll) {
            Answer::TakesAll => None,
            Answer::TakesAllButOf(parcel) => Some(parcel),
            Answer::IsAway => return Err(PortError::Unavailable("away".to_owned())),
        };
        let is_refused = |event: &DomainEvent| Some(event.parcel_id.0.as_u128()) == refused;
        let (refused, taken): (Vec<_>, Vec<_>) = events.iter().cloned().partition(is_refused);
        self.calls.lock().unwrap().push(taken);
        Ok(refused.into_iter().map(|event| event.id).collect())
    }
}

#[async_trait]
impl DeadLetter for World {
    async fn bury(&self, body: &str, reason: &str) -> Result<(), PortError> {
        if self.letters_are_refused {
            return Err(PortError::Unavailable("away".to_owned()));
        }
        self.letters.lock().unwrap().push((body.to_owned(), reason.to_owned()));
        Ok(())
    }
}

impl World {
    /// Answers the next calls so, the first first.
    fn answering(answers: impl IntoIterator<Item = Answer>) -> Arc<Self> {
        let mut answers: Vec<_> = answers.into_iter().collect();
        answers.reverse();
        Arc::new(Self { answers: Mutex::new(answers), ..Self::default() })
    }

    async fn tell(self: &Arc<Self>, records: &[Value]) -> Told {
        let teller = Teller { events: self.clone(), dead_letters: self.clone() };
        teller.tell(Batch { records: records.to_vec() }).await
    }

    /// Subject and number of what the bus has taken, in order.
    fn taken(&self) -> Vec<(u128, u64)> {
        let calls = self.calls.lock().unwrap();
        calls.iter().flatten().map(|event| (event.parcel_id.0.as_u128(), event.sequence)).collect()
    }

    /// The same, by call.
    fn calls(&self) -> Vec<usize> {
        self.calls.lock().unwrap().iter().map(Vec::len).collect()
    }
}

fn record(key: (&str, &Value), number: u64, old: Option<Value>, new: &Value) -> Value {
    let mut written = json!({
        "Keys": {key.0: key.1},
        "NewImage": new,
        "SequenceNumber": number.to_string(),
        "StreamViewType": "NEW_AND_OLD_IMAGES",
    });
    if let Some(old) = old {
        written["OldImage"] = old;
    }
    json!({
        "eventID": "7f",
        "eventName": if written["OldImage"].is_null() { "INSERT" } else { "MODIFY" },
        "eventSource": "aws:dynamodb",
        "eventSourceARN": "arn:aws:dynamodb:ap-southeast-1:000000000000:table/rows/stream/2026-11-30T00:00:00.000",
        "dynamodb": written,
    })
}

fn parcel_row(id: u128, lines: usize) -> Value {
    let line = |place: usize| {
        let status = if place == 0 { "Created" } else { "InTransit" };
        json!({"M": {
            "id": {"S": Uuid::from_u128(place as u128)},
            "status": {"S": status},
            "at": {"N": "1790000000000"},
            "recordedAt": {"N": "1790000001000"},
            "location": {"S": "\u{20000}".repeat(100)},
            "note": {"S": "\u{20000}".repeat(200)},
            "correlationId": {"S": "a-request"},
        }})
    };
    json!({
        "parcelId": {"S": Uuid::from_u128(id)},
        "owner": {"S": "acme"},
        "trackingNumber": {"S": "LCL48291057"},
        "recipient": {"S": "Tan Wei Ming"},
        "email": {"S": "tan@example.com"},
        "events": {"L": (0..lines).map(line).collect::<Vec<_>>()},
    })
}

/// The write that gave a parcel its line of this place; 1 is its creation.
fn parcel(id: u128, place: usize, number: u64) -> Value {
    let old = (place > 1).then(|| parcel_row(id, place - 1));
    let row = parcel_row(id, place);
    record(("parcelId", &row["parcelId"]), number, old, &row)
}

fn invoice(status: &str, count: u64, number: u64) -> Value {
    let row = |status: &str, count: u64| {
        json!({
            "invoiceId": {"S": Uuid::from_u128(77)},
            "number": {"S": "INV-2026-48291057"},
            "parcelId": {"S": Uuid::from_u128(7)},
            "owner": {"S": "acme"},
            "trackingNumber": {"S": "LCL48291057"},
            "email": {"S": "tan@example.com"},
            "status": {"S": status},
            "reason": {"S": "tan@example.com does not exist"},
            "eventCount": {"N": count.to_string()},
            "correlationId": {"S": "a-request"},
            "updatedAt": {"N": "1790000001000"},
        })
    };
    let now = row(status, count);
    record(("invoiceId", &now["invoiceId"]), number, Some(row("Generated", 1)), &now)
}

fn again_from(number: u64) -> Told {
    Told { batch_item_failures: vec![BatchItemFailure { item_identifier: number.to_string() }] }
}

#[tokio::test]
async fn a_batch_is_told_in_its_order_and_in_few_calls() {
    let world = World::answering([]);
    let mut records: Vec<_> = (1..=12).map(|id| parcel(id, 1, 100 + u64::try_from(id).unwrap())).collect();
    records.push(invoice("Sent", 2, 200));
    assert_eq!(world.tell(&records).await, Told::default());
    let expected: Vec<_> = (1..=12).map(|id| (id, 1)).chain([(7, 2)]).collect();
    assert_eq!((world.taken(), world.calls()), (expected, vec![10, 3]));
}

#[tokio::test]
async fn an_event_is_put_when_the_one_before_it_of_its_subject_is_taken() {
    let world = World::answering([]);
    let records = [parcel(1, 1, 101), parcel(2, 1, 102), parcel(1, 2, 103), parcel(1, 3, 104)];
    assert_eq!(world.tell(&records).await, Told::default());
    assert_eq!((world.taken(), world.calls()), (vec![(1, 1), (2, 1), (1, 2), (1, 3)], vec![2, 1, 1]));
}

#[tokio::test]
async fn after_a_refusal_nothing_of_its_subject_is_put_and_the_batch_comes_again_from_there() {
    let world = World::answering([Answer::TakesAllButOf(1)]);
    let records = [parcel(2, 1, 101), parcel(1, 1, 102), parcel(2, 2, 103), parcel(1, 2, 104), parcel(3, 1, 105)];
    assert_eq!(world.tell(&records).await, again_from(102));
    assert_eq!(world.taken(), [(2, 1), (2, 2), (3, 1)]);
    // It comes again, and all of it is told, each event by the id that it had.
    assert_eq!(world.tell(&records[1..]).await, Told::default());
    let mut ids: HashMap<(Subject, u64), DomainEventId> = HashMap::new();
    for event in world.calls.lock().unwrap().iter().flatten() {
        assert_eq!(*ids.entry((event.subject(), event.sequence)).or_insert(event.id), event.id);
    }
    assert_eq!(ids.len(), 5);
}

#[tokio::test]
async fn when_the_bus_is_away_nothing_more_is_put_and_what_was_not_comes_again() {
    let world = World::answering([Answer::TakesAll, Answer::IsAway]);
    let records = [parcel(1, 1, 101), parcel(1, 2, 102), parcel(2, 1, 103), parcel(2, 2, 104)];
    assert_eq!(world.tell(&records).await, again_from(102));
    assert_eq!(world.taken(), [(1, 1)]);
}

#[tokio::test]
async fn a_record_that_cannot_be_read_is_put_aside_and_does_not_stop_the_others() {
    let world = World::answering([]);
    let mut broken = parcel(5, 1, 102);
    broken["dynamodb"]["NewImage"]["trackingNumber"]["S"] = "tan@example.com".into();
    let records = [parcel(1, 1, 101), broken, json!("no record at all"), invoice("Sent", 9, 103), parcel(2, 1, 104)];
    assert_eq!(world.tell(&records).await, Told::default());
    assert_eq!(world.taken(), [(1, 1), (2, 1)]);
    let letters = world.letters.lock().unwrap();
    let bodies: Vec<Value> = letters.iter().map(|(body, _)| serde_json::from_str(body).unwrap()).collect();
    assert_eq!(bodies[0]["sequenceNumber"], "102");
    assert_eq!(bodies[0]["row"], Uuid::from_u128(5).to_string());
    assert!(bodies[0]["streamArn"].as_str().unwrap().contains(":table/rows/stream/"));
    assert_eq!(bodies[1], json!({"streamArn": null, "sequenceNumber": null, "row": null}));
    assert_eq!(letters[2].1, "1 things happened, and 8 were counted");
    assert!(letters.iter().all(|(body, reason)| !format!("{body}{reason}").contains("example.com")));
}

#[tokio::test]
async fn a_record_that_can_be_neither_read_nor_put_aside_comes_again() {
    let world = Arc::new(World { letters_are_refused: true, ..World::default() });
    let mut broken = parcel(5, 1, 102);
    broken["dynamodb"]["NewImage"]["events"] = json!({"S": "none"});
    assert_eq!(world.tell(&[parcel(1, 1, 101), broken, parcel(2, 1, 103)]).await, again_from(102));
    assert_eq!(world.taken(), [(1, 1), (2, 1)]);
}

#[tokio::test]
async fn a_batch_with_the_largest_rows_there_are_is_told() {
    let world = World::answering([]);
    let records: Vec<_> = (1..=8).map(|id| parcel(id, 200, 100 + u64::try_from(id).unwrap())).collect();
    // Lambda brings 6 MB at most.
    assert!(serde_json::to_string(&records).unwrap().len() > 3_000_000);
    assert_eq!(world.tell(&records).await, Told::default());
    assert_eq!(world.taken(), (1..=8).map(|id| (id, 200)).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_row_that_is_deleted_and_a_write_of_no_interest_tell_nothing() {
    let world = World::answering([]);
    let mut deleted = parcel(1, 2, 101);
    deleted["dynamodb"].as_object_mut().unwrap().remove("NewImage");
    let mut touched = parcel(1, 2, 102);
    touched["dynamodb"]["OldImage"] = touched["dynamodb"]["NewImage"].clone();
    assert_eq!(world.tell(&[deleted, touched, invoice("Generated", 1, 103)]).await, Told::default());
    assert!(world.taken().is_empty() && world.letters.lock().unwrap().is_empty());
}
