//! Events of the deployed function, as a listener on the deployed bus gets them.

use std::collections::BTreeMap;
use std::path::Path;

use parceltrack::aws::EVENT_SOURCE;
use parceltrack::domain::{DomainEvent, Subject};
use reqwest::Method;
use serde_json::{Value, json};
use stack_tests::{PATIENCE, Stack, own_address};
use tokio::time::timeout;
use uuid::Uuid;

use crate::event_schemas::Schemas;

/// A queue of a test's own that gets everything that is put on the bus from now on.
pub(crate) struct Listener {
    stack: Stack,
    queue: String,
    heard: Vec<Value>,
}

impl Listener {
    pub(crate) async fn new() -> Self {
        let stack = Stack::running().await;
        let name = format!("listener-{}", Uuid::new_v4());
        let sqs = stack.clients.sqs();
        let queue = sqs.create_queue().queue_name(&name).send().await.unwrap().queue_url.unwrap();
        let (bus, region) = (stack.addresses.output("DomainEventsBusName").unwrap(), &stack.addresses.region);
        let pattern = json!({"source": [EVENT_SOURCE]}).to_string();
        let rule = json!({"Name": name, "EventBusName": bus, "EventPattern": pattern});
        stack.emulator("events", "AWSEvents.PutRule", &rule).await;
        let target = json!({"Id": "queue", "Arn": format!("arn:aws:sqs:{region}:000000000000:{name}")});
        let targets = json!({"Rule": name, "EventBusName": bus, "Targets": [target]});
        let answer = stack.emulator("events", "AWSEvents.PutTargets", &targets).await;
        assert_eq!(answer["FailedEntryCount"], 0, "{answer}");
        Self { stack, queue, heard: Vec::new() }
    }

    async fn listen(&mut self) {
        let sqs = self.stack.clients.sqs();
        let receive = sqs.receive_message().queue_url(&self.queue).max_number_of_messages(10).wait_time_seconds(1);
        for message in receive.send().await.unwrap().messages() {
            self.heard.push(serde_json::from_str(message.body().unwrap()).unwrap());
            let handle = message.receipt_handle().unwrap();
            sqs.delete_message().queue_url(&self.queue).receipt_handle(handle).send().await.unwrap();
        }
    }

    /// The events of this parcel and its invoice, in the order in which they came first, once there are so many.
    pub(crate) async fn events_of(&mut self, parcel: &Value, count: usize) -> Vec<DomainEvent> {
        let mut events = Vec::new();
        let all = async {
            loop {
                events = self.first_told(parcel);
                if events.len() >= count {
                    return;
                }
                self.listen().await;
            }
        };
        assert!(timeout(PATIENCE, all).await.is_ok(), "only {events:#?}");
        assert_eq!(events.len(), count, "{events:#?}");
        events
    }

    /// Waits until this event has been told so often.
    async fn hear_again(&mut self, event: &DomainEvent, times: usize) {
        let id = serde_json::to_value(event.id).unwrap();
        let told = async {
            while self.heard.iter().filter(|heard| heard["detail"]["id"] == id).count() < times {
                self.listen().await;
            }
        };
        assert!(timeout(PATIENCE, told).await.is_ok(), "{event:?} is not told {times} times");
    }

    fn first_told(&self, parcel: &Value) -> Vec<DomainEvent> {
        let mut events: Vec<DomainEvent> = Vec::new();
        for heard in self.heard.iter().filter(|heard| heard["detail"]["parcelId"] == parcel["id"]) {
            let event: DomainEvent = serde_json::from_value(heard["detail"].clone()).unwrap();
            assert_eq!((&heard["source"], &heard["detail-type"]), (&json!(EVENT_SOURCE), &heard["detail"]["type"]));
            match events.iter().find(|known| known.id == event.id) {
                Some(known) => assert_eq!(*known, event, "told again, but otherwise"),
                None => events.push(event),
            }
        }
        events
    }
}

/// Each subject's events with their requests, in the order in which they came.
fn by_subject(events: &[DomainEvent]) -> BTreeMap<String, Vec<(u64, &'static str, &str)>> {
    let mut stories: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for event in events {
        let subject = match event.subject() {
            Subject::Parcel(_) => "parcel",
            Subject::Invoice(_) => "invoice",
        };
        let told = (event.sequence, event.happening.kind().name(), event.correlation_id.as_str());
        stories.entry(subject.to_owned()).or_default().push(told);
    }
    stories
}

