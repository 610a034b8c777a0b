//! Events as AWS makes them, for the functions to work on.

use serde_json::{Value, json};
use uuid::Uuid;

/// A delivery of a mail, as SES tells of it.
const DELIVERY: &str = include_str!("../../events/mail-events-delivery.json");

/// Two changes of a parcel, as the table's stream tells of them.
const CHANGES: &str = include_str!("../../events/domain-events-parcel.json");

/// A batch of which the first message has a domain event, as the bus hands it on.
const TOLD: &str = include_str!("../../events/webhook-fan-out-events.json");

/// A schedule's event.
const SCHEDULE: &str = include_str!("../../events/outbox-relay-schedule.json");

/// A request by way of an HTTP API (payload version 2.0), by whoever bears this key.
#[must_use]
pub fn request(
    method: &str,
    path: &str,
    query: &str,
    key: &str,
    headers: &[(&str, &str)],
    body: Option<&Value>,
) -> Value {
    // What writes has a route with a name.
    let route = if method == "GET" { "$default".to_owned() } else { format!("{method} {path}") };
    let mut event = json!({
        "version": "2.0",
        "routeKey": route,
        "rawPath": path,
        "rawQueryString": query,
        "headers": {
            "accept": "application/json",
            "authorization": format!("Bearer {key}"),
            "content-type": "application/json",
            "host": "api.lioncity.example",
            "user-agent": "bench",
            "x-forwarded-for": "203.0.113.7",
            "x-forwarded-port": "443",
            "x-forwarded-proto": "https",
        },
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "measured",
            "domainName": "api.lioncity.example",
            "domainPrefix": "api",
            "http": {
                "method": method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "203.0.113.7",
                "userAgent": "bench",
            },
            "requestId": "T1aXigdGSQ0EJyA=",
            "routeKey": route,
            "stage": "$default",
            "time": "30/Nov/2026:01:00:00 +0000",
            "timeEpoch": 1_796_000_400_000_i64,
        },
        "isBase64Encoded": false,
    });
    for (name, value) in headers {
        event["headers"][*name] = json!(value);
    }
    if let Some(body) = body {
        event["body"] = json!(body.to_string());
    }
    event
}

/// A batch of messages with these bodies, delivered by SQS for the first time.
#[must_use]
pub fn messages(bodies: &[String]) -> Value {
    let records: Vec<Value> = bodies
        .iter()
        .enumerate()
        .map(|(index, body)| {
            json!({
                "messageId": format!("0d1f6c1e-4a0b-4f7e-9d0a-{index:012}"),
                "receiptHandle": format!("receipt-{index}"),
                "body": body,
                "attributes": {
                    "ApproximateReceiveCount": "1",
                    "SentTimestamp": "1795996800000",
                    "SenderId": "AROASAMPLEROLEID00000:api",
                    "ApproximateFirstReceiveTimestamp": "1795996800012",
                },
                "messageAttributes": {},
                "md5OfBody": "",
                "eventSource": "aws:sqs",
                "eventSourceARN": "arn:aws:sqs:ap-southeast-1:123456789012:tickets",
                "awsRegion": "ap-southeast-1",
            })
        })
        .collect();
    json!({ "Records": records })
}

/// What SES tells when the mail with this invoice has arrived.
#[must_use]
pub fn delivery(invoice: &str) -> Value {
    let mut event: Value = serde_json::from_str(DELIVERY).unwrap_or_default();
    event["detail"]["mail"]["tags"]["invoiceId"] = json!([invoice]);
    event
}

/// Two changes of a parcel, as the table's stream tells of them.
#[must_use]
pub fn changes() -> Value {
    serde_json::from_str(CHANGES).unwrap_or_default()
}

/// A message of the bus: this owner's parcel of this number was created.
#[must_use]
pub fn parcel_created(owner: &str, number: u128) -> Value {
    let batch: Value = serde_json::from_str(TOLD).unwrap_or_default();
    let mut message: Value =
        batch["Records"][0]["body"].as_str().and_then(|body| serde_json::from_str(body).ok()).unwrap_or_default();
    message["detail"]["id"] = json!(Uuid::new_v4());
    message["detail"]["owner"] = json!(owner);
    message["detail"]["parcelId"] = json!(Uuid::from_u128(number));
    messages(&[message.to_string()])
}

/// What a schedule hands to its function.
#[must_use]
pub fn schedule() -> Value {
    serde_json::from_str(SCHEDULE).unwrap_or_default()
}
