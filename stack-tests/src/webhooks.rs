//! What the tests of webhooks share: an endpoint that answers as it is told, a merchant of a test's own, and events as
//! the bus has them.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use local_stack::OPERATOR_KEY;
use parceltrack::clock::SystemClock;
use parceltrack::domain::{
    ApiKey, DOMAIN_EVENT_VERSION, DomainEvent, DomainEventId, DomainEventType, Happening, IssuedApiKey, OwnerId,
    ParcelId, ParcelStatus, Role, Subject, Text, Timestamp, TrackingNumber,
};
use parceltrack::ports::{Clock as _, ManageApiKeys as _};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use uuid::Uuid;

use crate::{PATIENCE, Stack};

/// How an endpoint answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// With this status.
    Status(u16),
    /// By sending the caller elsewhere.
    Redirect(String),
    /// Not at all.
    Hang,
}

/// A request as an endpoint got it.
#[derive(Clone, Debug)]
pub struct Received {
    /// Its headers of the scheme: id, timestamp, signature.
    pub headers: [String; 3],
    /// Its body.
    pub body: String,
}

impl Received {
    /// The event.
    #[must_use]
    pub fn event(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

struct Inner {
    behaviour: Mutex<Behaviour>,
    received: watch::Sender<Vec<Received>>,
}

/// A merchant's endpoint on 127.0.0.1. It ends with the test's runtime.
#[derive(Clone)]
pub struct Endpoint {
    /// Where it is.
    pub url: String,
    inner: Arc<Inner>,
}

impl Endpoint {
    /// One that answers so.
    pub async fn start(behaviour: Behaviour) -> Self {
        Self::at("127.0.0.1:0".parse().unwrap(), behaviour).await
    }

    /// One at this place.
    pub async fn at(address: SocketAddr, behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let url = format!("http://{}/webhooks", listener.local_addr().unwrap());
        let inner = Arc::new(Inner { behaviour: Mutex::new(behaviour), received: watch::Sender::new(vec![]) });
        let routes = Router::new().fallback(Self::take).with_state(inner.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Self { url, inner }
    }

    async fn take(State(inner): State<Arc<Inner>>, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        assert_eq!(parts.method, Method::POST);
        let header = |name: &str| parts.headers.get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
        let headers = ["webhook-id", "webhook-timestamp", "webhook-signature"].map(header);
        let body = String::from_utf8(to_bytes(body, usize::MAX).await.unwrap().to_vec()).unwrap();
        let behaviour = inner.behaviour.lock().unwrap().clone();
        inner.received.send_modify(|received| received.push(Received { headers, body }));
        let answer = Response::builder();
        match behaviour {
            Behaviour::Status(status) => answer.status(status).body(Body::from("as it was told")).unwrap(),
            Behaviour::Redirect(to) => answer.status(307).header("location", to).body(Body::empty()).unwrap(),
            Behaviour::Hang => std::future::pending().await,
        }
    }

    /// From now on it answers so.
    pub fn behave(&self, behaviour: Behaviour) {
        *self.inner.behaviour.lock().unwrap() = behaviour;
    }

    /// What it has got so far.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        self.inner.received.borrow().clone()
    }

    /// What it has got, once that is enough.
    pub async fn received_once(&self, enough: impl FnMut(&Vec<Received>) -> bool) -> Vec<Received> {
        let mut received = self.inner.received.subscribe();
        let waited = tokio::time::timeout(PATIENCE, received.wait_for(enough)).await;
        let Ok(received) = waited else {
            panic!("only {} came: {:?}", self.received().len(), self.received());
        };
        received.unwrap().clone()
    }

    /// The ids of different events that it has got.
    #[must_use]
    pub fn event_ids(&self) -> HashSet<String> {
        self.received().into_iter().map(|received| received.headers[0].clone()).collect()
    }
}

/// A merchant whom no other test knows.
pub struct Merchant<'a> {
    /// What they call themselves.
    pub owner: OwnerId,
    key: String,
    stack: &'a Stack,
}

impl<'a> Merchant<'a> {
    /// One with a key.
    pub async fn new(stack: &'a Stack) -> Self {
        let key = ApiKey::from_random(Uuid::new_v4(), [Uuid::new_v4(), Uuid::new_v4()]);
        let owner: OwnerId = format!("m{}", Uuid::new_v4().simple()).parse().unwrap();
        let (label, now) = (Text::try_from("Webhooks".to_owned()).unwrap(), SystemClock.now());
        let issued = IssuedApiKey::issue(&key, Role::Merchant, owner.clone(), label, now, None);
        stack.api_keys().issue(&issued).await.unwrap();
        Self { owner, key: key.reveal(), stack }
    }

    /// A request of theirs.
    pub fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.stack.request(method, path, Some(&self.key))
    }

