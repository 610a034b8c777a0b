//! Whatever stands in a table's stream, on the queues of webhooks or in a merchant's URL: what can be read is read the same
//! when it is written again, no endpoint is at an address of somebody's own network, and nothing panics.

#![no_main]

use std::net::IpAddr;

use libfuzzer_sys::arbitrary::{self, Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use parceltrack::aws::{events_of, position_of};
use parceltrack::domain::{AddressRule, DomainEvent, EventMessage, WebhookTicket, WebhookUrl, parse_event_message};
use serde_json::{Value, json};

const PARCEL: &str = include_str!("../../events/domain-events-parcel.json");
const INVOICE: &str = include_str!("../../events/domain-events-invoice.json");

const KNOWN: &str = "11111111-1111-4111-8111-111111111111";

/// Something that gets past what refuses nonsense early.
#[derive(Arbitrary, Debug)]
enum Input {
    Event { kind: Kind, text: String, sequence: u64, at: Time, data: Vec<(Field, Id)> },
    Ticket { owner: Owner, webhook: Id, delivery: Delivery },
    Wish { since: i64, which: Which, after: Option<(i64, Delivery)> },
    Url { scheme: Scheme, host: Host, port: Option<u16>, rest: String },
    Record { sample: Sample, edits: Vec<Edit> },
    Text(String),
}

#[derive(Arbitrary, Debug)]
enum Kind {
    ParcelCreated,
    ParcelStatusChanged,
    InvoiceSent,
    InvoiceFailed,
    Other(String),
}

#[derive(Arbitrary, Debug)]
enum Field {
    InvoiceId,
    InvoiceNumber,
    Status,
    Reason,
    Other(String),
}

#[derive(Arbitrary, Debug)]
enum Time {
    Parts { month: u8, day: u8, second: u8, nanosecond: u32 },
    Other(String),
}

#[derive(Arbitrary, Debug)]
enum Id {
    Known,
    Random([u8; 16]),
    Other(String),
}

#[derive(Arbitrary, Debug)]
enum Owner {
    House,
    Other(String),
}

#[derive(Arbitrary, Debug)]
enum Delivery {
    Parcel(Id, u64),
    Invoice(Id, u64),
    Test(Id),
    Other(String),
}

#[derive(Arbitrary, Debug)]
enum Which {
    Undelivered,
    All,
    Other(String),
}

#[derive(Arbitrary, Debug)]
enum Scheme {
    Http,
    Https,
    Other(String),
}

#[derive(Arbitrary, Debug)]
enum Host {
    V4(u32),
    V6(u128),
    Number(u64),
    Octal([u8; 4]),
    Name(String),
}

#[derive(Arbitrary, Debug)]
enum Sample {
    Parcel,
    Invoice,
}

#[derive(Arbitrary, Debug)]
struct Edit {
    image: Image,
    attribute: Attribute,
    value: AttributeValue,
}

#[derive(Arbitrary, Debug)]
enum Image {
    Keys,
    Old,
    New,
}

#[derive(Arbitrary, Debug)]
enum Attribute {
    Status,
    Delivery,
    EventCount,
    TrackingNumber,
    Owner,
    Events,
    Other(String),
}

#[derive(Arbitrary, Debug)]
enum AttributeValue {
    Text(String),
    Number(i64),
    NoNumber(String),
    List,
    Missing,
}

impl Kind {
    fn text(&self) -> &str {
        match self {
            Self::ParcelCreated => "ParcelCreated",
            Self::ParcelStatusChanged => "ParcelStatusChanged",
            Self::InvoiceSent => "InvoiceSent",
            Self::InvoiceFailed => "InvoiceFailed",
            Self::Other(text) => text,
        }
    }
}

impl Field {
    fn text(&self) -> &str {
        match self {
            Self::InvoiceId => "invoiceId",
            Self::InvoiceNumber => "invoiceNumber",
            Self::Status => "status",
            Self::Reason => "reason",
            Self::Other(text) => text,
        }
    }
}

impl Time {
    fn text(&self) -> String {
        match self {
            Self::Parts { month, day, second, nanosecond } => {
                let (month, day, second) = (month % 12 + 1, day % 28 + 1, second % 60);
                format!("2026-{month:02}-{day:02}T00:00:{second:02}.{:09}Z", nanosecond % 1_000_000_000)
            }
            Self::Other(text) => text.clone(),
        }
    }
}

impl Id {
    fn text(&self) -> String {
        match self {
            Self::Known => KNOWN.to_owned(),
            Self::Random(bytes) => {
                let digits = u128::from_be_bytes(*bytes);
                let text = format!("{digits:032x}");
                format!("{}-{}-{}-{}-{}", &text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..])
            }
            Self::Other(text) => text.clone(),
        }
    }
}

impl Owner {
    fn text(&self) -> &str {
        match self {
            Self::House => "lion-city",
            Self::Other(text) => text,
        }
    }
}

impl Delivery {
    fn text(&self) -> String {
        match self {
            Self::Parcel(id, number) => format!("parcel-{}-{number}", id.text()),
            Self::Invoice(id, number) => format!("invoice-{}-{number}", id.text()),
            Self::Test(id) => format!("test-{}-1", id.text()),
            Self::Other(text) => text.clone(),
        }
    }
}

impl Which {
    fn text(&self) -> &str {
        match self {
            Self::Undelivered => "undelivered",
            Self::All => "all",
            Self::Other(text) => text,
        }
    }
}

