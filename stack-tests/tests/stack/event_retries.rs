//! What becomes of events that the bus does not take: a function of the deployed package on a table of the test's own, with
//! a mapping as the template's, before a bus that refuses everything.

use std::time::Duration;

use aws_sdk_dynamodb::types::{StreamSpecification, StreamViewType};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use parceltrack::aws::ParcelTable;
use parceltrack::clock::SystemClock;
use parceltrack::domain::{DomainEvent, DomainEventId, Parcel, ParcelStatus, Subject, TrackingEvent, TrackingEventId};
use parceltrack::ports::{Clock as _, CreateParcels as _, EventRecording, RecordEvents as _, SeenParcel};
use reqwest::Method;
use serde_json::{Value, json};
use stack_tests::{PATIENCE, Stack, own_address, parcel};
use tokio::time::timeout;
use uuid::Uuid;

use crate::domain_events::Listener;
use crate::logs;

/// A bus of an account that lets nobody in.
const REFUSING_BUS: &str = "arn:aws:events:ap-southeast-1:999999999999:event-bus/closed";

/// A function of the deployed package, and what it tells of.
struct Teller {
    stack: Stack,
    name: String,
    variables: Value,
    parcels: ParcelTable,
    dead_letters: String,
}

impl Teller {
    /// With these settings of the mapping beside those of the template.
    async fn new(mapping: Value) -> Self {
        let stack = Stack::running().await;
        let (dynamodb, sqs, name) =
            (stack.clients.dynamodb(), stack.clients.sqs(), format!("teller-{}", Uuid::new_v4().simple()));
        let table = stack.own_table("ParcelsTableName").await;
        let stream = StreamSpecification::builder()
            .stream_enabled(true)
            .stream_view_type(StreamViewType::NewAndOldImages)
            .build()
            .unwrap();
        let updated = dynamodb.update_table().table_name(&table).stream_specification(stream).send().await.unwrap();
        let stream = updated.table_description.unwrap().latest_stream_arn.unwrap();
        let dead_letters = sqs.create_queue().queue_name(&name).send().await.unwrap().queue_url.unwrap();

        let deployed = stack.addresses.output("DomainEventsFunctionName").unwrap();
        let deployed = stack.lambda(Method::GET, &format!("functions/{deployed}/configuration"), &json!({})).await;
        let mut variables = deployed["Environment"]["Variables"].clone();
        variables["DOMAIN_EVENTS_BUS"] = REFUSING_BUS.into();
        variables["DOMAIN_EVENTS_DEAD_LETTER_QUEUE_URL"] = dead_letters.clone().into();
        let package = stack.addresses.state_dir.join("../zips/domain-events.zip");
        let function = json!({
            "FunctionName": name,
            "Runtime": deployed["Runtime"],
            "Handler": deployed["Handler"],
            "Role": deployed["Role"],
            "Timeout": deployed["Timeout"],
            "Environment": {"Variables": variables},
            "Code": {"ZipFile": STANDARD.encode(std::fs::read(package).unwrap())},
        });
        stack.lambda(Method::POST, "functions", &function).await;

        let letters = format!("arn:aws:sqs:{}:000000000000:{name}", stack.addresses.region);
        let mut wanted = json!({
            "FunctionName": name,
            "EventSourceArn": stream,
            "StartingPosition": "TRIM_HORIZON",
            "BatchSize": 100,
            "FunctionResponseTypes": ["ReportBatchItemFailures"],
            "BisectBatchOnFunctionError": true,
            "DestinationConfig": {"OnFailure": {"Destination": letters}},
        });
        wanted.as_object_mut().unwrap().extend(mapping.as_object().unwrap().clone());
        stack.lambda(Method::POST, "event-source-mappings", &wanted).await;

        let others = |output| stack.addresses.output(output).unwrap().to_owned();
        let (numbers, keys) = (others("TrackingNumbersTableName"), others("IdempotencyTableName"));
        let parcels = ParcelTable::new(dynamodb, table, numbers, keys);
        Self { stack, name, variables, parcels, dead_letters }
    }

    /// A parcel that is created and moved once.
    async fn moved_parcel(&self) -> Parcel {
        let parcel = parcel(&own_address("refused"), SystemClock.now());
        self.parcels.create(&parcel, None, parcel.created_at).await.unwrap();
        let id = TrackingEventId(Uuid::new_v4());
        let event = TrackingEvent::now(id, ParcelStatus::InTransit, SystemClock.now());
        let recorded = self.parcels.record(&SeenParcel::from(&parcel), &event, None).await;
        assert_eq!(recorded, Ok(EventRecording::Recorded));
        parcel
    }

    /// Waits until the bus has refused this event so often.
    async fn refused(&self, event: DomainEventId, times: usize) {
        let id = event.to_string();
        let refused = async {
            loop {
                let lines = logs::lines_with(&self.stack, &["event_refused", &id]).await;
                if lines.iter().filter(|line| line.contains("event_refused") && line.contains(&id)).count() >= times {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        };
        assert!(timeout(PATIENCE, refused).await.is_ok(), "{id} was not refused {times} times");
    }

    async fn letter(&self) -> Value {
        let sqs = self.stack.clients.sqs();
        let found = async {
            loop {
                let receive = sqs.receive_message().queue_url(&self.dead_letters).wait_time_seconds(1);
                if let Some(letter) = receive.send().await.unwrap().messages().first() {
                    return serde_json::from_str(letter.body().unwrap()).unwrap();
                }
            }
        };
        timeout(PATIENCE, found).await.unwrap()
    }
}

#[tokio::test]
async fn what_the_bus_refuses_comes_again_until_it_is_taken_and_stays_in_order() {
    let mut listener = Listener::new().await;
    let teller = Teller::new(json!({})).await;
    let parcel = teller.moved_parcel().await;
    let id = |sequence| DomainEventId::new(Subject::Parcel(parcel.id), sequence);
    teller.refused(id(1), 2).await;

    let mut variables = teller.variables.clone();
    variables["DOMAIN_EVENTS_BUS"] = teller.stack.addresses.output("DomainEventsBusName").unwrap().into();
    let path = format!("functions/{}/configuration", teller.name);
    teller.stack.lambda(Method::PUT, &path, &json!({"Environment": {"Variables": variables}})).await;

    let events: Vec<DomainEvent> = listener.events_of(&json!({"id": parcel.id}), 2).await;
    let ids: Vec<_> = events.iter().map(|event| event.id).collect();
    assert_eq!(ids, [id(1), id(2)]);
    // What follows on a parcel that nobody asked for by a request.
    assert_eq!(events[1].correlation_id.as_str(), parcel.id.to_string());
}

#[tokio::test]
async fn what_the_bus_never_takes_is_given_up_with_a_letter_that_says_where_it_stands_in_the_stream() {
    let teller = Teller::new(json!({"MaximumRetryAttempts": 1, "BisectBatchOnFunctionError": false})).await;
    let parcel = teller.moved_parcel().await;
    teller.refused(DomainEventId::new(Subject::Parcel(parcel.id), 1), 2).await;
    let letter = teller.letter().await;
    assert_eq!(letter["requestContext"]["condition"], "RetryAttemptsExhausted", "{letter}");
    let batch = &letter["DDBStreamBatchInfo"];
    assert!(batch["streamArn"].as_str().unwrap().contains("/stream/") && batch["shardId"].is_string(), "{letter}");
    assert!(batch["startSequenceNumber"].as_str() <= batch["endSequenceNumber"].as_str(), "{letter}");
    assert!(!letter.to_string().contains("example.com"), "{letter}");
}
