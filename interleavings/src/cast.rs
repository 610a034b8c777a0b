//! The real functions, as processes of the world: `api::router`, `invoice_worker::handle`, `outbox_relay::Relay`.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use api::{App, KeyRing, Latest, QueueWatch};
use async_trait::async_trait;
use aws_lambda_events::event::sqs::{SqsEvent, SqsMessage, SqsMessageAttribute};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request as HttpRequest;
use http::header::AUTHORIZATION;
use invoice_worker::{Rules, Worker};
use lambda_runtime::Context;
use mail_events::MailEvents;
use outbox_relay::Relay;
use parcelctl::{Desk, retry_letter};
use parceltrack::aws::LETTER_ATTRIBUTE;
use parceltrack::domain::{
    Billing, Currency, EmailAddress, InvoiceContent, Line, LinkSecret, MailRate, Money, OwnerId, Parcel, ParcelId,
    ParcelStatus, RequestId, Seller, TaxCode, Text, Ticket, Timestamp, TrackingEvent, TrackingEventId, TrackingNumber,
};
use parceltrack::ports::{BuriedTicket, NewInvoice, PortError, SendTicket};
use serde_json::{Value, json};
use tower::ServiceExt as _;
use uuid::Uuid;

use crate::invariant::Invariant;
use crate::ports::{Ports, clients_key, webhooks};
use crate::queue::Message;
use crate::schedule::News;
use crate::timing::Timing;
use crate::world::Answer;

/// A process that can be stopped anywhere by dropping it.
pub type Process = Pin<Box<dyn Future<Output = ()>>>;

/// More than any history lasts, in the time of the machine that explores it.
const LONG: Duration = Duration::from_hours(1);

/// The API, as one client at a time calls it.
#[derive(Clone)]
pub struct Api {
    ports: Ports,
    router: Router,
}

impl Api {
    /// An API on these ports.
    #[must_use]
    pub fn new(ports: Ports) -> Self {
        let shared = Arc::new(ports.clone());
        let queue = QueueWatch {
            backlog: shared.clone(),
            tickets: shared.clone(),
            dead_letters: shared.clone(),
            sends: shared.clone(),
            provider: shared.clone(),
            history: shared.clone(),
            clock: shared.clone(),
            rate: MailRate::new(1000.0, 1).expect("a rate"),
            latest: Latest::default(),
        };
        let app = App {
            keys: KeyRing::new(shared.clone()),
            create_parcels: shared.clone(),
            read_parcels: shared.clone(),
            show_parcels: shared.clone(),
            record_events: shared.clone(),
            read_answers: shared.clone(),
            expect_proofs: shared.clone(),
            proofs: shared.clone(),
            create_invoices: shared.clone(),
            read_invoices: shared.clone(),
            reopen_invoices: shared.clone(),
            readdress_invoices: shared.clone(),
            suppressions: shared.clone(),
            failed_invoices: shared.clone(),
            tickets: shared.clone(),
            pdf_links: shared.clone(),
            tracking_numbers: shared.clone(),
            webhooks: webhooks::none(),
            queue: Arc::new(queue),
            clock: shared,
            billing: billing(),
        };
        Self { ports, router: api::router(app, &[]) }
    }

    /// What it answers with.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// Answers one request, as this process.
    #[must_use]
    pub fn answer(&self, process: usize, index: usize, mut request: HttpRequest) -> Process {
        let Self { ports, router } = self.clone();
        if let Ok(bearer) = format!("Bearer {}", clients_key().reveal()).parse() {
            request.headers_mut().insert(AUTHORIZATION, bearer);
        }
        ports.gate.is_now(process);
        Box::pin(async move {
            let Ok(response) = router.oneshot(request).await;
            let status = response.status().as_u16();
            let body = to_bytes(response.into_body(), usize::MAX).await.unwrap_or_default();
            let body: Value = serde_json::from_slice(&body).unwrap_or_default();
            let id = body["id"].as_str().and_then(|id| id.parse().ok());
            ports.gate.world().answered(index, Answer { status, id });
        })
    }
}