impl Scheme {
    fn text(&self) -> &str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
            Self::Other(text) => text,
        }
    }
}

impl Host {
    fn text(&self) -> String {
        match self {
            Self::V4(address) => IpAddr::from(address.to_be_bytes()).to_string(),
            Self::V6(address) => format!("[{}]", IpAddr::from(address.to_be_bytes())),
            Self::Number(number) => format!("{number:#x}"),
            Self::Octal([a, b, c, d]) => format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
            Self::Name(name) => name.clone(),
        }
    }
}

impl Attribute {
    fn text(&self) -> &str {
        match self {
            Self::Status => "status",
            Self::Delivery => "delivery",
            Self::EventCount => "eventCount",
            Self::TrackingNumber => "trackingNumber",
            Self::Owner => "owner",
            Self::Events => "events",
            Self::Other(text) => text,
        }
    }
}

impl Edit {
    fn make(&self, record: &mut Value) {
        let image = match self.image {
            Image::Keys => "Keys",
            Image::Old => "OldImage",
            Image::New => "NewImage",
        };
        let value = match &self.value {
            AttributeValue::Text(text) => json!({"S": text}),
            AttributeValue::Number(number) => json!({"N": number.to_string()}),
            AttributeValue::NoNumber(text) => json!({"N": text}),
            AttributeValue::List => json!({"L": []}),
            AttributeValue::Missing => {
                if let Some(attributes) = record["dynamodb"][image].as_object_mut() {
                    attributes.remove(self.attribute.text());
                }
                return;
            }
        };
        record["dynamodb"][image][self.attribute.text()] = value;
    }
}

fn check(input: &Input) {
    match input {
        Input::Event { kind, text, sequence, at, data } => {
            let data: Value = data.iter().map(|(field, id)| (field.text().to_owned(), json!(id.text()))).collect();
            let event = json!({
                "id": KNOWN, "type": kind.text(), "version": 1, "timestamp": at.text(), "sequence": sequence,
                "correlationId": text, "owner": "lion-city", "parcelId": KNOWN, "trackingNumber": "LCL48291057", "data": data,
            });
            check_text(&json!({"detail": event}).to_string());
        }
        Input::Ticket { owner, webhook, delivery } => {
            let (owner, webhook, delivery) = (owner.text(), webhook.text(), delivery.text());
            check_text(&json!({"owner": owner, "webhookId": webhook, "deliveryId": delivery}).to_string());
        }
        Input::Wish { since, which, after } => {
            let wish = json!({
                "resendId": KNOWN, "owner": "lion-city", "webhookId": KNOWN, "since": since, "until": since,
                "which": which.text(), "after": after.as_ref().map(|(at, delivery)| (at, delivery.text())),
            });
            check_text(&json!({"resend": wish}).to_string());
        }
        Input::Url { scheme, host, port, rest } => {
            let port = port.map(|port| format!(":{port}")).unwrap_or_default();
            check_url(&format!("{}://{}{port}{rest}", scheme.text(), host.text()));
        }
        Input::Record { sample, edits } => {
            let sample = match sample {
                Sample::Parcel => PARCEL,
                Sample::Invoice => INVOICE,
            };
            let mut batch: Value = serde_json::from_str(sample).expect("the sample is JSON");
            for record in batch["Records"].as_array_mut().expect("the sample has records") {
                for edit in edits {
                    edit.make(record);
                }
                check_record(record.clone());
            }
        }
        Input::Text(text) => {
            check_text(text);
            check_url(text);
        }
    }
}

fn check_text(text: &str) {
    match parse_event_message(text) {
        Ok(EventMessage::Event(event)) => check_event(*event),
        Ok(EventMessage::Resend(wish)) => {
            assert_eq!(parse_event_message(&wish.to_body()), Ok(EventMessage::Resend(wish)));
        }
        Err(_) => {}
    }
    if let Ok(ticket) = WebhookTicket::parse(text) {
        assert_eq!(WebhookTicket::parse(&ticket.to_body()), Ok(ticket));
    }
}

fn check_event(event: DomainEvent) {
    let message = json!({"detail": event}).to_string();
    assert_eq!(parse_event_message(&message), Ok(EventMessage::Event(Box::new(event))), "{message}");
}

fn check_url(text: &str) {
    let Ok(url) = text.parse::<WebhookUrl>() else { return };
    assert_eq!(url.as_str().parse().as_ref(), Ok(&url), "{text}");
    if AddressRule::default().admits_url(&url) {
        assert!(url.is_https(), "{text}");
        if let Ok(address) = url.host().trim_matches(['[', ']']).parse::<IpAddr>() {
            let own = match address {
                IpAddr::V4(it) => it.is_loopback() || it.is_private() || it.is_link_local() || it.is_unspecified(),
                IpAddr::V6(it) => it.is_loopback() || it.is_unique_local() || it.is_unicast_link_local(),
            };
            assert!(!own, "{text} is at {address}");
        }
    }
}

fn check_record(record: Value) {
    let _ = position_of(&record);
    for event in events_of(record).unwrap_or_default() {
        check_event(event);
    }
}

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(json) = serde_json::from_str::<Value>(text)
    {
        check_text(text);
        for record in json["Records"].as_array().into_iter().flatten() {
            check_text(record["body"].as_str().unwrap_or_default());
            check_record(record.clone());
        }
    } else if let Ok(input) = Input::arbitrary_take_rest(Unstructured::new(data)) {
        check(&input);
    }
});
