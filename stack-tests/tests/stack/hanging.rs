//! A service that takes the call and never answers. The functions answer in time all the same, and ask no storm of
//! questions meanwhile.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use futures::future::join_all;
use invoice_worker::Worker;
use local_stack::{MERCHANT_KEY, OwnInbox, StackAddresses};
use parceltrack::aws::{DeadLetterQueue, TicketQueue};
use parceltrack::clock::SystemClock;
use parceltrack::domain::{AttemptOutcome, EmailAddress, FIRST_DUE, InvoiceId, InvoiceStatus, Suppression};
use parceltrack::ports::{PortError, ReadSuppressions};
use serde_json::{Value, json};
use stack_tests::{OwnQueues, PATIENCE, Stack, own_address, rules, smtp, ticket_record, work_within};
use tokio::net::TcpListener;
use tower::ServiceExt as _;
use uuid::Uuid;

use crate::template::{function_timeout, template};

/// The targets of all calls that came, none of which is ever answered.
#[derive(Clone, Default)]
struct Hanging(Arc<Mutex<Vec<String>>>);

impl Hanging {
    async fn start() -> (Self, String) {
        let hanging = Self::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let routes = Router::new().fallback(Self::take).with_state(hanging.clone());
        // Ends with the test's runtime.
        tokio::spawn(async move { axum::serve(listener, routes).await });
        (hanging, url)
    }

    async fn take(State(hanging): State<Self>, request: Request) -> StatusCode {
        let target = request.headers().get("x-amz-target").and_then(|target| target.to_str().ok());
        let target = target.map_or_else(|| request.method().to_string(), ToOwned::to_owned);
        hanging.0.lock().unwrap().push(target);
        std::future::pending().await
    }

    fn calls(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// The running stack, and the same one with an AWS that hangs.
struct Stacks {
    well: Stack,
    hangs: Stack,
    hanging: Hanging,
}

impl Stacks {
    async fn new() -> Self {
        let well = Stack::running().await;
        let (hanging, emulator_url) = Hanging::start().await;
        let hangs = Stack::at(StackAddresses { emulator_url, ..well.addresses.clone() }).await;
        Self { well, hangs, hanging }
    }

    /// A worker on these tables and this bucket, whose queues hang.
    fn worker(&self, tables: &Stack, bucket: &Stack, queues: &OwnQueues, inbox: &OwnInbox) -> Worker {
        let sqs = || self.hangs.clients.sqs();
        Worker::new(
            Arc::new(tables.invoices()),
            Arc::new(bucket.bucket()),
            smtp(&inbox.smtp_url()),
            Arc::new(TicketQueue::new(sqs(), queues.tickets.clone())),
            Arc::new(DeadLetterQueue::new(sqs(), queues.dead_letters.clone())),
            Arc::new(SystemClock),
            rules(),
        )
        .heeding(Arc::new(tables.suppressions()))
        .reopening(Arc::new(tables.invoices()))
    }
}

fn request(method: &str, path: &str, body: &Value) -> Request {
    let key = format!("Bearer {MERCHANT_KEY}");
    let request = Request::builder().method(method).uri(path).header("authorization", key);
    if body.is_null() {
        return request.body(Body::empty()).unwrap();
    }
    request.header("content-type", "application/json").body(Body::from(body.to_string())).unwrap()
}

/// How long Lambda lets the worker run.
fn worker_timeout() -> Duration {
    function_timeout(&template(), "InvoiceWorkerFunction")
}

#[tokio::test]
async fn while_the_tables_hang_every_route_answers_503_in_time_and_asks_each_question_twice_at_most() {
    let well = Stack::running().await;
    let parcel = json!({"recipient": "Tan Wei Ming", "email": own_address("hang")});
    let id = Uuid::new_v4();
    let questions_of_each = [
        ("POST", "/api/parcels".to_owned(), parcel, 1),
        ("GET", "/api/parcels".to_owned(), Value::Null, 1),
        // Parcel and invoice are asked for side by side.
        ("GET", format!("/api/parcels/{id}"), Value::Null, 2),
        ("POST", format!("/api/parcels/{id}/invoice"), Value::Null, 1),
        ("GET", format!("/api/invoices/{id}"), Value::Null, 1),
        ("GET", format!("/api/invoices/{id}/pdf"), Value::Null, 1),
    ];
    let timeout = function_timeout(&template(), "ApiFunction");
    join_all(questions_of_each.iter().map(async |(method, path, body, questions)| {
        let (hanging, emulator_url) = Hanging::start().await;
        let hangs = Stack::at(StackAddresses { emulator_url, ..well.addresses.clone() }).await;
        // Who is calling is known, or the question of that would be the only one.
        let (keys, clock) = (Arc::new(well.api_keys()), Arc::new(SystemClock));
        let api = hangs.api_knowing(keys, hangs.queue_watch(clock.clone()), clock, Arc::new(hangs.tickets()));
        let begin = Instant::now();
        let response = api.oneshot(request(method, path, body)).await.unwrap();
        assert!(begin.elapsed() < timeout, "{method} {path} took {:?}", begin.elapsed());
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE, "{method} {path}");
        assert_eq!(response.headers()["content-type"], "application/problem+json", "{method} {path}");
        let wait: u32 = response.headers()["retry-after"].to_str().unwrap().parse().unwrap();
        assert!(wait > 0, "{method} {path}");
        let body: Value = serde_json::from_slice(&to_bytes(response.into_body(), usize::MAX).await.unwrap()).unwrap();
        assert_eq!(body["type"], "/problems/unavailable", "{method} {path}");
        assert!(body["detail"].as_str().unwrap().contains("may or may not have been done"), "{body}");
        let calls = hanging.calls();
        assert!(!calls.is_empty() && calls.len() <= 2 * questions, "{method} {path}: {calls:?}");
    }))
    .await;
}

#[tokio::test]
async fn while_the_queue_hangs_an_invoice_is_accepted_in_time_and_left_to_the_relay() {
    let Stacks { well, hangs, hanging } = Stacks::new().await;
    let parcel = well.create_parcel("Tan Wei Ming", &own_address("hang")).await;
    let path = format!("/api/parcels/{}/invoice", parcel["id"].as_str().unwrap());
    let api = well.api(Arc::new(SystemClock), Arc::new(hangs.tickets()));
    let begin = Instant::now();
    let response = api.oneshot(request("POST", &path, &Value::Null)).await.unwrap();
    assert_eq!(response.status(), StatusCode::ACCEPTED);
    assert!(begin.elapsed() < function_timeout(&template(), "ApiFunction"), "it took {:?}", begin.elapsed());
    let calls = hanging.calls();
    assert!((1..=2).contains(&calls.len()), "{calls:?}");
    let location = response.headers()["location"].to_str().unwrap();
    let invoice = well.invoice(InvoiceId(location.rsplit('/').next().unwrap().parse().unwrap())).await;
    assert_eq!(invoice.due, Some(invoice.content.created_at + FIRST_DUE));
}

#[tokio::test]
async fn while_all_of_aws_hangs_the_worker_reports_its_whole_batch_in_time() {
    let stacks = Stacks::new().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stacks.well.own_queues().await);
    let worker = stacks.worker(&stacks.hangs, &stacks.hangs, &queues, &inbox);
    let (twice, once) = (
        stacks.well.invoice_without_ticket(&own_address("hang")).await,
        stacks.well.invoice_without_ticket(&own_address("hang")).await,
    );
    // Each is put back on the queue by a call of its own, which hangs as well.
    let batch = [
        ticket_record("m1", &twice, 1),
        ticket_record("m2", &twice, 1),
        ticket_record("m3", &twice, 1),
        ticket_record("m4", &once, 1),
    ];
    let begin = Instant::now();
    assert_eq!(work_within(&worker, &batch, worker_timeout()).await, ["m1", "m2", "m3", "m4"]);
    assert!(begin.elapsed() < worker_timeout(), "it took {:?}", begin.elapsed());
    let calls = stacks.hanging.calls();
    // Two claims and four delays, each asked for twice at most.
    assert!(calls.len() <= 12, "{calls:?}");
    assert!(inbox.mails().is_empty());
}

