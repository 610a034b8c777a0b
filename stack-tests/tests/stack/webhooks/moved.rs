//! Endpoints over hours and days: the worker and the relay in this process, on tables of the test's own, with a clock that
//! is moved.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use aws_lambda_events::event::sqs::SqsEvent;
use futures::future::join_all;
use parceltrack::aws::{DeadLetterQueue, WebhookDeliveryTable, WebhookTable, WebhookTicketQueue};
use parceltrack::domain::{
    ConfirmationLink, ConfirmationTicket, ContactId, ContactToken, DeliveryId, DeliverySubject, DomainEventType,
    FIRST_DUE, LinkSecret, NOTICES_PER_OWNER, NewWebhook, NoticeEnd, Occasion, OwnerId, ParcelId, Subject,
    SwitchOffReason, Timestamp, Webhook, WebhookDelivery, WebhookDeliveryState, WebhookDeliveryStatus,
    WebhookEventType, WebhookId, WebhookSecret, WebhookState, WebhookTicket,
};
use parceltrack::ports::{
    BoundConfirmations as _, BoundNotices as _, ChangeWebhooks as _, Clock as _, ConfirmContacts as _,
    CreateWebhooks as _, MailError, Notice, NoticeRight, PortError, ReadWebhookDeliveries as _, ReadWebhooks as _,
    RecordWebhookDeliveries as _, SendNotice, SendWebhookTicket, SendWebhookTickets, WorkOnWebhooks as _,
};
use serde_json::json;
use stack_tests::webhooks::{Behaviour, Endpoint};
use stack_tests::{MovedClock, OwnQueues, Stack, context, record};
use tokio::net::TcpListener;
use uuid::Uuid;
use webhook_relay::WebhookRelay;
use webhook_worker::{Endpoints, Rules, SystemResolver, WebhookWorker, handle};

/// A queue of tickets whose delays are of the moved clock's time.
struct Tickets {
    clock: Arc<MovedClock>,
    waiting: Mutex<Vec<(Timestamp, WebhookTicket)>>,
}

impl Tickets {
    fn ready(&self) -> Vec<WebhookTicket> {
        let now = self.clock.now();
        let mut waiting = self.waiting.lock().unwrap();
        let (ready, later) = waiting.drain(..).partition(|(at, _)| *at <= now);
        *waiting = later;
        let ready: Vec<_> = ready;
        ready.into_iter().map(|(_, ticket)| ticket).collect()
    }
}

#[async_trait]
impl SendWebhookTicket for Tickets {
    async fn send(&self, ticket: &WebhookTicket, delay: Duration) -> Result<(), PortError> {
        self.waiting.lock().unwrap().push((self.clock.now() + delay, ticket.clone()));
        Ok(())
    }
}

#[async_trait]
impl SendWebhookTickets for Tickets {
    async fn send_batch(&self, tickets: &[WebhookTicket]) -> Result<Vec<WebhookTicket>, PortError> {
        for ticket in tickets {
            self.send(ticket, Duration::ZERO).await?;
        }
        Ok(vec![])
    }
}

/// A mail provider that is away at first.
#[derive(Default)]
struct Notices {
    tries: Mutex<Vec<Notice>>,
}

#[async_trait]
impl SendNotice for Notices {
    async fn tell(&self, notice: &Notice) -> Result<(), MailError> {
        let mut tries = self.tries.lock().unwrap();
        tries.push(notice.clone());
        if tries.len() == 1 { Err(MailError::Unavailable("not now".to_owned())) } else { Ok(()) }
    }
}

struct Parts {
    webhooks: WebhookTable,
    deliveries: WebhookDeliveryTable,
    clock: Arc<MovedClock>,
    tickets: Arc<Tickets>,
    notices: Arc<Notices>,
    worker: WebhookWorker,
    relay: WebhookRelay,
    webhook: Webhook,
}

impl Parts {
    async fn new(url: &str) -> Self {
        Box::pin(Self::prepare(url)).await
    }

