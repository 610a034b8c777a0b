//! What every answer has in common, whatever went wrong before it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use local_stack::MERCHANT_KEY;
use parceltrack::clock::SystemClock;
use parceltrack::domain::{OwnerId, RequestId, Ticket};
use parceltrack::ports::{PortError, SendTicket};
use reqwest::{Method, Response, header::HeaderMap};
use serde_json::{Value, json};
use stack_tests::{Stack, context, own_address};
use uuid::Uuid;

const PAGE: &str = "https://page.example";

/// An event of an HTTP API, from the page.
fn event(method: &str, path: &str) -> Value {
    json!({
        "version": "2.0",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"authorization": format!("Bearer {MERCHANT_KEY}"), "origin": PAGE},
        "requestContext": {
            "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1", "userAgent": "x"},
            "requestId": "request-1",
            "stage": "$default"
        },
        "isBase64Encoded": false
    })
}

async fn api() -> Router {
    let stack = Stack::running().await;
    stack.api(Arc::new(SystemClock), Arc::new(stack.tickets()))
}

async fn answer(api: &Router, event: Value) -> Value {
    api::handle(api.clone(), event, context(Duration::from_secs(10))).await.unwrap()
}

fn header<'a>(answer: &'a Value, name: &str) -> Option<&'a str> {
    answer["headers"][name].as_str()
}

#[tokio::test]
async fn every_answer_has_its_request_id_and_security_headers_and_the_page_may_read_it() {
    let api = api().await;
    let with = |mut event: Value, pointer: &str, value: Value| {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        event.pointer_mut(parent).unwrap()[name] = value;
        event
    };
    let post = || event("POST", "/api/parcels");
    let large = "a".repeat(300 * 1024);
    let preflight = with(event("OPTIONS", "/api/parcels"), "/headers/access-control-request-method", json!("PUT"));
    let cases = [
        (200, event("GET", "/health")),
        (200, event("GET", "/api/parcels")),
        (200, preflight),
        (200, event("HEAD", "/api/parcels")),
        (404, event("HEAD", "/nothing")),
        (404, event("GET", "/nothing")),
        (404, event("GET", "/i/nothing")),
        (405, event("DELETE", "/api/parcels")),
        (401, with(event("GET", "/api/parcels"), "/headers/authorization", json!("Bearer pt_x"))),
        (400, post()),
        (400, with(post(), "/body", json!("{"))),
        (413, with(post(), "/body", json!(large))),
        (415, with(with(post(), "/body", json!("x")), "/headers/content-type", json!("text/plain"))),
        (422, with(post(), "/body", json!("{}"))),
        (400, with(with(post(), "/body", json!("!")), "/isBase64Encoded", json!(true))),
        (404, event("GET", "/api/../health")),
        (400, json!({"headers": {"origin": PAGE}})),
    ];
    for (status, event) in cases {
        let answer = answer(&api, event.clone()).await;
        assert_eq!(answer["statusCode"], status, "{event}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("cache-control", "no-store"),
            ("strict-transport-security", "max-age=31536000"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-resource-policy", "same-origin"),
            ("access-control-allow-origin", PAGE),
        ] {
            assert_eq!(header(&answer, name), Some(value), "{name} of {status} for {event}");
        }
        assert!(header(&answer, "content-security-policy").unwrap().starts_with("default-src 'none'"));
        assert!(header(&answer, "x-request-id").is_some_and(|id| !id.is_empty()), "{event}");
        if status >= 400 && !event["rawPath"].as_str().unwrap_or_default().starts_with("/i/") {
            assert_eq!(header(&answer, "content-type"), Some("application/problem+json"), "{event}");
        }
        if status == 405 {
            let allowed: BTreeSet<&str> = header(&answer, "allow").unwrap().split(',').collect();
            assert_eq!(allowed, BTreeSet::from(["GET", "HEAD", "POST"]));
        }
    }
}

#[tokio::test]
async fn pages_of_other_origins_may_read_nothing() {
    let api = api().await;
    for origin in ["https://evil.example", "http://page.example", "https://page.example:444", "null", "*", "https://é"]
    {
        for (method, path) in [("GET", "/api/parcels"), ("GET", "/nothing"), ("OPTIONS", "/api/parcels")] {
            let mut event = event(method, path);
            event["headers"]["origin"] = json!(origin);
            event["headers"]["access-control-request-method"] = json!("POST");
            let answer = answer(&api, event).await;
            assert_eq!(header(&answer, "access-control-allow-origin"), None, "{origin} {method} {path}");
        }
    }
    let mut preflight = event("OPTIONS", "/api/invoices/x/email");
    preflight["headers"]["access-control-request-method"] = json!("PUT");
    let allowed = answer(&api, preflight).await;
    assert_eq!(header(&allowed, "access-control-allow-methods"), Some("GET,HEAD,POST,PUT,DELETE"));
    assert_eq!(header(&allowed, "access-control-allow-credentials"), None, "no cookies");
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let api = api().await;
    for path in ["/health", "/api/parcels", "/api/parcels/", "/api/parcels/x", "/nothing", "/i/nothing"] {
        let (get, head) = (answer(&api, event("GET", path)).await, answer(&api, event("HEAD", path)).await);
        assert_eq!(get["statusCode"], head["statusCode"], "{path}");
        // A list that others add to has another length each time.
        let without_length = |answer: &Value| {
            let mut headers = answer["headers"].clone();
            headers.as_object_mut().unwrap().remove("content-length");
            headers
        };
        assert_eq!(without_length(&get), without_length(&head), "{path}");
        assert_ne!(header(&head, "content-length"), Some("0"), "{path}");
        assert!(!get["body"].as_str().unwrap().is_empty(), "{path}");
        assert_eq!(head["body"].as_str().unwrap_or_default(), "", "{path}");
    }
}

#[tokio::test]
async fn every_path_of_the_document_has_the_methods_that_stand_there_and_no_other() {
    let api = api().await;
    let document = api::openapi();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let documented: BTreeSet<_> = methods.as_object().unwrap().keys().map(|method| method.to_uppercase()).collect();
        let refusal = answer(&api, event("PATCH", path)).await;
        assert_eq!(refusal["statusCode"], 405, "{path}");
        let allowed = header(&refusal, "allow").unwrap().split(',').filter(|method| *method != "HEAD");
        assert_eq!(documented, allowed.map(str::to_owned).collect(), "{path}");
    }
}