#[tokio::test]
async fn while_the_bucket_and_the_queues_hang_the_worker_gives_the_invoice_back_in_time() {
    let stacks = Stacks::new().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stacks.well.own_queues().await);
    let worker = stacks.worker(&stacks.well, &stacks.hangs, &queues, &inbox);
    let invoice = stacks.well.invoice_without_ticket(&own_address("hang")).await;
    let begin = Instant::now();
    assert_eq!(work_within(&worker, &[ticket_record("m1", &invoice, 1)], worker_timeout()).await, ["m1"]);
    assert!(begin.elapsed() < worker_timeout(), "it took {:?}", begin.elapsed());
    let tried = stacks.well.invoice(invoice.content.id).await;
    assert_eq!((tried.state.status(), tried.attempts[0].outcome), (InvoiceStatus::Pending, AttemptOutcome::Retried));
    assert!(inbox.mails().is_empty());

    // Nobody holds it any more.
    let healthy = stacks.well.worker(&queues, smtp(&inbox.smtp_url()), rules());
    assert!(work_within(&healthy, &[ticket_record("m1", &invoice, 2)], worker_timeout()).await.is_empty());
    assert_eq!(inbox.mails().len(), 1);
}

/// Tells nothing of slow addresses, ever, and has no limit of its own.
struct NeverOfSlow;

#[async_trait]
impl ReadSuppressions for NeverOfSlow {
    async fn suppression(&self, email: &EmailAddress) -> Result<Option<Suppression>, PortError> {
        if email.as_str().starts_with("slow") { std::future::pending().await } else { Ok(None) }
    }
}

#[tokio::test]
async fn an_invoice_that_comes_to_no_end_is_left_in_time_and_the_others_of_its_batch_are_acknowledged() {
    let stack = Stack::running().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stack.own_queues().await);
    let worker = stack.worker(&queues, smtp(&inbox.smtp_url()), rules()).heeding(Arc::new(NeverOfSlow));
    let slow = stack.invoice_without_ticket(&own_address("slow")).await;
    let quick = stack.invoice_without_ticket(&own_address("quick")).await;
    let last = stack.invoice_without_ticket(&own_address("slow")).await;
    let batch = [
        ticket_record("m1", &slow, 1),
        ticket_record("m2", &quick, 1),
        ticket_record("m3", &last, rules().max_receives),
    ];
    let begin = Instant::now();
    let failed = tokio::time::timeout(PATIENCE, work_within(&worker, &batch, worker_timeout())).await;
    assert_eq!(failed.expect("it never answered"), ["m1"]);
    assert!(begin.elapsed() < worker_timeout(), "it took {:?}", begin.elapsed());
    assert_eq!(inbox.mails().len(), 1);
    // On its last receive the queue would bury a ticket; but its invoice is due, and the relay brings another one.
    assert!(stack.invoice(last.content.id).await.due.is_some());
}
