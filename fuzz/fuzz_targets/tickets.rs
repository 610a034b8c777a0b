//! Whatever the queue hands over, the worker names only messages of the batch, by ids that the queue knows, or none at
//! all if a message has no id; and nothing panics, not even where it would be caught: the fuzzer ends at every panic.

#![no_main]

use std::collections::BTreeSet;

use aws_lambda_events::event::sqs::SqsEvent;
use interleavings::{Timing, cast};
use libfuzzer_sys::arbitrary::{self, Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use parceltrack::aws::LETTER_ATTRIBUTE;
use parceltrack::domain::{Role, Ticket};
use parceltrack_fuzz::{Fuzzed, Known, invocation};
use serde_json::{Value, json};

thread_local! {
    static FUZZED: Fuzzed = Fuzzed::default();
}

#[derive(Arbitrary, Debug)]
struct Message {
    id: Option<String>,
    receipt_handle: Option<String>,
    body: Body,
    receives: Option<Receives>,
    letter: Option<String>,
    attribute: Option<(String, String)>,
}

#[derive(Arbitrary, Debug)]
enum Body {
    Known,
    Id(String),
    Text(String),
    Missing,
}

#[derive(Arbitrary, Debug)]
enum Receives {
    Number(u32),
    Text(String),
}

impl Message {
    fn record(&self, known: &Known) -> Value {
        let body = match &self.body {
            Body::Known => Some(Ticket { invoice_id: known.invoice }.to_body()),
            Body::Id(id) => Some(json!({"invoiceId": id}).to_string()),
            Body::Text(text) => Some(text.clone()),
            Body::Missing => None,
        };
        let mut attributes = json!({});
        match &self.receives {
            Some(Receives::Number(number)) => attributes["ApproximateReceiveCount"] = json!(number.to_string()),
            Some(Receives::Text(text)) => attributes["ApproximateReceiveCount"] = json!(text),
            None => {}
        }
        let text = |text: &str| json!({"stringValue": text, "dataType": "String"});
        let mut message_attributes = json!({});
        if let Some(letter) = &self.letter {
            message_attributes[LETTER_ATTRIBUTE] = text(letter);
        }
        if let Some((name, value)) = &self.attribute {
            message_attributes[name] = text(value);
        }
        json!({
            "messageId": self.id,
            "receiptHandle": self.receipt_handle,
            "body": body,
            "attributes": attributes,
            "messageAttributes": message_attributes,
        })
    }
}

/// As the queue's event source would hand it over; what is not even that, Lambda's own code refuses.
fn event(data: &[u8], known: &Known) -> Option<SqsEvent> {
    if let Ok(event) = serde_json::from_slice(data) {
        return Some(event);
    }
    let messages = Vec::<Message>::arbitrary_take_rest(Unstructured::new(data)).ok()?;
    let records: Vec<Value> = messages.iter().map(|message| message.record(known)).collect();
    serde_json::from_value(json!({"Records": records})).ok()
}

fuzz_target!(|data: &[u8]| {
    FUZZED.with(|fuzzed| {
        let known = fuzzed.begin();
        let Some(event) = event(data, &known) else { return };
        let worker = cast::worker(&fuzzed.ports(Role::Operator), &Timing::default());
        let ids: BTreeSet<String> = event.records.iter().filter_map(|record| record.message_id.clone()).collect();
        let all_have_ids =
            event.records.iter().all(|record| record.message_id.as_ref().is_some_and(|id| !id.is_empty()));
        match fuzzed.runtime.block_on(invoice_worker::handle(&worker, event, &invocation())) {
            Ok(response) => {
                for failure in response.batch_item_failures {
                    let id = failure.item_identifier;
                    assert!(!id.is_empty() && ids.contains(&id), "{id:?} is no message of the batch {ids:?}");
                }
            }
            Err(error) => assert!(!all_have_ids, "{error}, though all messages have an id"),
        }
    });
});
