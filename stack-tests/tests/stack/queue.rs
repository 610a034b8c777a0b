//! `GET /api/queue` and its history: mostly in this process, on tables, queues and an inbox of a test's own, since other tests work on the
//! deployed ones.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use api::{Latest, QueueWatch};
use async_trait::async_trait;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use futures::StreamExt as _;
use invoice_worker::Worker;
use local_stack::{OPERATOR_KEY, OwnInbox, ServerState};
use outbox_relay::tell_backlog;
use parceltrack::aws::{DeadLetterQueue, InvoiceTable, ThroughputTable, TicketQueue};
use parceltrack::clock::SystemClock;
use parceltrack::domain::{
    Attempt, AttemptOutcome, InvoiceId, Lease, LeaseHolder, MailRate, OwnerId, ProviderState, Reopening, Slots, Ticket,
    Timestamp, Wish,
};
use parceltrack::ports::{
    Backlog, Clock, CountSends, DeadLetter as _, LetGo, MeasureBacklog as _, NoteProvider, OpenInvoices, PortError,
    ReadInvoices as _, ReadProvider as _, ReadSends as _, ReopenInvoices as _, SendTicket as _, WorkOnInvoices as _,
};
use reqwest::Method;
use serde_json::{Value, json};
use stack_tests::{OwnQueues, PATIENCE, Stack, create_invoice, own_address, rules, smtp, ticket_record, work};
use tower::ServiceExt as _;
use uuid::Uuid;

/// A clock that stands still until it is moved.
struct StoppedClock(AtomicI64);

impl StoppedClock {
    fn at(moment: Timestamp) -> Arc<Self> {
        Arc::new(Self(AtomicI64::new(moment.millis())))
    }

    fn set(&self, moment: Timestamp) {
        self.0.store(moment.millis(), Ordering::SeqCst);
    }

    fn forward(&self, seconds: i64) {
        self.0.fetch_add(seconds * 1000, Ordering::SeqCst);
    }
}

impl Clock for StoppedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// Tables and queues of a test's own, and an API that watches them.
struct Parts {
    table: InvoiceTable,
    throughput: ThroughputTable,
    queues: OwnQueues,
    clock: Arc<StoppedClock>,
    api: Router,
}

async fn parts(stack: &Stack) -> Parts {
    let (table, throughput, queues) =
        (stack.own_invoices().await, stack.own_throughput().await, stack.own_queues().await);
    let clock = StoppedClock::at(SystemClock.now());
    let watch = QueueWatch {
        backlog: Arc::new(table.clone()),
        tickets: Arc::new(tickets(stack, &queues)),
        dead_letters: Arc::new(dead_letters(stack, &queues)),
        sends: Arc::new(throughput.clone()),
        provider: Arc::new(throughput.clone()),
        history: Arc::new(throughput.clone()),
        clock: clock.clone(),
        rate: MailRate::new(20.0, 2).unwrap(),
        latest: Latest::default(),
    };
    let api = stack.api_watching(watch, clock.clone(), Arc::new(stack.tickets()));
    Parts { table, throughput, queues, clock, api }
}

fn tickets(stack: &Stack, queues: &OwnQueues) -> TicketQueue {
    TicketQueue::new(stack.clients.sqs(), queues.tickets.clone())
}

fn dead_letters(stack: &Stack, queues: &OwnQueues) -> DeadLetterQueue {
    DeadLetterQueue::new(stack.clients.sqs(), queues.dead_letters.clone())
}

async fn figures(api: &Router) -> Value {
    operators_json(api, "/api/queue").await
}

async fn operators_json(api: &Router, path: &str) -> Value {
    let request =
        Request::get(path).header("authorization", format!("Bearer {OPERATOR_KEY}")).body(Body::empty()).unwrap();
    let response = api.clone().oneshot(request).await.unwrap();
    assert_eq!(response.status(), 200);
    serde_json::from_slice(&to_bytes(response.into_body(), usize::MAX).await.unwrap()).unwrap()
}

fn in_an_hour() -> Timestamp {
    SystemClock.now() + Duration::from_hours(1)
}

