//! API Gateway's events, some of which break other people's systems: handed to the API as Lambda hands them over.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use local_stack::MERCHANT_KEY;
use serde_json::{Value, json};
use stack_tests::{MovedClock, Stack, context, own_address};

/// An event of an HTTP API, payload version 2.0.
fn event(method: &str, path: &str) -> Value {
    // What writes has a route with a name.
    let route = if method == "POST" { format!("{method} {path}") } else { "$default".to_owned() };
    json!({
        "version": "2.0",
        "routeKey": route,
        "rawPath": path,
        "rawQueryString": "",
        "headers": {
            "host": "abc.execute-api.ap-southeast-1.amazonaws.com",
            "x-forwarded-proto": "https",
            "authorization": format!("Bearer {MERCHANT_KEY}")
        },
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "abc",
            "domainName": "abc.execute-api.ap-southeast-1.amazonaws.com",
            "domainPrefix": "abc",
            "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1", "userAgent": "curl"},
            "requestId": "request-1",
            "routeKey": route,
            "stage": "$default",
            "time": "29/Nov/2026:00:00:00 +0000",
            "timeEpoch": 1_790_000_000_000_u64
        },
        "isBase64Encoded": false
    })
}

fn with(mut event: Value, changes: &[(&str, Value)]) -> Value {
    for (pointer, value) in changes {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        event.pointer_mut(parent).unwrap()[name] = value.clone();
    }
    event
}

async fn api() -> Router {
    let stack = Stack::running().await;
    stack.api(Arc::new(MovedClock::default()), Arc::new(stack.tickets()))
}

async fn answer(api: &Router, event: Value) -> (u64, Value) {
    let answer = api::handle(api.clone(), event, context(Duration::from_secs(10))).await.unwrap();
    let body = answer["body"].as_str().unwrap_or_default();
    (answer["statusCode"].as_u64().unwrap(), serde_json::from_str(body).unwrap_or_else(|_| body.into()))
}

#[tokio::test]
async fn a_named_stage_is_not_part_of_the_route() {
    let api = api().await;
    let stage = with(event("GET", "/uat/api/parcels"), &[("/requestContext/stage", json!("uat"))]);
    let (status, body) = answer(&api, stage).await;
    assert_eq!(status, 200);
    assert!(body["parcels"].is_array());
}

#[tokio::test]
async fn a_decoded_path_never_becomes_another_route_or_query() {
    let api = api().await;
    for path in
        ["/api/parcels/abc?limit=1", "/api/parcels/a#b", "/api/parcels/a b", "/api/parcels/%41", "/api/parcels/陈"]
    {
        let (status, body) = answer(&api, event("GET", path)).await;
        assert_eq!((status, &body["errors"][0]["field"]), (400, &json!("id")), "{path}");
    }
    for path in ["/api/../health", "/api/parcels/../../health", "/i/..", "//", "/api/parcels\\..\\x", "/\u{0}"] {
        assert_eq!(answer(&api, event("GET", path)).await.0, 404, "{path}");
    }
}

#[tokio::test]
async fn events_that_make_lambda_http_panic_are_answered_and_the_next_request_is_fine() {
    let api = api().await;
    let strange = [
        with(event("GET", "/api/parcels"), &[("/rawQueryString", json!("limit=a b"))]),
        with(event("GET", "/api/parcels"), &[("/rawQueryString", json!("limit=\u{7f}|^`<>\"{}"))]),
        with(event("POST", "/api/parcels"), &[("/isBase64Encoded", json!(true)), ("/body", json!("not base64!"))]),
        with(event("POST", "/api/parcels"), &[("/body", json!("{"))]),
        with(
            event("GET", "/api/parcels?limit=0"),
            &[("/headers/host", json!("a b:c/d")), ("/headers/x-forwarded-proto", json!("::"))],
        ),
        with(event("GET", "/api/nothing"), &[("/headers/host", json!(""))]),
        with(event("G E T", "/api/parcels"), &[]),
        json!({}),
        json!(null),
        json!({"Records": []}),
    ];
    for event in strange {
        let (status, body) = answer(&api, event.clone()).await;
        assert!((400..500).contains(&status), "{status} for {event}");
        assert!(body["requestId"].is_string(), "{body} for {event}");
        assert_eq!(answer(&api, self::event("GET", "/health")).await, (200, json!("Healthy")));
    }
}

#[tokio::test]
async fn a_space_in_the_query_is_a_space() {
    let api = api().await;
    let (status, body) =
        answer(&api, with(event("GET", "/api/parcels"), &[("/rawQueryString", json!("cursor=a b"))])).await;
    assert_eq!((status, &body["errors"][0]["field"]), (400, &json!("cursor")));
}

#[tokio::test]
async fn a_json_body_without_a_content_type_arrives_as_base64_and_is_read() {
    let api = api().await;
    let body = json!({"recipient": "Tan", "email": own_address("base64")}).to_string();
    let encoded = base64(body.as_bytes());
    let (status, parcel) = answer(
        &api,
        with(event("POST", "/api/parcels"), &[("/isBase64Encoded", json!(true)), ("/body", json!(encoded))]),
    )
    .await;
    assert_eq!((status, &parcel["recipient"]), (201, &json!("Tan")));
}

#[tokio::test]
async fn the_events_of_cargo_lambda_watch_are_answered_as_awss() {
    let api = api().await;
    let watch = with(
        event("GET", "/api/parcels"),
        &[
            ("/rawQueryString", Value::Null),
            ("/headers/lambda-runtime-aws-request-id", json!("x")),
            ("/httpMethod", json!("GET")),
        ],
    );
    assert_eq!(answer(&api, watch).await.0, 200);
}

#[tokio::test]
async fn an_answer_names_the_request_as_api_gateway_does() {
    let api = api().await;
    let (status, body) = answer(&api, event("GET", "/nothing")).await;
    assert_eq!((status, &body["requestId"], &body["type"]), (404, &json!("request-1"), &json!("/problems/not-found")));
}

/// RFC 4648 section 4.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    bytes
        .chunks(3)
        .flat_map(|chunk| {
            let bits = chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
            (0..4).map(move |place| {
                if place <= chunk.len() { char::from(DIGITS[(bits >> (18 - 6 * place)) as usize & 63]) } else { '=' }
            })
        })
        .collect()
}
