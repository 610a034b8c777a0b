//! The relay, in this process, on a table and a queue of its own.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use futures::StreamExt as _;
use outbox_relay::{Relay, Report};
use parceltrack::aws::{InvoiceTable, TicketQueue};
use parceltrack::clock::SystemClock;
use parceltrack::domain::{InvoiceId, Lease, LeaseHolder, OwnerId, Ticket, relay_backoff};
use parceltrack::ports::{Clock as _, LetGo, PortError, ReadInvoices as _, SendTickets, WorkOnInvoices as _};
use stack_tests::{MovedClock, OwnQueues, Stack, create_invoice, own_address};
use uuid::Uuid;

struct Parts {
    table: InvoiceTable,
    queues: OwnQueues,
    clock: Arc<MovedClock>,
    relay: Relay,
}

async fn parts(stack: &Stack) -> Parts {
    let (table, queues, clock) =
        (stack.own_invoices().await, stack.own_queues().await, Arc::new(MovedClock::default()));
    let tickets = Arc::new(TicketQueue::new(stack.clients.sqs(), queues.tickets.clone()));
    let relay = Relay { invoices: Arc::new(table.clone()), tickets, clock: clock.clone() };
    Parts { table, queues, clock, relay }
}

fn in_time() -> SystemTime {
    SystemTime::now() + Duration::from_mins(5)
}

/// How many tickets each invoice has on the queue.
async fn tickets(queues: &OwnQueues) -> HashMap<InvoiceId, usize> {
    let mut tickets = HashMap::new();
    for message in queues.take(&queues.tickets).await {
        *tickets.entry(Ticket::parse(&message.body).unwrap().invoice_id).or_default() += 1;
    }
    tickets
}

#[tokio::test]
async fn every_due_invoice_gets_one_ticket_however_many_there_are() {
    let stack = Stack::running().await;
    let Parts { table, queues, relay, .. } = parts(&stack).await;
    // More than a page in every shard would take thousands; more than a batch in every shard shows the same.
    let now = SystemClock.now();
    let mut ids = Vec::new();
    for _ in 0..130 {
        ids.push(create_invoice(&table, &own_address("due"), now).await);
    }
    let later = create_invoice(&table, &own_address("later"), now + Duration::from_hours(1)).await;

    let report = relay.run(in_time()).await.unwrap();
    assert_eq!(report, Report { sent: 130, ..Report::default() });
    let tickets = tickets(&queues).await;
    assert!(ids.iter().all(|id| tickets.get(id) == Some(&1)));
    assert_eq!(tickets.get(&later), None, "not due yet");
    assert_eq!(relay.run(in_time()).await.unwrap(), Report::default(), "moved on");
}

#[tokio::test]
async fn pages_follow_one_another_within_a_shard() {
    let stack = Stack::running().await;
    let Parts { table, queues, relay, .. } = parts(&stack).await;
    let now = SystemClock.now();
    // A page has a hundred; nine hundred over eight shards make some shard hold more.
    let count = 900;
    // Twenty at a time: a small machine would keep some of nine hundred waiting for longer than calls may take.
    let creating = futures::stream::iter((0..count).map(|_| create_invoice(&table, "due@example.com", now)));
    let created: Vec<InvoiceId> = creating.buffer_unordered(20).collect().await;
    let report = relay.run(in_time()).await.unwrap();
    assert_eq!((report.sent, created.len()), (count, count));
    assert_eq!(tickets(&queues).await.len(), count);
}

#[tokio::test]
async fn each_time_the_relay_waits_longer() {
    let stack = Stack::running().await;
    let Parts { table, queues, clock, relay } = parts(&stack).await;
    let id = create_invoice(&table, &own_address("again"), clock.now()).await;
    for moves in 0..6 {
        let before = clock.now();
        assert_eq!(relay.run(in_time()).await.unwrap().sent, 1, "time {moves}");
        let due = table.invoice(id).await.unwrap().unwrap().due.unwrap();
        let waits = due.since(before);
        assert!(waits >= relay_backoff(moves) && waits < relay_backoff(moves) + Duration::from_mins(1), "{waits:?}");
        clock.forward(relay_backoff(moves).saturating_sub(Duration::from_mins(1)));
        assert_eq!(relay.run(in_time()).await.unwrap(), Report::default(), "not yet");
        clock.forward(Duration::from_mins(1));
    }
    assert_eq!(tickets(&queues).await, HashMap::from([(id, 6)]));
}