/// A worker claims the invoice and lets go of it.
async fn let_go(table: &InvoiceTable, id: InvoiceId, how: &LetGo, outcome: AttemptOutcome) {
    let (now, holder) = (SystemClock.now(), LeaseHolder(Uuid::new_v4()));
    table.claim(id, Lease { holder, until: now + Duration::from_secs(45) }, now).await.unwrap();
    let invoice = table.invoice(id).await.unwrap().unwrap();
    table.let_go(&invoice, holder, how, Attempt { at: now, outcome, reason: None }).await.unwrap();
}

#[tokio::test]
async fn every_open_invoice_is_counted_however_many_there_are() {
    let stack = Stack::running().await;
    let table = stack.own_invoices().await;
    let oldest = create_invoice(&table, &own_address("oldest"), in_an_hour()).await;
    // More than the first page of every shard.
    let creating = futures::stream::iter((1..300).map(|_| create_invoice(&table, "open@example.com", in_an_hour())));
    assert_eq!(creating.buffer_unordered(20).count().await, 299);
    let oldest = table.invoice(oldest).await.unwrap().unwrap().content.created_at;
    let all = Backlog { open: OpenInvoices::Exactly(300), oldest: Some(oldest) };
    assert_eq!(table.backlog().await.unwrap(), all);
}

#[tokio::test]
async fn an_invoice_is_open_while_it_is_parked_and_again_once_it_is_reopened() {
    let stack = Stack::running().await;
    let table = stack.own_invoices().await;
    let none = Backlog { open: OpenInvoices::Exactly(0), oldest: None };
    assert_eq!(table.backlog().await.unwrap(), none);
    let id = create_invoice(&table, &own_address("story"), in_an_hour()).await;
    let created_at = table.invoice(id).await.unwrap().unwrap().content.created_at;
    let open = Backlog { open: OpenInvoices::Exactly(1), oldest: Some(created_at) };
    assert_eq!(table.backlog().await.unwrap(), open, "pending");

    let_go(&table, id, &LetGo::Parked { due: in_an_hour() }, AttemptOutcome::Parked).await;
    assert_eq!(table.backlog().await.unwrap(), open, "parked");
    let_go(&table, id, &LetGo::Failed { reason: "no such mailbox".to_owned() }, AttemptOutcome::Failed).await;
    assert_eq!(table.backlog().await.unwrap(), none, "failed");
    let wish = Reopening {
        wish: Wish::AnotherTry,
        letter: None,
        address: None,
        reason: "the mailbox is there now".to_owned(),
        correlation_id: None,
        due: in_an_hour(),
        now: SystemClock.now(),
    };
    table.reopen(id, &wish).await.unwrap();
    assert_eq!(table.backlog().await.unwrap(), open, "reopened");
}

