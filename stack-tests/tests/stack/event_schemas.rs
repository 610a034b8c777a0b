//! What docs/events/ promises to listeners, against what the code makes. A change that would break a listener fails here:
//! a field that goes, another type, another meaning of the same write.

use std::fs;
use std::path::{Path, PathBuf};

use jsonschema::Validator;
use parceltrack::domain::{
    DOMAIN_EVENT_VERSION, Delivery, DomainEvent, DomainEventType, InvoiceId, InvoiceNumber, InvoiceStatus,
    InvoiceStory, MAX_EVENTS, OwnerId, ParcelId, ParcelStatus, ParcelStory, RequestId, StoryLine, Timestamp,
    TrackingNumber,
};
use proptest::prelude::*;
use serde_json::Value;
use uuid::Uuid;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/events")
}

fn read(file: &Path) -> Value {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    serde_json::from_str(&text).unwrap()
}

fn schema(kind: DomainEventType) -> Value {
    read(&directory().join(format!("{kind}.v{DOMAIN_EVENT_VERSION}.json")))
}

fn example(kind: DomainEventType) -> Value {
    read(&directory().join(format!("examples/{kind}.v{DOMAIN_EVENT_VERSION}.json")))
}

/// The schemas by which a listener may check an event.
pub(crate) struct Schemas(Vec<(DomainEventType, Validator)>);

impl Schemas {
    pub(crate) fn read() -> Self {
        let validator = |kind| jsonschema::options().should_validate_formats(true).build(&schema(kind)).unwrap();
        Self(DomainEventType::ALL.map(|kind| (kind, validator(kind))).into())
    }

    /// Fails unless the event is as its type's schema has it.
    pub(crate) fn check(&self, event: &Value) {
        let (_, validator) = self.0.iter().find(|(kind, _)| event["type"] == kind.name()).unwrap();
        let errors: Vec<_> =
            validator.iter_errors(event).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{event}\n{}", errors.join("\n"));
    }

    fn refuses(&self, event: &Value) -> bool {
        self.0.iter().filter(|(kind, _)| event["type"] == kind.name()).all(|(_, validator)| !validator.is_valid(event))
    }
}

fn parcel_story(lines: Vec<StoryLine>) -> ParcelStory {
    ParcelStory {
        id: ParcelId(Uuid::from_u128(0x0198_c0de_0000_7000_8000_0000_0000_0001)),
        owner: "acme".parse().unwrap(),
        tracking_number: "LCL48291057".parse().unwrap(),
        lines,
    }
}

/// One event of each type, made from a parcel that was moved once and from an invoice that was mailed, came back, and
/// failed when it was tried again.
fn examples() -> Vec<DomainEvent> {
    let at = |seconds: i64| Timestamp::from_millis(1_796_000_000_000 + seconds * 1000);
    let request = |name: &str| Some(name.parse::<RequestId>().unwrap());
    let line = |status, seconds: i64, correlation_id| StoryLine {
        status,
        at: at(seconds),
        recorded_at: at(seconds + 2),
        correlation_id,
    };
    let lines = [
        line(ParcelStatus::Created, 0, request("order-4711")),
        line(ParcelStatus::InTransit, 3600, request("scan-81")),
    ];
    let parcel = parcel_story(lines.into());
    let written = |before: Option<&InvoiceStory>, status, delivery, event_count, seconds| {
        let now = InvoiceStory {
            id: InvoiceId::of_parcel(parcel.id),
            number: InvoiceNumber::new(at(10), &parcel.tracking_number),
            parcel_id: parcel.id,
            owner: parcel.owner.clone(),
            tracking_number: parcel.tracking_number.clone(),
            status,
            delivery,
            event_count,
            correlation_id: request("checkout-12"),
            updated_at: at(seconds),
        };
        let events = now.since(before).unwrap();
        (now, events)
    };
    let (pending, requested) = written(None, InvoiceStatus::Pending, None, 1, 10);
    let (sent, mailed) = written(Some(&pending), InvoiceStatus::Sent, None, 2, 12);
    let (back, bounced) = written(Some(&sent), InvoiceStatus::Sent, Some(Delivery::Bounced), 3, 20);
    let (again, nothing) = written(Some(&back), InvoiceStatus::Generated, None, 3, 90);
    let (_, failed) = written(Some(&again), InvoiceStatus::Failed, None, 4, 95);
    [parcel.since(None), requested, mailed, bounced, nothing, failed].concat()
}

/// Every member of the first is in the second, as it is.
fn is_part_of(known: &Value, made: &Value) -> bool {
    match (known, made) {
        (Value::Object(known), Value::Object(made)) => {
            known.iter().all(|(name, value)| made.get(name).is_some_and(|made| is_part_of(value, made)))
        }
        _ => known == made,
    }
}

#[test]
fn what_listeners_know_of_each_type_is_still_made_and_still_as_its_schema_has_it() {
    let schemas = Schemas::read();
    let made: Vec<Value> = examples().iter().map(|event| serde_json::to_value(event).unwrap()).collect();
    for kind in DomainEventType::ALL {
        let known = example(kind);
        let made = made.iter().find(|event| event["type"] == kind.name()).unwrap();
        schemas.check(&known);
        assert!(
            is_part_of(&known, made),
            "listeners that know\n{known:#}\nwould break over\n{made:#}\nMake a new version: docs/events/README.md says how"
        );
        assert_eq!(&known, made, "a new field belongs into schema and example, too");
    }
    assert_eq!(made.len(), DomainEventType::ALL.len());
}