    async fn prepare(url: &str) -> Self {
        let stack = Stack::running().await;
        let ((webhooks, deliveries), queues) = tokio::join!(stack.own_webhooks(), stack.own_queues());
        let OwnQueues { tickets: queue, dead_letters, .. } = &queues;
        let clock = Arc::new(MovedClock::default());
        let tickets = Arc::new(Tickets { clock: clock.clone(), waiting: Mutex::default() });
        let notices = Arc::new(Notices::default());
        let (table, rows) = (Arc::new(webhooks.clone()), Arc::new(deliveries.clone()));
        let worker = WebhookWorker {
            webhooks: table.clone(),
            health: table.clone(),
            bounds: table.clone(),
            contacts: table.clone(),
            confirmations: table,
            ask: Arc::new(WebhookTicketQueue::new(stack.clients.sqs(), queue.clone())),
            deliveries: rows.clone(),
            work: rows.clone(),
            endpoints: Arc::new(Endpoints::new(Arc::new(SystemResolver), "127.0.0.1".parse().unwrap()).unwrap()),
            tickets: tickets.clone(),
            queue: Arc::new(WebhookTicketQueue::new(stack.clients.sqs(), queue.clone())),
            dead_letters: Arc::new(DeadLetterQueue::new(stack.clients.sqs(), dead_letters.clone())),
            notices: notices.clone(),
            suppressions: Arc::new(stack.suppressions()),
            clock: clock.clone(),
            rules: Rules {
                lease: Duration::from_secs(30),
                max_receives: 5,
                notice_interval: Duration::from_secs(5),
                public_url: "https://parcels.example".to_owned(),
            },
        };
        let relay = WebhookRelay { deliveries: rows, tickets: tickets.clone(), clock: clock.clone() };
        let now = clock.now();
        let new = NewWebhook {
            url: url.parse().unwrap(),
            event_types: DomainEventType::ALL.into(),
            contact: "tan@example.com".parse().unwrap(),
            description: None,
        };
        let secret = WebhookSecret::from_random([Uuid::new_v4(), Uuid::new_v4()]);
        let webhook = Webhook::registered(new, WebhookId(Uuid::new_v4()), OwnerId::house(), secret, now);
        webhooks.create(&webhook, None, now).await.unwrap();
        Self { webhooks, deliveries, clock, tickets, notices, worker, relay, webhook }
    }

    /// An event of this parcel has been heard of, and its ticket sent.
    async fn hear(&self, parcel: ParcelId, sequence: u64) -> DeliveryId {
        let id = DeliveryId { subject: DeliverySubject::Event(Subject::Parcel(parcel)), sequence };
        let now = self.clock.now();
        let delivery = WebhookDelivery {
            webhook: self.webhook.key(),
            id,
            event_id: Uuid::new_v4(),
            event_type: WebhookEventType::Event(DomainEventType::ParcelCreated),
            body: json!({"sequence": sequence}).to_string(),
            state: WebhookDeliveryState::Pending { next_attempt_at: now, due: now + FIRST_DUE },
            occasion: Occasion::Event,
            failures: 0,
            attempts: vec![],
            attempt_count: 0,
            lease: None,
            created_at: now,
        };
        self.deliveries.record(&delivery).await.unwrap();
        let ticket = WebhookTicket { webhook: self.webhook.key(), delivery_id: id };
        self.tickets.send(&ticket, Duration::ZERO).await.unwrap();
        id
    }

    /// Lets the relay run, and the worker take every ticket that is to be had. None may come back: only the last receive is
    /// played.
    async fn work(&self) {
        self.relay.run(SystemTime::now() + Duration::from_mins(5)).await.unwrap();
        loop {
            let tickets = self.tickets.ready();
            if tickets.is_empty() {
                return;
            }
            for ticket in tickets {
                let records = [record("one", &ticket.to_body(), 5, "no-such-handle")];
                let event: SqsEvent = serde_json::from_value(json!({"Records": records})).unwrap();
                let answer = handle(&self.worker, event, &context(Duration::from_secs(25))).await.unwrap();
                assert!(answer.batch_item_failures.is_empty());
            }
        }
    }

    /// The contact is asked, and says yes.
    async fn contact_confirms(&self) {
        let (secret, now) = (LinkSecret(Uuid::new_v4()), self.clock.now());
        assert!(self.webhooks.count_confirmation(&self.webhook, secret, now).await.unwrap());
        let contact = ContactId::of(&self.webhook.owner, &self.webhook.contact);
        let link = self.webhooks.confirm(ContactToken { contact, secret }, now).await.unwrap();
        assert_eq!(link, ConfirmationLink::Good);
    }

