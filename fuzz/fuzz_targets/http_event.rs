//! Whatever API Gateway hands over, there is an answer, it is one of ours, and nothing panics, not even where it would be
//! caught: the fuzzer ends at every panic.

#![no_main]

use std::sync::LazyLock;

use axum::Router;
use interleavings::cast::Api;
use interleavings::ports::clients_key;
use libfuzzer_sys::arbitrary::{self, Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use parceltrack::domain::Role;
use parceltrack_fuzz::{Fuzzed, Known, invocation};
use serde_json::{Value, json};

thread_local! {
    static FUZZED: Fuzzed = Fuzzed::default();
    static ROUTERS: [Router; 3] = [Role::Merchant, Role::Driver, Role::Operator]
        .map(|role| FUZZED.with(|fuzzed| Api::new(fuzzed.ports(role)).router()));
}

static BEARER: LazyLock<String> = LazyLock::new(|| format!("Bearer {}", clients_key().reveal()));

/// A request that gets past what refuses nonsense early.
#[derive(Arbitrary, Debug)]
struct Request {
    method: Method,
    path: Path,
    query: Option<String>,
    key: Key,
    headers: Vec<(Header, String)>,
    body: Option<Body>,
    is_base64: bool,
    stage: Option<String>,
}

/// Whose key it has.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Key {
    Merchants,
    Drivers,
    Operators,
    None,
}

#[derive(Arbitrary, Debug)]
enum Method {
    Get,
    Post,
    Put,
    Delete,
    Head,
    Options,
    Other(String),
}

#[derive(Arbitrary, Debug)]
enum Path {
    Parcels,
    Parcel(Name),
    Below(Name, Word),
    Invoice(Name),
    BelowInvoice(Name, Word),
    Track(Name),
    Link(String),
    Queue,
    Webhooks,
    Webhook(Name, Option<WebhookWord>),
    Other(String),
}

#[derive(Arbitrary, Debug)]
enum WebhookWord {
    Rotation,
    Enable,
    Test,
    Deliveries,
    Resend,
    Other(String),
}

#[derive(Arbitrary, Debug)]
enum Name {
    Parcel,
    TrackingNumber,
    Invoice,
    Other(String),
}

#[derive(Arbitrary, Debug)]
enum Word {
    Invoice,
    Events,
    Cancel,
    Proof,
    Pdf,
    Resend,
    Email,
    Other(String),
}

#[derive(Arbitrary, Debug)]
enum Header {
    ContentType,
    IdempotencyKey,
    Origin,
    Host,
    Authorization,
    RequestId,
    Other(String),
}

#[derive(Arbitrary, Debug)]
enum Body {
    Parcel {
        recipient: String,
        email: String,
        address: Option<String>,
        postal_code: Option<String>,
        weight: Option<i64>,
    },
    Lines(Vec<(String, i64, String)>),
    Event {
        status: Status,
        location: Option<String>,
        note: Option<String>,
        at: Option<String>,
    },
    Photo {
        content_type: PhotoType,
        size: i64,
    },
    Address {
        email: String,
    },
    Webhook {
        url: String,
        event_types: Vec<String>,
        contact: String,
    },
    Since(String),
    Other(String),
}

#[derive(Arbitrary, Debug)]
enum Status {
    PickedUp,
    InTransit,
    Delivered,
    Other(String),
}

#[derive(Arbitrary, Debug)]
enum PhotoType {
    Jpeg,
    Other(String),
}

impl Status {
    fn text(&self) -> &str {
        match self {
            Self::PickedUp => "PickedUp",
            Self::InTransit => "InTransit",
            Self::Delivered => "Delivered",
            Self::Other(text) => text,
        }
    }
}

impl PhotoType {
    fn text(&self) -> &str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Other(text) => text,
        }
    }
}

impl Name {
    fn text(&self, known: &Known) -> String {
        match self {
            Self::Parcel => known.parcel.to_string(),
            Self::TrackingNumber => known.tracking_number.to_string(),
            Self::Invoice => known.invoice.to_string(),
            Self::Other(text) => text.clone(),
        }
    }
}

impl Word {
    fn text(&self) -> &str {
        match self {
            Self::Invoice => "invoice",
            Self::Events => "events",
            Self::Cancel => "cancel",
            Self::Proof => "proof-of-delivery",
            Self::Pdf => "pdf",
            Self::Resend => "resend",
            Self::Email => "email",
            Self::Other(text) => text,
        }
    }
}

impl WebhookWord {
    fn text(&self) -> &str {
        match self {
            Self::Rotation => "rotate-secret",
            Self::Enable => "enable",
            Self::Test => "test",
            Self::Deliveries => "deliveries",
            Self::Resend => "resend",
            Self::Other(text) => text,
        }
    }
}