/// How far away the invoice's due time is.
async fn wait_of(table: &InvoiceTable, id: InvoiceId, clock: &MovedClock) -> Duration {
    table.invoice(id).await.unwrap().unwrap().due.unwrap().since(clock.now())
}

#[tokio::test]
async fn a_ticket_that_the_queue_refused_does_not_make_the_next_wait_longer() {
    let stack = Stack::running().await;
    let Parts { table, clock, relay, .. } = parts(&stack).await;
    let id = create_invoice(&table, &own_address("refused"), clock.now()).await;
    let nowhere = TicketQueue::new(stack.clients.sqs(), "http://127.0.0.1:9/000000000000/nowhere".to_owned());
    let blind = Relay { invoices: Arc::new(table.clone()), tickets: Arc::new(nowhere), clock: clock.clone() };
    for _ in 0..3 {
        assert_eq!(blind.run(in_time()).await.unwrap().refused, 1);
        clock.forward(Duration::from_secs(2));
    }
    assert_eq!(relay.run(in_time()).await.unwrap().sent, 1);
    assert!(wait_of(&table, id, &clock).await <= relay_backoff(0));
}

#[tokio::test]
async fn once_a_worker_has_had_a_ticket_the_waits_begin_anew() {
    let stack = Stack::running().await;
    let Parts { table, clock, relay, .. } = parts(&stack).await;
    let id = create_invoice(&table, &own_address("anew"), clock.now()).await;
    for moves in 0..3 {
        assert_eq!(relay.run(in_time()).await.unwrap().sent, 1);
        clock.forward(relay_backoff(moves));
    }
    // It claims, and dies.
    let (holder, now) = (LeaseHolder(Uuid::new_v4()), clock.now());
    table.claim(id, Lease { holder, until: now + Duration::from_secs(45) }, now).await.unwrap();
    assert_eq!(relay.run(in_time()).await.unwrap().sent, 1);
    assert!(wait_of(&table, id, &clock).await <= relay_backoff(0));
}

#[tokio::test]
async fn an_hours_backlog_gets_no_second_tickets_while_it_waits_and_a_lost_one_comes_once_the_queue_is_drained() {
    let stack = Stack::running().await;
    let Parts { table, queues, clock, relay } = parts(&stack).await;
    let queue = TicketQueue::new(stack.clients.sqs(), queues.tickets.clone());
    let begin = clock.now();
    // As many as are made in an hour at one in eighteen seconds; one has lost its ticket, and one was parked.
    let mut ids = Vec::new();
    for number in 0..200 {
        let due = begin + Duration::from_secs(18 * number);
        ids.push(create_invoice(&table, &own_address("backlog"), due).await);
    }
    let (lost, parked) = (ids[20], ids[180]);
    let with_ticket: Vec<_> = ids.iter().filter(|id| **id != lost && **id != parked).collect();
    for batch in with_ticket.chunks(10) {
        let batch: Vec<_> = batch.iter().map(|id| (Ticket { invoice_id: **id }, OwnerId::house())).collect();
        assert!(queue.send_batch(&batch).await.unwrap().is_empty());
    }
    let (holder, now) = (LeaseHolder(Uuid::new_v4()), clock.now());
    table.claim(parked, Lease { holder, until: now + Duration::from_secs(45) }, now).await.unwrap();
    let invoice = table.invoice(parked).await.unwrap().unwrap();
    let attempt =
        parceltrack::domain::Attempt { at: now, outcome: parceltrack::domain::AttemptOutcome::Failed, reason: None };
    table.let_go(&invoice, holder, &LetGo::Parked { due: begin }, attempt).await.unwrap();

    let (mut second, mut waited) = (0, 0);
    for _ in 0..6 {
        let report = relay.run(in_time()).await.unwrap();
        (second, waited) = (second + report.sent, waited + report.waiting);
        clock.forward(Duration::from_mins(10));
    }
    assert_eq!(second, 1, "the parked one's, which is not on the queue");
    assert!(waited >= 200, "each was looked at");

    // The workers have caught up.
    let taken = tickets(&queues).await;
    assert_eq!((taken.len(), taken.get(&lost), taken.get(&parked)), (199, None, Some(&1)));
    clock.forward(relay_backoff(u32::MAX));
    relay.run(in_time()).await.unwrap();
    assert_eq!(tickets(&queues).await.get(&lost), Some(&1));
}