    /// Lets the worker take the wish for a confirmation.
    async fn ask_contact(&self) {
        let body = ConfirmationTicket { confirm: self.webhook.key() }.to_body();
        let event: SqsEvent =
            serde_json::from_value(json!({"Records": [record("one", &body, 1, "no-such-handle")]})).unwrap();
        let answer = handle(&self.worker, event, &context(Duration::from_secs(25))).await.unwrap();
        assert!(answer.batch_item_failures.is_empty());
    }

    async fn delivery(&self, id: DeliveryId) -> WebhookDelivery {
        self.deliveries.delivery(self.webhook.id, id).await.unwrap().unwrap()
    }

    async fn state(&self) -> Webhook {
        self.webhooks.webhook(&self.webhook.key()).await.unwrap().unwrap()
    }

    /// Moves the clock past the next attempt at this delivery, and works. How long that is after the last one began.
    async fn next_attempt(&self, id: DeliveryId) -> Duration {
        let delivery = self.delivery(id).await;
        let WebhookDeliveryState::Pending { next_attempt_at, .. } = delivery.state else { panic!("at its end") };
        // The relay looks once a minute, after the time that is due; and a ticket's delay begins when it is sent, a little
        // after the time that was written down.
        self.clock.forward(next_attempt_at.since(self.clock.now()) + Duration::from_secs(30));
        self.work().await;
        delivery.attempts.last().map_or(Duration::ZERO, |last| next_attempt_at.since(last.at))
    }
}

/// An address at which nobody listens.
async fn nobody() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap()
}

fn parcel() -> ParcelId {
    ParcelId(Uuid::new_v4())
}

const RETRY_SECONDS: [u64; 7] = [5, 300, 1800, 7200, 18_000, 36_000, 36_000];