#[tokio::test]
async fn in_an_outage_the_backlog_stays_though_the_queue_is_empty_and_afterwards_it_drains() {
    let stack = Stack::running().await;
    let Parts { table, throughput, queues, clock, api } = parts(&stack).await;
    let inbox = OwnInbox::start().await.unwrap();
    let worker = || {
        Worker::new(
            Arc::new(table.clone()),
            Arc::new(stack.bucket()),
            smtp(&inbox.smtp_url()),
            Arc::new(tickets(&stack, &queues)),
            Arc::new(dead_letters(&stack, &queues)),
            Arc::new(SystemClock),
            rules(),
        )
        .counting(Arc::new(throughput.clone()), Arc::new(throughput.clone()))
    };
    let mut invoices = Vec::new();
    // As many as open the breaker.
    for _ in 0..3 {
        let id = create_invoice(&table, &own_address("outage"), in_an_hour()).await;
        invoices.push(table.invoice(id).await.unwrap().unwrap());
    }
    // On their last receive: what fails now is parked, and its ticket is gone.
    let batch = ["m0", "m1", "m2"].iter().zip(&invoices).map(|(id, invoice)| ticket_record(id, invoice, 5));
    let batch: Vec<_> = batch.collect();
    assert_eq!(throughput.provider().await.unwrap(), None, "nobody has mailed yet");

    inbox.set_state(ServerState::Stopped).await.unwrap();
    assert!(work(&worker(), &batch).await.is_empty());
    clock.set(SystemClock.now());
    let down = figures(&api).await;
    assert_eq!((&down["backlog"], &down["backlogIs"]), (&json!(3), &json!("exact")));
    assert_eq!(down["provider"]["state"], "away");
    assert_eq!(down["tickets"], json!({"waiting": 0, "inFlight": 0, "delayed": 0}));
    assert_eq!((&down["drainSeconds"], &down["sendsPerSecond"]), (&json!(1), &json!(0.0)));

    clock.forward(42);
    let later = figures(&api).await;
    let waits = [&down, &later].map(|figures| figures["oldestWaitSeconds"].as_u64().unwrap());
    assert_eq!(waits[1] - waits[0], 42);
    clock.forward(1);
    assert!(work(&worker(), &batch).await.is_empty());
    assert_eq!(figures(&api).await["provider"], down["provider"], "since the first worker found it");

    inbox.set_state(ServerState::Running).await.unwrap();
    assert!(work(&worker(), &batch).await.is_empty());
    assert_eq!(inbox.mails().len(), 3);
    // The slot of the batch's end is complete when the next one has begun.
    clock.set(SystemClock.now() + Duration::from_secs(5));
    let over = figures(&api).await;
    assert_eq!((&over["backlog"], &over["oldestWaitSeconds"]), (&json!(0), &Value::Null));
    assert_eq!(over["drainSeconds"], 0);
    assert_eq!(over["sendsPerSecond"], 0.3, "three mails in ten seconds");
    assert_eq!(over["provider"]["state"], "answers");
    assert!(over["provider"]["since"].as_str() > down["provider"]["since"].as_str());
}

#[tokio::test]
async fn tickets_and_dead_letters_are_counted_where_they_are() {
    let stack = Stack::running().await;
    let Parts { queues, api, .. } = parts(&stack).await;
    let ticket = Ticket { invoice_id: InvoiceId(Uuid::new_v4()) };
    queues.delivered(ticket).await;
    for _ in 0..3 {
        tickets(&stack, &queues).send(ticket, &OwnerId::house(), None).await.unwrap();
    }
    for reason in ["no such mailbox", "the mail came back"] {
        dead_letters(&stack, &queues).bury(&ticket.to_body(), reason).await.unwrap();
    }
    let figures = figures(&api).await;
    assert_eq!(figures["tickets"], json!({"waiting": 3, "inFlight": 1, "delayed": 0}));
    assert_eq!(figures["deadLetters"], 2);
}

#[tokio::test]
async fn those_who_ask_within_a_second_see_the_same_figures() {
    let stack = Stack::running().await;
    let Parts { table, clock, api, .. } = parts(&stack).await;
    assert_eq!(figures(&api).await["backlog"], 0);
    create_invoice(&table, &own_address("new"), in_an_hour()).await;
    assert_eq!(figures(&api).await["backlog"], 0, "measured within this second");
    clock.forward(1);
    assert_eq!(figures(&api).await["backlog"], 1);
}

#[tokio::test]
async fn sends_are_added_up_by_slot_and_read_for_a_stretch_of_slots() {
    let stack = Stack::running().await;
    let throughput = stack.own_throughput().await;
    let slots = Slots::before(SystemClock.now());
    let second = |offset: i64| Timestamp::from_millis((slots.first.seconds() + offset) * 1000);
    for (offset, mails) in [(-1, 1), (0, 20), (4, 300), (5, 4000), (9, 50_000), (10, 600_000)] {
        throughput.add(mails, second(offset)).await.unwrap();
    }
    assert_eq!(throughput.sent_in(slots).await.unwrap(), 54_320, "not the one before, not the one after");
}

