//! How many calls of AWS a request costs: its time and its price. A process of the API is asked, and an AWS in memory
//! counts.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use bench::caller::{KEY, issue_key};
use bench::{Aws, Process, TRACE, events, settings};
use serde_json::{Value, json};

struct Counted {
    process: Process,
    aws: Aws,
}

impl Counted {
    /// The API, with the calls of its start.
    async fn start() -> (Self, Vec<String>) {
        let aws = Aws::default();
        issue_key(&aws).await.unwrap();
        aws.take_calls();
        let variables = settings::variables(&bench::serve(aws.clone()).await.unwrap());
        let arguments: [&str; 0] = [];
        let limit = settings::timeout("api").unwrap();
        let process = Process::start(env!("CARGO_BIN_EXE_api"), &arguments, &variables, limit).await.unwrap();
        let counted = Self { process, aws };
        let mut calls = counted.calls();
        // They are made side by side.
        calls.sort();
        (counted, calls)
    }

    /// An answer's body, and the calls that it cost.
    async fn ask(&self, method: &str, path: &str, key: Option<&str>, body: Option<&Value>) -> (Value, Vec<String>) {
        let headers: Vec<_> = key.map(|key| ("idempotency-key", key)).into_iter().collect();
        let event = events::request(method, path, "", KEY, &headers, body);
        let answer = self.process.invoke(&event).await.unwrap().answer;
        assert!(answer["statusCode"].as_u64().unwrap() < 300, "{answer}");
        (serde_json::from_str(answer["body"].as_str().unwrap()).unwrap(), self.calls())
    }

    fn calls(&self) -> Vec<String> {
        self.aws.take_calls().into_iter().map(|call| call.name).collect()
    }
}

#[tokio::test]
async fn a_request_costs_one_call_where_one_can_do_and_never_more_than_three() {
    let (api, at_start) = Counted::start().await;
    assert_eq!(at_start, ["DynamoDB GetItem invoices", "SQS GetQueueAttributes"], "one connection each");

    let parcel = json!({"recipient": "Tan Wei Ming", "email": "tan@example.com", "reference": "PO-2026-1130"});
    let (_, first) = api.ask("POST", "/api/parcels", None, Some(&parcel)).await;
    let creation = "DynamoDB TransactWriteItems parcels tracking-numbers";
    assert_eq!(
        first,
        ["DynamoDB GetItem api-keys", "DynamoDB UpdateItem api-keys", creation],
        "the caller's key, once a minute, and the note that it was used, once in five"
    );

    let (created, calls) = api.ask("POST", "/api/parcels", Some("order-1"), Some(&parcel)).await;
    assert_eq!(calls, [format!("{creation} idempotency")]);
    let (again, calls) = api.ask("POST", "/api/parcels", Some("order-1"), Some(&parcel)).await;
    assert_eq!((&again, calls), (&created, vec![format!("{creation} idempotency")]));

    let path = format!("/api/parcels/{}", created["id"].as_str().unwrap());
    let (_, calls) = api.ask("POST", &format!("{path}/invoice"), None, None).await;
    assert_eq!(calls, ["DynamoDB GetItem parcels", "DynamoDB PutItem invoices", "SQS SendMessage"]);
    let (_, calls) = api.ask("POST", &format!("{path}/invoice"), None, None).await;
    assert_eq!(calls, ["DynamoDB GetItem parcels", "DynamoDB PutItem invoices"]);

    let (shown, calls) = api.ask("GET", &path, None, None).await;
    assert_eq!(shown["invoice"]["status"], "Pending");
    assert_eq!(calls, ["DynamoDB BatchGetItem invoices parcels"]);
    let by_number = format!("/api/parcels/{}", created["trackingNumber"].as_str().unwrap());
    let (same, calls) = api.ask("GET", &by_number, None, None).await;
    assert_eq!(same, shown);
    assert_eq!(calls, ["DynamoDB GetItem tracking-numbers", "DynamoDB BatchGetItem invoices parcels"]);

    let (page, calls) = api.ask("GET", "/api/parcels", None, None).await;
    assert_eq!(page["parcels"].as_array().unwrap().len(), 2);
    assert_eq!(calls, ["DynamoDB Query parcels", "DynamoDB BatchGetItem invoices"]);
    api.process.stop().await.unwrap();
}

#[tokio::test]
async fn a_ticket_belongs_to_the_trace_of_the_request_that_it_follows_from() {
    let (api, _) = Counted::start().await;
    let parcel = json!({"recipient": "Tan Wei Ming", "email": "tan@example.com"});
    let (created, _) = api.ask("POST", "/api/parcels", None, Some(&parcel)).await;
    let path = format!("/api/parcels/{}/invoice", created["id"].as_str().unwrap());
    let event = events::request("POST", &path, "", KEY, &[], None);
    assert_eq!(api.process.invoke(&event).await.unwrap().answer["statusCode"], 202);
    let calls = api.aws.take_calls();
    let ticket = calls.iter().find(|call| call.name == "SQS SendMessage").unwrap();
    assert_eq!(ticket.trace.as_deref(), Some(TRACE));
    api.process.stop().await.unwrap();
}
