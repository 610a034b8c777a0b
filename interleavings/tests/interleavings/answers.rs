//! Whatever is asked, the answer is short: Lambda takes 6 MB, and what it does not take is a mute 500.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use interleavings::Timing;
use interleavings::cast::{self, Api};
use interleavings::gate::Gate;
use interleavings::ports::{Ports, clients_key};
use interleavings::world::{Inhabitant, World};
use lambda_runtime::Context;
use parceltrack::domain::Role;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A megabyte, with room for what an event's JSON makes of the answer's.
const LONGEST: usize = 1_000_000;

/// As long as a body may be.
const BODY: usize = 256 * 1024;

/// A world with one parcel and its invoice, and the paths of all routes in it.
fn begin() -> (Arc<Mutex<World>>, [String; 2]) {
    let mut world = World::new(&Timing::default(), None, false);
    let now = world.now;
    world.inhabitants.push(Inhabitant {
        name: "client".to_owned(),
        limit: now + Duration::from_hours(1),
        alive: true,
        killed: false,
        memory: 0,
        messages: vec![],
        could_not_bury: false,
    });
    let parcel = cast::parcel(0, now);
    world.parcels.create(&parcel, None, now);
    let invoice = cast::invoice(&parcel, now, now);
    world.invoices.create(&invoice);
    world.witness.invoice_created(&invoice);
    (Arc::new(Mutex::new(world)), [parcel.id.to_string(), invoice.content.id.to_string()])
}

/// Every route of the document, with its method.
fn routes() -> Vec<(String, String)> {
    let document: Value = serde_json::from_str(include_str!("../../../docs/openapi.json")).unwrap();
    let paths = document["paths"].as_object().unwrap();
    let of = |(path, methods): (&String, &Value)| {
        let methods = methods.as_object().unwrap().keys();
        methods
            .filter(|method| ["get", "post", "put", "delete"].contains(&method.as_str()))
            .map(|method| (method.to_uppercase(), path.clone()))
            .collect::<Vec<_>>()
    };
    paths.iter().flat_map(of).collect()
}

struct Asked<'a> {
    method: &'a str,
    route: &'a str,
    path: &'a str,
    query: &'a str,
    headers: &'a [(&'a str, &'a str)],
    body: &'a str,
}

/// What the API answers to the event that API Gateway would make of this.
fn answer(role: Role, asked: &Asked) -> Value {
    let (world, _) = begin();
    answer_in(&world, role, asked)
}