#[tokio::test]
async fn the_last_hour_is_told_by_the_minute() {
    let stack = Stack::running().await;
    let Parts { table, throughput, clock, api, .. } = parts(&stack).await;
    let hour = Slots::of_the_hour_before(clock.now());
    let minute = |number: usize| hour.minutes().nth(number).unwrap().first.begin();
    create_invoice(&table, &own_address("past"), in_an_hour()).await;
    // Before the hour, in it, and in the minute that runs.
    for at in [minute(0) + Duration::ZERO, minute(30), minute(59) + Duration::from_mins(1)] {
        tell_backlog(&table, &throughput, at).await;
        throughput.add(60, at).await.unwrap();
    }
    throughput.add(30, minute(30) + Duration::from_secs(55)).await.unwrap();
    let history = operators_json(&api, "/api/queue/history").await;
    let backlog: Vec<_> =
        history["backlog"].as_array().unwrap().iter().map(|then| then["at"].as_str().unwrap()).collect();
    assert_eq!(backlog, [minute(0), minute(30)].map(|at| at.to_string()));
    assert_eq!(history["backlog"][1]["backlog"], 1);
    let sends: Vec<_> =
        history["sends"].as_array().unwrap().iter().map(|then| then["sendsPerSecond"].as_f64().unwrap()).collect();
    assert_eq!(sends.len(), 60);
    assert_eq!((sends[0], sends[29], sends[30], sends[31]), (1.0, 0.0, 1.5, 0.0));
}

/// Counts that cannot be written.
#[derive(Clone, Copy)]
enum NoCounts {
    Refused,
    Unanswered,
}

#[async_trait]
impl CountSends for NoCounts {
    async fn add(&self, _: u32, _: Timestamp) -> Result<(), PortError> {
        match self {
            Self::Refused => Err(PortError::Unavailable("throttled".to_owned())),
            Self::Unanswered => pending().await,
        }
    }
}

#[async_trait]
impl NoteProvider for NoCounts {
    async fn note_provider(&self, _: ProviderState, now: Timestamp) -> Result<(), PortError> {
        self.add(0, now).await
    }
}

#[tokio::test]
async fn a_count_that_cannot_be_written_harms_no_invoice() {
    let stack = Stack::running().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stack.own_queues().await);
    for trouble in [NoCounts::Refused, NoCounts::Unanswered] {
        let worker =
            stack.worker(&queues, smtp(&inbox.smtp_url()), rules()).counting(Arc::new(trouble), Arc::new(trouble));
        let invoice = stack.invoice_without_ticket(&own_address("uncounted")).await;
        assert!(work(&worker, &[ticket_record("m1", &invoice, 1)]).await.is_empty());
        assert!(stack.invoice(invoice.content.id).await.due.is_none(), "finished");
    }
    assert_eq!(inbox.mails().len(), 2);
}

#[tokio::test]
async fn the_deployed_api_tells_of_the_deployed_worker() {
    let stack = Stack::running().await;
    // Nobody works on this one, whatever the other tests do.
    let waiting = stack.invoice_without_ticket(&own_address("waiting")).await;
    let parcel = stack.create_parcel("Tan Wei Ming", &own_address("queue")).await;
    let invoice = stack.request_invoice(&parcel).await;
    stack.invoice_once(&invoice, "Sent").await;
    let seen = async {
        loop {
            let answer = stack.request(Method::GET, "/api/queue", Some(OPERATOR_KEY)).send().await.unwrap();
            assert_eq!(answer.status(), 200);
            let figures: Value = answer.json().await.unwrap();
            if figures["sendsPerSecond"].as_f64().unwrap() > 0.0 {
                return figures;
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    };
    let figures = tokio::time::timeout(PATIENCE, seen).await.expect("no mail was ever counted");
    assert!(figures["backlog"].as_u64().unwrap() >= 1);
    let waits = SystemClock.now().since(waiting.content.created_at).as_secs();
    assert!(figures["oldestWaitSeconds"].as_u64().unwrap() + 2 >= waits, "at least as old as ours: {figures}");
    assert_eq!(
        (&figures["providerLimit"], &figures["pace"]),
        (&json!(20.0), &json!(16.36)),
        "one of 20 is for notices"
    );
    assert!(figures["tickets"]["waiting"].is_u64() && figures["deadLetters"].is_u64());
}