#[tokio::test]
async fn what_is_finished_gets_no_ticket() {
    let stack = Stack::running().await;
    let Parts { table, queues, clock, relay } = parts(&stack).await;
    let id = create_invoice(&table, &own_address("finished"), clock.now()).await;
    let holder = LeaseHolder(Uuid::new_v4());
    let now = clock.now();
    table.claim(id, Lease { holder, until: now + Duration::from_secs(45) }, now).await.unwrap();
    let invoice = table.invoice(id).await.unwrap().unwrap();
    let attempt =
        parceltrack::domain::Attempt { at: now, outcome: parceltrack::domain::AttemptOutcome::Failed, reason: None };
    table.let_go(&invoice, holder, &LetGo::Failed { reason: "no such mailbox".to_owned() }, attempt).await.unwrap();
    assert_eq!(table.invoice(id).await.unwrap().unwrap().due, None);
    clock.forward(Duration::from_hours(24));
    assert_eq!(relay.run(in_time()).await.unwrap(), Report::default());
    assert!(tickets(&queues).await.is_empty());
}

/// A queue that takes every other ticket of a batch.
struct TakesHalf(TicketQueue);

#[async_trait]
impl SendTickets for TakesHalf {
    async fn send_batch(&self, tickets: &[(Ticket, OwnerId)]) -> Result<Vec<Ticket>, PortError> {
        let (taken, refused): (Vec<_>, Vec<_>) = tickets.iter().enumerate().partition(|(index, _)| index % 2 == 0);
        let taken: Vec<_> = taken.into_iter().map(|(_, ticket)| ticket.clone()).collect();
        let mut refused: Vec<Ticket> = refused.into_iter().map(|(_, (ticket, _))| *ticket).collect();
        refused.extend(self.0.send_batch(&taken).await?);
        Ok(refused)
    }

    async fn waiting(&self) -> Result<u64, PortError> {
        Ok(0)
    }
}

#[tokio::test]
async fn a_ticket_that_the_queue_refused_is_sent_by_the_next_run_that_finds_the_queue_short() {
    let stack = Stack::running().await;
    let Parts { table, queues, clock, relay } = parts(&stack).await;
    let mut ids = Vec::new();
    for _ in 0..40 {
        ids.push(create_invoice(&table, &own_address("half"), clock.now()).await);
    }
    let queue = TicketQueue::new(stack.clients.sqs(), queues.tickets.clone());
    let half = Relay { invoices: Arc::new(table.clone()), tickets: Arc::new(TakesHalf(queue)), clock: clock.clone() };
    let report = half.run(in_time()).await.unwrap();
    assert_eq!(report.sent + report.refused, 40);
    assert!(report.refused > 0);

    let mut all = tickets(&queues).await;
    assert_eq!(all.len(), report.sent);
    clock.forward(Duration::from_secs(2));
    assert_eq!(relay.run(in_time()).await.unwrap().sent, report.refused);
    all.extend(tickets(&queues).await);
    assert!(ids.iter().all(|id| all.get(id) == Some(&1)), "each one, none twice");
}

#[tokio::test]
async fn a_queue_that_is_away_loses_nothing() {
    let stack = Stack::running().await;
    let Parts { table, queues, clock, relay } = parts(&stack).await;
    let id = create_invoice(&table, &own_address("away"), clock.now()).await;
    let nowhere = TicketQueue::new(stack.clients.sqs(), "http://127.0.0.1:9/000000000000/nowhere".to_owned());
    let blind = Relay { invoices: Arc::new(table.clone()), tickets: Arc::new(nowhere), clock: clock.clone() };
    assert_eq!(blind.run(in_time()).await.unwrap(), Report { refused: 1, ..Report::default() });
    clock.forward(Duration::from_secs(2));
    assert_eq!(relay.run(in_time()).await.unwrap().sent, 1);
    assert_eq!(tickets(&queues).await, HashMap::from([(id, 1)]));
}

#[tokio::test]
async fn a_run_that_is_out_of_time_leaves_the_rest_due() {
    let stack = Stack::running().await;
    let Parts { table, queues, clock, relay } = parts(&stack).await;
    for _ in 0..20 {
        create_invoice(&table, &own_address("late"), clock.now()).await;
    }
    assert_eq!(relay.run(SystemTime::now()).await.unwrap(), Report::default());
    assert_eq!(relay.run(in_time()).await.unwrap().sent, 20);
    assert_eq!(tickets(&queues).await.len(), 20);
}