    /// The answer to a request of theirs, which must have this status.
    pub async fn ask(&self, method: Method, path: &str, body: Option<Value>, status: u16) -> Value {
        let mut request = self.request(method, path);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = request.send().await.unwrap();
        let (got, text) = (answer.status(), answer.text().await.unwrap());
        assert_eq!(got, StatusCode::from_u16(status).unwrap(), "{path}: {text}");
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Registers an endpoint for these events; the webhook with its secret.
    pub async fn register(&self, url: &str, types: &[DomainEventType]) -> Value {
        let email = format!("{}@example.com", self.owner);
        let body = json!({"url": url, "eventTypes": types, "contactEmail": email});
        self.ask(Method::POST, "/api/webhooks", Some(body), 201).await
    }

    /// Waits for the mail that asks this contact, opens its link, which confirms nothing, and presses the button there.
    pub async fn confirm_contact(&self, email: &str) {
        let inbox = self.stack.addresses.inbox();
        let end = tokio::time::Instant::now() + PATIENCE;
        let mail = loop {
            let mails = inbox.mails().await.unwrap();
            if let Some(mail) = mails.iter().find(|mail| mail.to.iter().any(|to| to.contains(email))) {
                break inbox.mail(mail.id).await.unwrap();
            }
            assert!(tokio::time::Instant::now() < end, "nobody asked {email}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        };
        let link = mail.text.split_whitespace().find(|word| word.contains("/c/")).unwrap();
        let path = &link[link.find("/c/").unwrap()..];
        let get = self.stack.request(Method::GET, path, None).send().await.unwrap();
        assert_eq!(get.status(), 200);
        let page = get.text().await.unwrap();
        assert!(page.contains("<form method=\"post\">"), "{page}");
        let again = self.stack.request(Method::GET, path, None).send().await.unwrap().text().await.unwrap();
        assert_eq!(again, page, "opening it has confirmed nothing");
        let answer = self.stack.request(Method::POST, path, None).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        assert!(answer.text().await.unwrap().contains("Thank you"));
    }

    /// The deliveries of a webhook, newest first.
    pub async fn deliveries(&self, webhook: &Value) -> Vec<Value> {
        let path = format!("/api/webhooks/{}/deliveries?limit=100", webhook["id"].as_str().unwrap());
        let list = self.ask(Method::GET, &path, None, 200).await;
        assert!(list["nextCursor"].is_null(), "more than a page");
        list["deliveries"].as_array().unwrap().clone()
    }

    /// The deliveries of a webhook, once they are as wanted.
    pub async fn deliveries_once(&self, webhook: &Value, as_wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let end = tokio::time::Instant::now() + PATIENCE;
        loop {
            let deliveries = self.deliveries(webhook).await;
            if as_wanted(&deliveries) {
                return deliveries;
            }
            assert!(tokio::time::Instant::now() < end, "never as wanted: {deliveries:#?}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// The webhook as an operator sees it.
    pub async fn seen_by_operator(&self, webhook: &Value) -> Value {
        let path = format!("/api/webhooks/{}?owner={}", webhook["id"].as_str().unwrap(), self.owner);
        let answer = self.stack.request(Method::GET, &path, Some(OPERATOR_KEY)).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        answer.json().await.unwrap()
    }
}

/// The first events of a parcel that exists in no table: created, then one step after the other.
#[must_use]
pub fn story(owner: &OwnerId, events: u64) -> Vec<DomainEvent> {
    let parcel_id = ParcelId(Uuid::new_v4());
    let now = SystemClock.now();
    (1..=events).map(|sequence| event(owner, parcel_id, sequence, now)).collect()
}

/// One event of a parcel's story.
#[must_use]
pub fn event(owner: &OwnerId, parcel_id: ParcelId, sequence: u64, now: Timestamp) -> DomainEvent {
    let happening = if sequence == 1 {
        Happening::ParcelCreated {}
    } else {
        let (status, previous_status) = (ParcelStatus::InTransit, ParcelStatus::Created);
        Happening::ParcelStatusChanged { status, previous_status, occurred_at: now }
    };
    DomainEvent {
        id: DomainEventId::new(Subject::Parcel(parcel_id), sequence),
        happening,
        version: DOMAIN_EVENT_VERSION,
        timestamp: now,
        sequence,
        correlation_id: Uuid::new_v4().into(),
        owner: owner.clone(),
        parcel_id,
        tracking_number: TrackingNumber::draw(u64::from(parcel_id.0.as_fields().0), 1),
    }
}

impl Stack {
    /// Puts events on the bus, in this order, as the function does that makes them.
    pub async fn happen(&self, events: &[DomainEvent]) {
        let bus = self.addresses.output("DomainEventsBusName").unwrap();
        for ten in events.chunks(10) {
            let entries: Vec<Value> = ten
                .iter()
                .map(|event| {
                    json!({
                        "Source": "parceltrack",
                        "DetailType": event.happening.kind(),
                        "Detail": serde_json::to_string(event).unwrap(),
                        "EventBusName": bus,
                    })
                })
                .collect();
            let answer = self.emulator("events", "AWSEvents.PutEvents", &json!({"Entries": entries})).await;
            assert_eq!(answer["FailedEntryCount"], 0, "{answer}");
        }
    }
}