async fn call(stack: &Stack, path: &str, key: &str, request: &str, body: Value) -> Value {
    let call = stack.request(Method::POST, path, Some(key)).header("x-request-id", request);
    let answer = call.json(&body).send().await.unwrap();
    assert!(answer.status().is_success(), "{path}: {}", answer.text().await.unwrap());
    answer.json().await.unwrap()
}

#[tokio::test]
async fn what_happens_to_a_parcel_and_its_invoice_is_told_in_order_with_the_request_it_follows_from() {
    let mut listener = Listener::new().await;
    let stack = Stack::running().await;
    let run = Uuid::new_v4().simple().to_string();
    let request = |step: &str| format!("{step}-{run}");
    let email = own_address("told");
    let new =
        json!({"recipient": "Quillfeather Told", "email": email, "address": "1 Secret Lane", "phone": "9123 4567"});
    let merchant = local_stack::MERCHANT_KEY;
    let parcel = call(&stack, "/api/parcels", merchant, &request("create"), new).await;
    let path = format!("/api/parcels/{}", parcel["id"].as_str().unwrap());
    for (step, status) in [("scan", "InTransit"), ("van", "OutForDelivery"), ("door", "Delivered")] {
        let body = json!({"status": status, "note": "left with Quillfeather"});
        call(&stack, &format!("{path}/events"), local_stack::OPERATOR_KEY, &request(step), body).await;
    }
    let invoice = call(&stack, &format!("{path}/invoice"), merchant, &request("invoice"), json!({})).await;
    let id = invoice["id"].as_str().unwrap();
    stack.invoice_once(id, "Sent").await;
    call(&stack, &format!("/api/invoices/{id}/resend"), merchant, &request("resend"), json!({})).await;

    let events = listener.events_of(&parcel, 7).await;
    let expected = |story: &[(&'static str, &str)]| -> Vec<(u64, &'static str, String)> {
        (1..).zip(story).map(|(sequence, (kind, step))| (sequence, *kind, request(step))).collect()
    };
    let told: BTreeMap<_, Vec<(u64, &'static str, String)>> = by_subject(&events)
        .into_iter()
        .map(|(subject, story)| {
            (subject, story.into_iter().map(|(number, kind, request)| (number, kind, request.to_owned())).collect())
        })
        .collect();
    let moved = "ParcelStatusChanged";
    assert_eq!(
        told["parcel"],
        expected(&[("ParcelCreated", "create"), (moved, "scan"), (moved, "van"), (moved, "door")])
    );
    assert_eq!(
        told["invoice"],
        expected(&[("InvoiceRequested", "invoice"), ("InvoiceSent", "invoice"), ("InvoiceSent", "resend")])
    );
    let schemas = Schemas::read();
    for event in &events {
        let written = serde_json::to_value(event).unwrap();
        schemas.check(&written);
        for personal in ["Quillfeather", "@", "Secret", "9123"] {
            assert!(!written.to_string().contains(personal), "{personal} in {written}");
        }
    }
}

#[tokio::test]
async fn an_invoice_that_fails_is_told_and_without_its_reason() {
    let mut listener = Listener::new().await;
    let stack = Stack::running().await;
    let parcel = stack.create_parcel("Quillfeather Failed", &format!("no-such-mailbox-{}", own_address("told"))).await;
    let invoice = stack.request_invoice(&parcel).await;
    stack.invoice_once(&invoice, "Failed").await;
    let events = listener.events_of(&parcel, 3).await;
    let story: Vec<_> = by_subject(&events)["invoice"].iter().map(|(number, kind, _)| (*number, *kind)).collect();
    assert_eq!(story, [(1, "InvoiceRequested"), (2, "InvoiceFailed")]);
    assert!(!serde_json::to_string(&events).unwrap().contains("mailbox"));
}

#[tokio::test]
async fn a_write_that_nobody_can_read_becomes_a_dead_letter_and_does_not_stop_the_others() {
    let mut listener = Listener::new().await;
    let stack = Stack::running().await;
    let poison = Uuid::new_v4().to_string();
    let table = stack.addresses.output("ParcelsTableName").unwrap();
    let text = |text: &str| aws_sdk_dynamodb::types::AttributeValue::S(text.to_owned());
    let put = stack.clients.dynamodb().put_item().table_name(table).item("parcelId", text(&poison));
    put.item("email", text(&own_address("poison"))).send().await.unwrap();
    let parcel = stack.create_parcel("After Poison", &own_address("after-poison")).await;
    listener.events_of(&parcel, 1).await;

    let letters = stack.addresses.output("DomainEventsDeadLetterQueueUrl").unwrap();
    let sqs = stack.clients.sqs();
    let found = async {
        loop {
            let receive = sqs.receive_message().queue_url(letters).max_number_of_messages(10).visibility_timeout(1);
            let answer = receive.message_attribute_names("All").wait_time_seconds(1).send().await.unwrap();
            let letter = answer.messages().iter().find(|letter| letter.body().unwrap().contains(&poison));
            if let Some(letter) = letter {
                return letter.clone();
            }
        }
    };
    let letter = timeout(PATIENCE, found).await.unwrap();
    let body: Value = serde_json::from_str(letter.body().unwrap()).unwrap();
    assert_eq!(body["row"], poison);
    assert!(body["streamArn"].as_str().unwrap().contains(table) && body["sequenceNumber"].is_string(), "{body}");
    assert!(!format!("{letter:?}").contains("example.com"));
}

#[tokio::test]
async fn a_write_can_be_told_again_from_its_stream_and_from_its_row_by_the_same_id() {
    let mut listener = Listener::new().await;
    let stack = Stack::running().await;
    let parcel = stack.create_parcel("Told Again", &own_address("told-again")).await;
    let [event] = &listener.events_of(&parcel, 1).await[..] else { panic!("one event") };
    let function = stack.addresses.output("DomainEventsFunctionName").unwrap();
    let told = json!({"batchItemFailures": []});

    // As docs/operations.md says, with the calls that the AWS CLI makes.
    let table = stack.addresses.output("ParcelsTableName").unwrap();
    let described = stack.clients.dynamodb().describe_table().table_name(table).send().await.unwrap();
    let stream = described.table.unwrap().latest_stream_arn.unwrap();
    let call = async |target: &str, body: Value| {
        stack.emulator("dynamodb", &format!("DynamoDBStreams_20120810.{target}"), &body).await
    };
    let described = call("DescribeStream", json!({"StreamArn": stream})).await;
    let shard = &described["StreamDescription"]["Shards"][0]["ShardId"];
    let oldest = json!({"StreamArn": stream, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"});
    let mut iterator = call("GetShardIterator", oldest).await["ShardIterator"].take();
    let record = loop {
        let mut page = call("GetRecords", json!({"ShardIterator": iterator})).await;
        let records = page["Records"].as_array().unwrap();
        if let Some(found) = records.iter().find(|record| record["dynamodb"]["Keys"]["parcelId"]["S"] == parcel["id"]) {
            break found.clone();
        }
        assert!(!records.is_empty(), "the stream has no write of {parcel}");
        iterator = page["NextShardIterator"].take();
    };
    assert_eq!(stack.invoke(function, &json!({"Records": [record]})).await, told);
    listener.hear_again(event, 2).await;

    let key = json!({"parcelId": {"S": parcel["id"]}});
    let row = stack.emulator("dynamodb", "DynamoDB_20120810.GetItem", &json!({"TableName": table, "Key": key})).await;
    let written = json!({"Keys": {"parcelId": row["Item"]["parcelId"]}, "NewImage": row["Item"]});
    assert_eq!(stack.invoke(function, &json!({"Records": [{"dynamodb": written}]})).await, told);
    listener.hear_again(event, 3).await;
    assert_eq!(listener.events_of(&parcel, 1).await, std::slice::from_ref(event));
}

#[tokio::test]
async fn the_sample_batches_are_told() {
    let mut listener = Listener::new().await;
    let stack = Stack::running().await;
    let function = stack.addresses.output("DomainEventsFunctionName").unwrap();
    let mut parcel = Value::Null;
    for sample in ["parcel", "invoice"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../events/domain-events-{sample}.json"));
        let batch: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!(stack.invoke(function, &batch).await, json!({"batchItemFailures": []}));
        parcel["id"] = batch["Records"][0]["dynamodb"]["NewImage"]["parcelId"]["S"].clone();
    }
    let events = listener.events_of(&parcel, 4).await;
    let kinds: Vec<_> = events.iter().map(|event| event.happening.kind().name()).collect();
    assert_eq!(kinds, ["ParcelCreated", "ParcelStatusChanged", "InvoiceSent", "InvoiceBounced"]);
}