#[tokio::test]
async fn an_endpoint_that_vanishes_for_an_hour_gets_everything_afterwards_in_order() {
    let address = nobody().await;
    let parts = Parts::new(&format!("http://{address}/webhooks")).await;
    let parcel = parcel();
    let (first, second) = (parts.hear(parcel, 1).await, parts.hear(parcel, 2).await);
    parts.work().await;
    let mut gone_for = Duration::ZERO;
    while gone_for < Duration::from_hours(1) {
        assert_eq!(parts.delivery(second).await.attempt_count, 0, "it waits for the first");
        gone_for += parts.next_attempt(first).await;
        if parts.delivery(first).await.attempt_count == 4 {
            break;
        }
    }
    let failed = parts.delivery(first).await;
    assert_eq!((failed.attempt_count, failed.failures), (4, 4));
    let errors: Vec<String> = failed.attempts.iter().map(|attempt| format!("{:?}", attempt.end)).collect();
    assert!(errors.iter().all(|error| error.contains("CouldNotConnect")), "{errors:?}");

    let endpoint = Endpoint::at(address, Behaviour::Status(200)).await;
    parts.next_attempt(first).await;
    for id in [first, second] {
        assert_eq!(parts.delivery(id).await.state.status(), WebhookDeliveryStatus::Delivered);
    }
    let bodies: Vec<String> = endpoint.received().into_iter().map(|received| received.body).collect();
    assert_eq!(bodies, [r#"{"sequence":1}"#, r#"{"sequence":2}"#]);
    let health = parts.state().await.health;
    assert_eq!((health.consecutive_failures, health.failing_since, health.rest_until), (0, None, None));
}

#[tokio::test]
async fn retries_come_at_the_promised_times_and_the_eighth_failure_is_the_end() {
    let endpoint = Endpoint::start(Behaviour::Status(500)).await;
    let parts = Parts::new(&endpoint.url).await;
    let parcel = parcel();
    let (first, second) = (parts.hear(parcel, 1).await, parts.hear(parcel, 2).await);
    parts.work().await;
    for seconds in RETRY_SECONDS {
        let wait = parts.next_attempt(first).await.as_secs();
        // The call itself takes its time, too.
        assert!((seconds..=seconds + seconds / 10 + 15).contains(&wait), "{wait} s instead of {seconds}");
    }
    let failed = parts.delivery(first).await;
    assert_eq!((failed.state.status(), failed.attempt_count), (WebhookDeliveryStatus::Failed, 8));
    let bodies: Vec<String> = endpoint.received().into_iter().map(|received| received.body).collect();
    assert!(bodies[..8].iter().all(|body| *body == bodies[0]), "the same bytes each time");
    // The next one has its turn, once the endpoint has rested.
    while parts.delivery(second).await.attempt_count == 0 {
        parts.next_attempt(second).await;
    }
    assert!(endpoint.received().len() > 8);
}

#[tokio::test]
async fn after_three_failures_an_endpoint_is_left_alone_then_tried_by_one_call_and_a_success_brings_the_rest() {
    let endpoint = Endpoint::start(Behaviour::Status(503)).await;
    let parts = Parts::new(&endpoint.url).await;
    let mut ids = Vec::new();
    for _ in 0..6 {
        ids.push(parts.hear(parcel(), 1).await);
    }
    parts.work().await;
    assert_eq!(endpoint.received().len(), 3, "the others are put off without a call");
    let rest = parts.state().await.health.rest_until.unwrap().since(parts.clock.now());
    assert!(Duration::from_secs(20) < rest && rest <= Duration::from_secs(30), "{rest:?}");
    parts.clock.forward(rest + Duration::from_secs(11));
    endpoint.behave(Behaviour::Status(200));
    parts.work().await;
    parts.clock.forward(Duration::from_mins(10));
    parts.work().await;
    for id in ids {
        assert_eq!(parts.delivery(id).await.state.status(), WebhookDeliveryStatus::Delivered);
    }
}

#[tokio::test]
async fn an_endpoint_that_fails_for_five_days_is_switched_off_and_its_owner_told_once_the_mail_goes() {
    let endpoint = Endpoint::start(Behaviour::Status(500)).await;
    let parts = Parts::new(&endpoint.url).await;
    parts.contact_confirms().await;
    let mut last = parts.hear(parcel(), 1).await;
    parts.work().await;
    for hours in (12..=120).step_by(12) {
        assert!(parts.state().await.is_active(), "after {hours} hours");
        parts.clock.forward(Duration::from_hours(12));
        last = parts.hear(parcel(), 1).await;
        parts.work().await;
    }
    let webhook = parts.state().await;
    assert!(matches!(webhook.state, WebhookState::SwitchedOff { reason: SwitchOffReason::FailedForDays, .. }));
    // The mail provider was away. What brings the mail is the delivery that is still pending.
    assert_eq!(parts.notices.tries.lock().unwrap().len(), 1);
    assert!(webhook.notice_due.is_some());
    for _ in 0..5 {
        parts.clock.forward(Duration::from_hours(1));
        parts.work().await;
    }
    let tries = parts.notices.tries.lock().unwrap().clone();
    assert_eq!(tries.len(), 2, "told, and not again");
    assert_eq!((tries[1].to.as_str(), &tries[0]), ("tan@example.com", &tries[1]));
    assert!(tries[1].text.contains("five days") && !tries[1].text.contains("/webhooks/webhooks"), "{}", tries[1].text);
    let told = parts.state().await;
    assert_eq!((told.notice_due, told.notice_end), (None, Some(NoticeEnd::Sent)));
    assert_eq!(parts.delivery(last).await.state.status(), WebhookDeliveryStatus::Withdrawn);
    let calls = endpoint.received().len();
    parts.clock.forward(Duration::from_hours(24));
    parts.work().await;
    assert_eq!(endpoint.received().len(), calls, "nobody calls it any more");
}

#[tokio::test]
async fn who_has_not_confirmed_gets_one_mail_whatever_the_merchant_does_and_the_notice_ends_visibly() {
    let endpoint = Endpoint::start(Behaviour::Status(410)).await;
    let parts = Parts::new(&endpoint.url).await;
    parts.ask_contact().await;
    // The provider was away, so nothing is out; now it is there.
    parts.clock.forward(Duration::from_mins(1));
    for _ in 0..5 {
        parts.ask_contact().await;
        parts.clock.forward(Duration::from_mins(1));
        parts.hear(parcel(), 1).await;
        parts.work().await;
        let webhook = parts.state().await;
        assert_eq!((webhook.is_active(), webhook.notice_end), (false, Some(NoticeEnd::NotConfirmed)));
        parts.webhooks.enable(&parts.webhook.key(), parts.clock.now()).await.unwrap();
    }
    let mails = parts.notices.tries.lock().unwrap().clone();
    let subjects: Vec<&str> = mails.iter().map(|mail| mail.subject.as_str()).collect();
    assert_eq!(subjects, ["Please confirm your address"; 2], "one that was not taken, and one that was");

    // Another webhook, of another merchant, with the address in capitals: no mail either on the same day.
    let capitals = Webhook {
        id: WebhookId(Uuid::new_v4()),
        owner: "kopi-corner".parse().unwrap(),
        contact: "TAN@Example.com".parse().unwrap(),
        ..parts.webhook.clone()
    };
    let (secret, now) = (LinkSecret(Uuid::new_v4()), parts.clock.now());
    assert!(!parts.webhooks.count_confirmation(&capitals, secret, now).await.unwrap());
}

#[tokio::test]
async fn bounds_of_mails_hold_however_many_ask_at_once() {
    let parts = Parts::new("http://127.0.0.1:1024/webhooks").await;
    let now = parts.clock.now();
    let asked = join_all((0..20).map(|_| {
        let (secret, parts) = (LinkSecret(Uuid::new_v4()), &parts);
        // In each other's way for long is no grant either.
        async move { parts.webhooks.count_confirmation(&parts.webhook, secret, now).await.unwrap_or(false) }
    }));
    assert_eq!(asked.await.into_iter().filter(|granted| *granted).count(), 1);
    let turns = join_all((0..20).map(|_| parts.webhooks.notice_turn(Duration::from_secs(5), now))).await;
    assert_eq!(turns.into_iter().filter(|turn| *turn == Ok(NoticeRight::Granted)).count(), 1);
    let almost = now + Duration::from_millis(4_999);
    assert_eq!(parts.webhooks.notice_turn(Duration::from_secs(5), almost).await, Ok(NoticeRight::NotYet));

    // The merchant's own day: ten webhooks with ten addresses, switched off side by side, twice each.
    let others: Vec<Webhook> = (0..10)
        .map(|number| Webhook {
            id: WebhookId(Uuid::new_v4()),
            contact: format!("tan{number}@example.com").parse().unwrap(),
            ..parts.webhook.clone()
        })
        .collect();
    let mut granted = 0;
    for round in 0..2 {
        let off = now + Duration::from_secs(round);
        for webhook in &others {
            if round == 0 {
                parts.webhooks.create(webhook, None, now).await.unwrap();
            }
            parts.webhooks.enable(&webhook.key(), off).await.unwrap();
            parts.webhooks.switch_off(&webhook.key(), SwitchOffReason::Gone, off).await.unwrap();
        }
        let rights = join_all(others.iter().map(|webhook| parts.webhooks.count_notice(webhook, off, now))).await;
        granted += rights.into_iter().filter(|right| *right == Ok(NoticeRight::Granted)).count();
    }
    // One went to the confirmation above; the tenth webhook was not made, since the merchant had one.
    assert_eq!(granted, usize::try_from(NOTICES_PER_OWNER).unwrap() - 1);
}

#[tokio::test]
async fn a_success_in_between_begins_the_five_days_anew() {
    let endpoint = Endpoint::start(Behaviour::Status(500)).await;
    let parts = Parts::new(&endpoint.url).await;
    parts.hear(parcel(), 1).await;
    parts.work().await;
    parts.clock.forward(Duration::from_hours(100));
    endpoint.behave(Behaviour::Status(200));
    parts.hear(parcel(), 1).await;
    parts.work().await;
    parts.clock.forward(Duration::from_hours(30));
    endpoint.behave(Behaviour::Status(500));
    parts.hear(parcel(), 1).await;
    parts.work().await;
    let webhook = parts.state().await;
    assert!(webhook.is_active());
    assert_eq!(webhook.health.consecutive_failures, 1);
}