impl Path {
    fn text(&self, known: &Known) -> String {
        match self {
            Self::Parcels => "/api/parcels".to_owned(),
            Self::Parcel(name) => format!("/api/parcels/{}", name.text(known)),
            Self::Below(name, word) => format!("/api/parcels/{}/{}", name.text(known), word.text()),
            Self::Invoice(name) => format!("/api/invoices/{}", name.text(known)),
            Self::BelowInvoice(name, word) => format!("/api/invoices/{}/{}", name.text(known), word.text()),
            Self::Track(name) => format!("/api/track/{}", name.text(known)),
            Self::Link(link) => format!("/i/{link}"),
            Self::Queue => "/api/queue".to_owned(),
            Self::Webhooks => "/api/webhooks".to_owned(),
            Self::Webhook(id, None) => format!("/api/webhooks/{}", id.text(known)),
            Self::Webhook(id, Some(word)) => format!("/api/webhooks/{}/{}", id.text(known), word.text()),
            Self::Other(path) => path.clone(),
        }
    }
}

impl Body {
    fn text(&self) -> String {
        match self {
            Self::Parcel { recipient, email, address, postal_code, weight } => {
                json!({"recipient": recipient, "email": email, "address": address, "postalCode": postal_code,
                    "weightGrams": weight})
                .to_string()
            }
            Self::Lines(lines) => {
                let lines = lines.iter().map(|(description, quantity, price)| {
                    json!({"description": description, "quantity": quantity, "unitPrice": price})
                });
                json!({"lines": lines.collect::<Vec<_>>()}).to_string()
            }
            Self::Event { status, location, note, at } => {
                json!({"status": status.text(), "location": location, "note": note, "occurredAt": at}).to_string()
            }
            Self::Photo { content_type, size } => json!({"contentType": content_type.text(), "size": size}).to_string(),
            Self::Address { email } => json!({"email": email}).to_string(),
            Self::Webhook { url, event_types, contact } => {
                json!({"url": url, "eventTypes": event_types, "contactEmail": contact}).to_string()
            }
            Self::Since(time) => json!({"since": time}).to_string(),
            Self::Other(text) => text.clone(),
        }
    }
}

impl Request {
    /// As API Gateway would hand it over (payload version 2.0).
    fn event(&self, known: &Known) -> Value {
        let method = match &self.method {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Delete => "DELETE",
            Method::Head => "HEAD",
            Method::Options => "OPTIONS",
            Method::Other(method) => method,
        };
        let path = self.path.text(known);
        let mut headers = json!({"content-type": "application/json"});
        if !matches!(self.key, Key::None) {
            headers["authorization"] = json!(*BEARER);
        }
        for (name, value) in &self.headers {
            let name = match name {
                Header::ContentType => "content-type",
                Header::IdempotencyKey => "idempotency-key",
                Header::Origin => "origin",
                Header::Host => "host",
                Header::Authorization => "authorization",
                Header::RequestId => "x-request-id",
                Header::Other(name) => name,
            };
            headers[name] = json!(value);
        }
        json!({
            "version": "2.0",
            "routeKey": "$default",
            "rawPath": path,
            "rawQueryString": self.query,
            "headers": headers,
            "requestContext": {
                "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1"},
                "requestId": "fuzzed",
                "routeKey": "$default",
                "stage": self.stage.as_deref().unwrap_or("$default"),
                "timeEpoch": 1_790_000_000_000_u64
            },
            "body": self.body.as_ref().map(Body::text),
            "isBase64Encoded": self.is_base64
        })
    }
}

fn check(event: &Value, answer: &Value) {
    let status = answer["statusCode"].as_u64().expect("an answer has a status");
    assert!((200..600).contains(&status) && status != 500, "{status} for {event}");
    assert!(answer["headers"].is_object() && answer["isBase64Encoded"].is_boolean(), "{answer} for {event}");
    let method = event["requestContext"]["http"]["method"].as_str().unwrap_or_default();
    if status < 400 || method == "HEAD" {
        return;
    }
    let body = answer["body"].as_str().expect("a refusal has a body");
    match answer["headers"]["content-type"].as_str() {
        Some("application/problem+json") => {
            let problem: Value = serde_json::from_str(body).expect("a problem is JSON");
            assert_eq!(problem["status"], status, "{body} for {event}");
            assert!(problem["type"].is_string() && problem["title"].is_string(), "{body} for {event}");
        }
        // Who followed the link in a mail reads a page.
        Some(page) if page.starts_with("text/html") => assert!(body.contains("<html"), "{body} for {event}"),
        other => panic!("{status} as {other:?} for {event}"),
    }
}

fuzz_target!(|data: &[u8]| {
    FUZZED.with(|fuzzed| {
        let known = fuzzed.begin();
        let (event, key) = match serde_json::from_slice(data) {
            Ok(event) => (event, Key::None),
            Err(_) => match Request::arbitrary_take_rest(Unstructured::new(data)) {
                Ok(request) => (request.event(&known), request.key),
                Err(_) => return,
            },
        };
        let router = ROUTERS.with(|[merchants, drivers, operators]| match key {
            Key::Merchants | Key::None => merchants.clone(),
            Key::Drivers => drivers.clone(),
            Key::Operators => operators.clone(),
        });
        let answer = fuzzed.runtime.block_on(api::handle(router, event.clone(), invocation()));
        check(&event, &answer.expect("there is an answer to everything"));
    });
});