#[tokio::test]
async fn the_api_tells_programs_and_people_what_it_is_and_the_page_runs_nothing() {
    let api = api().await;
    let document = answer(&api, event("GET", "/openapi.json")).await;
    assert_eq!(header(&document, "content-type"), Some("application/json"));
    assert_eq!(serde_json::from_str::<Value>(document["body"].as_str().unwrap()).unwrap(), api::openapi());
    let page = answer(&api, event("GET", "/docs")).await;
    assert_eq!(header(&page, "content-type"), Some("text/html; charset=utf-8"));
    let policy = header(&page, "content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-") && !policy.contains("unsafe"), "{policy}");
    let html = page["body"].as_str().unwrap();
    assert!(html.contains(&format!("<style>{}</style>", api::DOCS_STYLE)), "the one that the policy allows");
    for (path, methods) in api::openapi()["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            assert!(html.contains(&format!("<h3><b>{}</b> {path}", method.to_uppercase())), "{method} {path}");
        }
    }
}

/// A queue that does not answer.
struct Hangs;

#[async_trait]
impl SendTicket for Hangs {
    async fn send(&self, _: Ticket, _: &OwnerId, _: Option<&RequestId>) -> Result<(), PortError> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_answered_before_lambda_ends_it_and_nothing_is_lost() {
    let stack = Stack::running().await;
    let api = stack.api(Arc::new(SystemClock), Arc::new(Hangs));
    let parcel = stack.create_parcel("Tan", &own_address("hangs")).await;
    let path = format!("/api/parcels/{}/invoice", parcel["id"].as_str().unwrap());
    let answer = api::handle(api, event("POST", &path), context(Duration::from_secs(8))).await.unwrap();
    assert_eq!(answer["statusCode"], 503);
    let problem: Value = serde_json::from_str(answer["body"].as_str().unwrap()).unwrap();
    assert_eq!((&problem["type"], &problem["requestId"]), (&json!("/problems/timed-out"), &json!("request-1")));
    assert!(header(&answer, "retry-after").is_some());
    assert_eq!(header(&answer, "access-control-allow-origin"), Some(PAGE));
    let parcel = stack.get(path.trim_end_matches("/invoice")).send().await.unwrap();
    assert_eq!(parcel.json::<Value>().await.unwrap()["invoice"]["status"], "Pending", "due, so the relay brings it");
}

#[tokio::test]
async fn headers_that_are_no_ascii_harm_nothing_but_themselves() {
    let api = api().await;
    let with = |name: &str, value: &str| {
        let mut event = event("POST", "/api/parcels");
        event["headers"][name] = json!(value);
        event["body"] = json!({"recipient": "Tan", "email": own_address("headers")}).to_string().into();
        event
    };
    for (name, value, status) in [
        ("x-note", "Größe 陈", 201),
        ("x-note", "a\u{0}b\r\nc: d", 201),
        ("no header", "x", 201),
        ("user-agent", "ÿ", 201),
        ("x-request-id", "é", 201),
        ("idempotency-key", "schlüssel", 400),
        ("content-type", "application/jsön", 415),
        ("authorization", "Bearer é", 401),
    ] {
        assert_eq!(answer(&api, with(name, value)).await["statusCode"], status, "{name}: {value:?}");
    }
}

#[tokio::test]
async fn a_request_keeps_its_callers_id_if_that_is_harmless() {
    let api = api().await;
    for (given, kept) in [
        (Some("order-4711/retry.2"), "order-4711/retry.2"),
        (Some("tan@example.com"), "request-1"),
        (Some("a b"), "request-1"),
        (Some(""), "request-1"),
        (Some(&*"x".repeat(65)), "request-1"),
        (None, "request-1"),
    ] {
        let mut event = event("GET", "/nothing");
        if let Some(given) = given {
            event["headers"]["x-request-id"] = json!(given);
        }
        let answer = answer(&api, event).await;
        assert_eq!(header(&answer, "x-request-id"), Some(kept), "{given:?}");
        let problem: Value = serde_json::from_str(answer["body"].as_str().unwrap()).unwrap();
        assert_eq!(problem["requestId"], kept);
    }
}

#[tokio::test]
async fn a_byte_order_mark_and_a_missing_content_type_are_no_reason_to_refuse() {
    let stack = Stack::running().await;
    let body = json!({"recipient": "Tan", "email": own_address("bom")}).to_string();
    let marked = [b"\xef\xbb\xbf", body.as_bytes()].concat();
    let request = stack.post("/api/parcels").header("content-type", "application/octet-stream+json").body(marked);
    assert_eq!(request.send().await.unwrap().status(), 201);
    assert_eq!(stack.post("/api/parcels").body(body).send().await.unwrap().status(), 201);
}

#[tokio::test]
async fn json_nested_deeper_than_127_is_refused() {
    let stack = Stack::running().await;
    let nested = async |depth: usize| {
        let value = format!("{}{}", "[".repeat(depth - 1), "]".repeat(depth - 1));
        let body = format!(r#"{{"recipient":{value},"email":"tan@example.com"}}"#);
        stack.post("/api/parcels").header("content-type", "application/json").body(body).send().await.unwrap()
    };
    assert_eq!(nested(127).await.status(), 422, "read, and found to be no text");
    assert_eq!(nested(128).await.status(), 400);
}

/// Through the deployed API: what the emulated gateway makes of it.
#[tokio::test]
async fn the_deployed_api_answers_like_that_as_well() {
    let stack = Stack::running().await;
    let page = stack.addresses.page_url.trim_end_matches('/').to_owned();
    let ask = async |method: Method, path: &str| -> (u16, HeaderMap) {
        let request = stack.request(method, path, None).header("origin", &page);
        let answer: Response = request.header("x-request-id", format!("edge-{}", Uuid::new_v4())).send().await.unwrap();
        (answer.status().as_u16(), answer.headers().clone())
    };
    for (method, path, status) in [
        (Method::GET, "/health", 200),
        (Method::GET, "/health/", 404),
        (Method::POST, "/api/parcels/", 404),
        (Method::POST, "//api/parcels", 404),
        (Method::HEAD, "/health", 200),
        (Method::GET, "/nothing", 404),
        (Method::PUT, "/api/parcels", 405),
        (Method::GET, "/api/parcels", 401),
        (Method::POST, "/api/invoices/x/resend", 401),
        (Method::GET, "/api/invoices/x/resend", 405),
    ] {
        let (seen, headers) = ask(method.clone(), path).await;
        assert_eq!(seen, status, "{method} {path}");
        assert_eq!(headers["x-content-type-options"], "nosniff");
        assert_eq!(headers["access-control-allow-origin"], *page);
        assert!(headers["x-request-id"].to_str().unwrap().starts_with("edge-"), "{method} {path}");
    }
}