fn answer_in(world: &Arc<Mutex<World>>, role: Role, asked: &Asked) -> Value {
    let ports = Ports { gate: Gate::free(world.clone(), 0), release: 0, clients: role };
    let mut headers = json!({"content-type": "application/json",
        "authorization": format!("Bearer {}", clients_key().reveal())});
    for (name, value) in asked.headers {
        headers[*name] = json!(value);
    }
    let event = json!({
        "version": "2.0",
        "routeKey": asked.route,
        "rawPath": asked.path,
        "rawQueryString": asked.query,
        "headers": headers,
        "requestContext": {
            "apiId": "api",
            "http": {"method": asked.method, "path": asked.path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1"},
            "requestId": "asked",
            "routeKey": asked.route,
            "stage": "$default",
            "timeEpoch": 1_790_000_000_000_u64
        },
        "body": asked.body,
        "isBase64Encoded": false
    });
    let end = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + Duration::from_mins(10);
    let mut context = Context::default();
    "asked".clone_into(&mut context.request_id);
    context.deadline = end.as_millis().try_into().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(api::handle(api::only_named_writes(Api::new(ports).router()), event, context)).unwrap()
}

/// As much of this as fits into a body, between two ends.
fn filled(begin: &str, piece: impl Fn(usize) -> String, end: &str) -> String {
    let mut body = begin.to_owned();
    for index in 0.. {
        let piece = piece(index);
        if body.len() + piece.len() + end.len() + 1 > BODY {
            break;
        }
        if index > 0 {
            body.push(',');
        }
        body.push_str(&piece);
    }
    body + end
}

/// A body of 256 KiB that is wrong in as many ways, or in as long ones.
fn hostile(kind: usize, field: &str, text: &str) -> String {
    let quoted = json!(text).to_string();
    match kind {
        0 => filled(&format!("{{\"{field}\":["), |_| "0".to_owned(), "]}"),
        1 => filled(&format!("{{\"{field}\":["), |_| quoted.clone(), "]}"),
        2 => filled(&format!("{{\"{field}\":["), |_| "{}".to_owned(), "]}"),
        3 => filled("{", |index| format!("\"{index}\":{quoted}"), "}"),
        4 => {
            let name = json!("\u{1}陈".repeat(BODY / 12)).to_string();
            format!("{{{name}:1,{name}:2}}")
        }
        5 => json!({ field: "\u{7f}\"\\".repeat(BODY / 8) }).to_string(),
        6 => filled(
            "{\"lines\":[",
            |index| {
                let name = json!(format!("{index}{}", "\"".repeat(if index < 500 { 200 } else { BODY }))).to_string();
                format!("{{{name}:0,\"quantity\":-1,\"unitPrice\":{quoted}}}")
            },
            "]}",
        ),
        7 => format!("{{\"{field}\":{}", "[".repeat(BODY / 2)),
        8 => json!({ "\u{1}".repeat(BODY / 8): 1 }).to_string(),
        _ => text.repeat(BODY / text.len().max(1)),
    }
}

fn length(answer: &Value) -> usize {
    answer["body"].as_str().unwrap_or_default().len() + answer["headers"].to_string().len()
}

#[test]
fn a_list_that_is_too_long_is_refused_in_a_few_words() {
    let (method, route) = ("POST", "POST /api/webhooks");
    let body = hostile(0, "eventTypes", "");
    assert!(body.len() > 250_000);
    let asked = Asked { method, route, path: "/api/webhooks", query: "", headers: &[], body: &body };
    let answer = answer(Role::Merchant, &asked);
    assert_eq!(answer["statusCode"], 422, "{answer}");
    assert!(length(&answer) < 2_000, "{answer}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_asked_the_answer_is_under_a_megabyte(
        kind in 0..10_usize,
        field in proptest::sample::select(vec!["lines", "eventTypes", "recipient", "url", "email", "since", "x"]),
        text in ".{0,30}",
        role in proptest::sample::select(vec![Role::Merchant, Role::Driver, Role::Operator]),
    ) {
        let body = hostile(kind, field, &text);
        let long = "%00\u{1}陈\"".repeat(1_000);
        let header = "~".repeat(8_000);
        for (method, path) in routes() {
            let (world, [parcel, invoice]) = begin();
            let id = if path.starts_with("/api/parcels") { parcel } else { invoice };
            let filled_in = path.replace("{id}", &id).replace("{deliveryId}", &long).replace("{token}", &long)
                .replace("{trackingNumber}", &long);
            let query = format!("limit=100&q={long}&cursor={long}&status=Failed&owner={long}&{long}");
            for (query, headers) in [("", &[][..]), (&query, &[("idempotency-key", &*header), ("x-request-id", &header),
                ("origin", &header), ("accept", &header)][..])] {
                let asked = Asked { method: &method, route: &format!("{method} {path}"), path: &filled_in, query, headers,
                    body: if method == "GET" { "" } else { &body } };
                let answer = answer_in(&world, role, &asked);
                let (status, length) = (answer["statusCode"].as_u64().unwrap(), length(&answer));
                prop_assert!(length < LONGEST, "{length} bytes of {status} for {method} {path}, body {kind}");
                prop_assert!(status != 500, "{method} {path}, body {kind}: {answer}");
            }
        }
    }
}

#[test]
fn what_writes_is_reached_by_its_name_alone() {
    let body = r#"{"recipient": "Tan Wei Ming", "email": "tan@example.com"}"#;
    let status = |method: &str, route: &str, path: &str| {
        let asked = Asked { method, route, path, query: "", headers: &[], body };
        answer(Role::Merchant, &asked)["statusCode"].as_u64().unwrap()
    };
    assert_eq!(status("POST", "POST /api/parcels", "/api/parcels"), 201);
    for path in [
        "/api/parcels/",
        "//api/parcels",
        "/api//parcels",
        "/api/parcels//",
        "/api%2Fparcels",
        "/API/parcels",
        "/api/parcels/.",
    ] {
        for route in ["$default", "POST /api/parcels"] {
            assert!([404, 405].contains(&status("POST", route, path)), "POST {path} by {route}");
        }
        assert!([404, 400].contains(&status("GET", "$default", path)), "GET {path}");
    }
    // `/api%2Fparcels`, decoded after API Gateway found no name for it. Every route that writes, so.
    let id = "00000000-0000-4000-8000-000000000000";
    for (method, path) in routes() {
        let path = path.replace("{id}", id).replace("{deliveryId}", &format!("test-{id}-0"));
        let (unnamed, named) =
            (status(&method, "$default", &path), status(&method, &format!("{method} {path}"), &path));
        if method == "GET" {
            assert_eq!(unnamed, named, "{method} {path}");
        } else {
            assert_eq!(unnamed, 404, "{method} {path}");
        }
    }
}