#[test]
fn a_schema_describes_every_field_requires_it_and_takes_new_ones() {
    let schemas = Schemas::read();
    for kind in DomainEventType::ALL {
        let (schema, known) = (schema(kind), example(kind));
        for (described, members) in [(&schema, &known), (&schema["properties"]["data"], &known["data"])] {
            let members = members.as_object().unwrap();
            let properties = described["properties"].as_object().unwrap();
            assert!(members.keys().eq(properties.keys()), "{kind}: {:?}", properties.keys());
            let required: Vec<_> = described["required"].as_array().unwrap().iter().collect();
            assert_eq!(required.len(), members.len(), "{kind}");
        }
        for name in known.as_object().unwrap().keys().filter(|name| *name != "type") {
            let mut without = known.clone();
            without.as_object_mut().unwrap().remove(name);
            assert!(schemas.refuses(&without), "{kind} without {name}");
            let other = if known[name].is_string() { Value::from(7) } else { Value::from("x") };
            let mut changed = known.clone();
            changed[name] = other;
            assert!(schemas.refuses(&changed), "{kind} with another {name}");
        }
        let mut more = known.clone();
        more["new"] = "from a later release".into();
        more["data"]["new"] = "from a later release".into();
        schemas.check(&more);
    }
}

#[test]
fn what_all_types_have_in_common_is_described_in_the_same_words() {
    let common = |kind| {
        let mut properties = schema(kind)["properties"].clone();
        for own in ["type", "data"] {
            properties.as_object_mut().unwrap().remove(own);
        }
        properties
    };
    for kind in DomainEventType::ALL {
        assert_eq!(schema(kind)["properties"]["type"]["const"], kind.name());
        assert_eq!(common(kind), common(DomainEventType::ParcelCreated), "{kind}");
    }
    let statuses = &schema(DomainEventType::ParcelStatusChanged)["properties"]["data"]["properties"]["status"];
    assert_eq!(statuses["examples"], serde_json::to_value(ParcelStatus::ALL).unwrap());
}

#[test]
fn the_index_of_events_names_every_type() {
    let index = fs::read_to_string(directory().join("README.md")).unwrap();
    for kind in DomainEventType::ALL {
        assert!(index.contains(&format!("{kind}.v{DOMAIN_EVENT_VERSION}.json")), "{kind}");
    }
}

fn time() -> impl Strategy<Value = Timestamp> {
    (0_i64..253_402_300_799_999).prop_map(Timestamp::from_millis)
}

fn correlation() -> impl Strategy<Value = Option<RequestId>> {
    proptest::option::of("[A-Za-z0-9_=.:/+-]{1,64}".prop_map(|id| id.parse().unwrap()))
}

fn whose() -> impl Strategy<Value = (ParcelId, OwnerId, TrackingNumber)> {
    let number = (any::<u64>(), 0..2_u32).prop_map(|(random, attempt)| TrackingNumber::draw(random, attempt));
    (any::<u128>(), "[a-z][a-z0-9-]{0,39}", number)
        .prop_map(|(id, owner, number)| (ParcelId(Uuid::from_u128(id)), owner.parse().unwrap(), number))
}

fn parcels() -> impl Strategy<Value = ParcelStory> {
    let status = proptest::sample::select(&ParcelStatus::ALL[..]);
    let line = (status, time(), time(), correlation())
        .prop_map(|(status, at, recorded_at, correlation_id)| StoryLine { status, at, recorded_at, correlation_id });
    (whose(), proptest::collection::vec(line, 1..5)).prop_map(|((id, owner, tracking_number), lines)| ParcelStory {
        id,
        owner,
        tracking_number,
        lines,
    })
}

/// Rows as invoices begin and end.
fn invoices() -> impl Strategy<Value = InvoiceStory> {
    let states = [
        (InvoiceStatus::Pending, None, 1),
        (InvoiceStatus::Failed, None, 2),
        (InvoiceStatus::Sent, None, 2),
        (InvoiceStatus::Sent, Some(Delivery::Bounced), 3),
    ];
    (whose(), proptest::sample::select(states.to_vec()), time(), correlation()).prop_map(
        |((parcel_id, owner, tracking_number), (status, delivery, event_count), updated_at, correlation_id)| {
            InvoiceStory {
                id: InvoiceId::of_parcel(parcel_id),
                number: InvoiceNumber::new(updated_at, &tracking_number),
                parcel_id,
                owner,
                tracking_number,
                status,
                delivery,
                event_count,
                correlation_id,
                updated_at,
            }
        },
    )
}

#[test]
fn whatever_is_written_its_events_are_as_their_schemas_have_them() {
    let schemas = Schemas::read();
    proptest!(|(parcel in parcels(), invoice in invoices())| {
        let events = [parcel.since(None), invoice.since(None).unwrap()].concat();
        prop_assert_eq!(events.len() as u64, parcel.lines.len() as u64 + invoice.event_count);
        for event in events {
            schemas.check(&serde_json::to_value(event).unwrap());
        }
    });
}

#[test]
fn ten_of_the_largest_events_fit_into_one_call() {
    let line = |_| StoryLine {
        status: ParcelStatus::OutForDelivery,
        at: Timestamp::from_millis(0),
        recorded_at: Timestamp::from_millis(0),
        correlation_id: Some("r".repeat(64).parse().unwrap()),
    };
    let mut story = parcel_story((0..MAX_EVENTS).map(line).collect());
    story.owner = "o".repeat(40).parse().unwrap();
    story.tracking_number = TrackingNumber::draw(0, 1);
    let largest = story.since(None).iter().map(|event| serde_json::to_string(event).unwrap().len()).max().unwrap();
    // An entry may have 1 MB, which was 256 KB until 2026: https://aws.amazon.com/blogs/compute/
    assert!(10 * largest < 256_000, "{largest}");
}