/// A worker, with everything that it remembers.
#[must_use]
pub fn worker(ports: &Ports, timing: &Timing) -> Worker {
    let shared = Arc::new(ports.clone());
    let rules = Rules {
        lease: timing.lease,
        max_receives: timing.max_receives_told,
        pace: MailRate::new(1000.0, 1).expect("a rate").of_one_worker(),
        public_url: "https://parceltrack.example".to_owned(),
    };
    Worker::new(shared.clone(), shared.clone(), shared.clone(), shared.clone(), shared.clone(), shared.clone(), rules)
        .heeding(shared.clone())
        .reopening(shared.clone())
        .with_renderer(shared)
}

/// One batch, worked on and acknowledged.
pub fn delivery(ports: Ports, worker: Arc<Worker>, messages: Vec<Message>, timing: &Timing) -> Process {
    let mut context = Context::default();
    // Nearly a second more than the limit in the world's time, which moves in whole seconds while this machine's runs on.
    let deadline = SystemTime::now() + timing.worker_limit + Duration::from_millis(900);
    context.deadline =
        deadline.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis().try_into().unwrap_or(u64::MAX);
    let mut event = SqsEvent::default();
    event.records = messages.iter().map(record).collect();
    let max_receives = timing.max_receives;
    Box::pin(async move {
        let Ok(response) = invoice_worker::handle(&worker, event, &context).await else { return };
        let failed: Vec<_> = response.batch_item_failures.into_iter().map(|failure| failure.item_identifier).collect();
        let (returned, done): (Vec<Message>, Vec<Message>) =
            messages.into_iter().partition(|message| failed.contains(&message.id));
        {
            let mut world = ports.gate.world();
            let could_not_bury = world.inhabitants[ports.gate.process()].could_not_bury;
            // A dead letter that is handed back has its reason already.
            let mute = |message: &Message| message.receives >= max_receives && message.letter.is_none();
            if !could_not_bury && returned.iter().any(mute) {
                world
                    .witness
                    .object(Invariant::NothingBuriedSilently, "a ticket's last receive was handed back to the queue");
            }
        }
        let done: Vec<String> = done.into_iter().map(|message| message.id).collect();
        if !done.is_empty() {
            ports.acknowledge(&done).await;
        }
    })
}

fn record(message: &Message) -> SqsMessage {
    let mut record = SqsMessage::default();
    record.message_id = Some(message.id.clone());
    // What it is called is what it is: the queue finds it by either.
    record.receipt_handle = Some(message.id.clone());
    record.body = Some(message.body.clone());
    if let Some(letter) = &message.letter {
        let mut attribute = SqsMessageAttribute::default();
        attribute.string_value = Some(letter.0.clone());
        record.message_attributes = [(LETTER_ATTRIBUTE.to_owned(), attribute)].into();
    }
    record.attributes = [("ApproximateReceiveCount".to_owned(), message.receives.to_string())].into();
    record
}

/// One run of the relay.
pub fn relay(ports: Ports) -> Process {
    let shared = Arc::new(ports);
    let relay = Relay { invoices: shared.clone(), tickets: shared.clone(), clock: shared };
    Box::pin(async move {
        // What failed is still due, and the next run's.
        let _ = relay.run(SystemTime::now() + LONG).await;
    })
}

/// What the provider tells of a mail, heard.
pub fn event(ports: Ports, index: usize, news: News) -> Process {
    let shared = Arc::new(ports.clone());
    let ear = MailEvents {
        read_invoices: shared.clone(),
        deliveries: shared.clone(),
        suppressions: shared.clone(),
        dead_letters: shared,
    };
    let event = in_the_words_of_ses(&ports, index, news);
    Box::pin(async move {
        // What was not heard comes again.
        if ear.hear(event).await.is_ok() {
            ports.gate.world().witness.mails[index].told.push(news);
        }
    })
}

fn in_the_words_of_ses(ports: &Ports, index: usize, news: News) -> Value {
    let world = ports.gate.world();
    let mail = &world.witness.mails[index];
    let (at, to) = (world.now.to_string(), mail.to.as_str());
    let bounce = |kind: &str| {
        let recipients = [json!({"emailAddress": to, "diagnosticCode": "550 no"})];
        json!({"bounceType": kind, "bounceSubType": "General", "bouncedRecipients": recipients, "timestamp": at})
    };
    let (kind, part, details) = match news {
        News::Sent => ("Send", "send", json!({})),
        News::Bounced => ("Bounce", "bounce", bounce("Permanent")),
        News::BouncedForNow => ("Bounce", "bounce", bounce("Transient")),
        News::Complained => {
            let recipients = [json!({"emailAddress": to})];
            ("Complaint", "complaint", json!({"complainedRecipients": recipients, "timestamp": at}))
        }
    };
    let mut detail = json!({
        "eventType": kind,
        "mail": {
            "timestamp": mail.at.to_string(),
            "messageId": mail.message_id,
            "destination": [to],
            "tags": {"invoiceId": [mail.invoice.to_string()]}
        }
    });
    detail[part] = details;
    json!({"detail-type": "Email Sent", "source": "aws.ses", "detail": detail})
}

/// An operator's queue. What it does not take, `parcelctl` only warns of, and nobody reads that here.
struct QuietQueue(Ports);

#[async_trait]
impl SendTicket for QuietQueue {
    async fn send(&self, ticket: Ticket, owner: &OwnerId, request: Option<&RequestId>) -> Result<(), PortError> {
        SendTicket::send(&self.0, ticket, owner, request).await.or(Ok(()))
    }
}

/// `parcelctl dead-letters retry` with this letter in hand.
pub fn operator(ports: Ports, letter: BuriedTicket, email: Option<EmailAddress>) -> Process {
    let shared = Arc::new(ports.clone());
    let desk = Desk {
        invoices: shared.clone(),
        reopening: shared.clone(),
        notes: shared.clone(),
        letters: shared.clone(),
        tickets: Arc::new(QuietQueue(ports)),
        suppressions: shared.clone(),
        unsuppress: shared.clone(),
        clock: shared,
    };
    Box::pin(async move {
        // What was not done is still to do, and the letter still there.
        let _ = retry_letter(&desk, &letter, email).await;
    })
}

/// Where mail goes after its address was found to be wrong.
#[must_use]
pub fn right_address() -> EmailAddress {
    email("lim@example.com")
}

/// The request for a parcel.
#[must_use]
pub fn create_parcel(key: Option<&str>) -> HttpRequest {
    let mut request = HttpRequest::post("/api/parcels").header("content-type", "application/json");
    if let Some(key) = key {
        request = request.header("idempotency-key", key);
    }
    request.body(Body::from(r#"{"recipient": "Tan Wei Ming", "email": "tan@example.com"}"#)).expect("a request")
}

/// The request for a parcel's invoice.
#[must_use]
pub fn ask_for_invoice(parcel: Uuid) -> HttpRequest {
    HttpRequest::post(format!("/api/parcels/{parcel}/invoice")).body(Body::empty()).expect("a request")
}

/// A parcel that is there from the start.
#[must_use]
pub fn parcel(index: usize, now: Timestamp) -> Parcel {
    Parcel {
        id: ParcelId(Uuid::from_u128(index as u128 + 1)),
        owner: OwnerId::house(),
        tracking_number: TrackingNumber::draw(index as u64 + 1, 0),
        recipient: text("Tan Wei Ming"),
        email: email("tan@example.com"),
        address: None,
        postal_code: None,
        phone: None,
        reference: None,
        weight: None,
        status: ParcelStatus::Created,
        created_at: now,
        updated_at: now,
        events: vec![TrackingEvent::now(TrackingEventId(Uuid::from_u128(1)), ParcelStatus::Created, now)],
        proof_expected_since: None,
    }
}

/// The invoice of a parcel that is there from the start.
#[must_use]
pub fn invoice(parcel: &Parcel, due: Timestamp, now: Timestamp) -> NewInvoice {
    let price = Money::from_minor(1250);
    let line = Line::new(text("Delivery"), 1, price, TaxCode::Standard, Currency::Sgd).expect("a line");
    let content = InvoiceContent::of_parcel(parcel, vec![line], Currency::Sgd, &billing(), now);
    NewInvoice { content, due, link_secret: LinkSecret(Uuid::from_u128(1)), correlation_id: Uuid::nil().into() }
}

fn billing() -> Billing {
    Billing {
        seller: Seller {
            name: text("Lion City Logistics Pte Ltd"),
            address: text("8 Changi South Street 1, Singapore 486111"),
            gst_number: text("M9-0001234-5"),
            registration_number: text("201912345K"),
            email: email("billing@lioncity.example"),
        },
        payment_terms_days: 14,
        delivery_fee: Money::from_minor(1250),
    }
}

fn text<const MAX: usize>(text: &str) -> Text<MAX> {
    Text::try_from(text.to_owned()).expect("a short text")
}

fn email(address: &str) -> EmailAddress {
    address.parse().expect("an address")
}
