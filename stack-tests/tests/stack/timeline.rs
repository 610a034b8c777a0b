//! What happened to a parcel: reported by drivers, called off by merchants, told once. Through the deployed API.
//!
//! The parcels are those of another merchant, whom the deployed simulator does not serve.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use futures::future::join_all;
use local_stack::{DRIVER_KEY, MERCHANT_KEY, OPERATOR_KEY, OTHER_MERCHANT_KEY};
use parceltrack::clock::SystemClock;
use parceltrack::domain::{MAX_EVENTS, ParcelId, ParcelStatus, TrackingEvent, TrackingEventId};
use parceltrack::ports::{Clock as _, CreateParcels as _, ReadParcels as _};
use reqwest::{Method, Response};
use serde_json::{Value, json};
use stack_tests::{MovedClock, Stack, own_address, parcel};
use tower::ServiceExt as _;
use uuid::Uuid;

/// A parcel that nobody moves but this test.
async fn still_parcel(stack: &Stack) -> Value {
    let body = json!({"recipient": "Tan Wei Ming", "email": own_address("timeline")});
    let answer = stack.request(Method::POST, "/api/parcels", Some(OTHER_MERCHANT_KEY)).json(&body).send();
    answer.await.unwrap().json().await.unwrap()
}

fn id(parcel: &Value) -> &str {
    parcel["id"].as_str().unwrap()
}

async fn report(stack: &Stack, parcel: &str, body: &Value) -> Response {
    report_with(stack, parcel, body, None).await
}

async fn report_with(stack: &Stack, parcel: &str, body: &Value, key: Option<&str>) -> Response {
    let mut request = stack.request(Method::POST, &format!("/api/parcels/{parcel}/events"), Some(DRIVER_KEY));
    if let Some(key) = key {
        request = request.header("idempotency-key", key);
    }
    request.json(body).send().await.unwrap()
}

async fn read(stack: &Stack, parcel: &str) -> Value {
    let request = stack.request(Method::GET, &format!("/api/parcels/{parcel}"), Some(OTHER_MERCHANT_KEY));
    request.send().await.unwrap().json().await.unwrap()
}

async fn cancel(stack: &Stack, parcel: &str) -> Response {
    let request = stack.request(Method::POST, &format!("/api/parcels/{parcel}/cancel"), Some(OTHER_MERCHANT_KEY));
    request.send().await.unwrap()
}

fn replayed(answer: &Response) -> bool {
    answer.headers().get("idempotent-replayed").is_some_and(|value| value == "true")
}

async fn problem(answer: Response) -> (u16, String, Value) {
    let status = answer.status().as_u16();
    let problem: Value = answer.json().await.unwrap();
    (status, problem["type"].as_str().unwrap().to_owned(), problem)
}

#[tokio::test]
async fn a_driver_reports_a_delivery_and_the_merchant_reads_it() {
    let stack = Stack::running().await;
    let parcel = still_parcel(&stack).await;
    let number = parcel["trackingNumber"].as_str().unwrap();
    let at = SystemClock.now();
    let told =
        json!({"status": "InTransit", "location": " Changi depot ", "note": "two boxes", "occurredAt": at.to_string()});
    // By its tracking number, which is what stands on the parcel.
    let answer = report(&stack, number, &told).await;
    assert_eq!(answer.status(), 201);
    assert!(!replayed(&answer));
    let event: Value = answer.json().await.unwrap();
    assert_eq!(
        (&event["status"], &event["location"], &event["note"], &event["at"]),
        (&json!("InTransit"), &json!("Changi depot"), &json!("two boxes"), &json!(at.to_string()))
    );
    for status in ["OutForDelivery", "DeliveryFailed", "OutForDelivery", "Delivered"] {
        assert_eq!(report(&stack, id(&parcel), &json!({"status": status})).await.status(), 201, "{status}");
    }

    let read = read(&stack, number).await;
    assert_eq!((&read["id"], &read["status"]), (&parcel["id"], &json!("Delivered")));
    let events = read["events"].as_array().unwrap();
    assert_eq!(events[1], event);
    let steps: Vec<_> = events.iter().map(|event| event["status"].as_str().unwrap()).collect();
    assert_eq!(steps, ["Created", "InTransit", "OutForDelivery", "DeliveryFailed", "OutForDelivery", "Delivered"]);
    assert_eq!(read["updatedAt"], events[5]["recordedAt"]);
    let ids: HashSet<_> = events.iter().map(|event| event["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), events.len());
}

#[tokio::test]
async fn a_step_that_is_not_allowed_is_refused_with_the_present_status() {
    let stack = Stack::running().await;
    let parcel = still_parcel(&stack).await;
    for status in ["Created", "OutForDelivery", "Delivered", "DeliveryFailed", "Returned"] {
        let (code, kind, problem) = problem(report(&stack, id(&parcel), &json!({"status": status})).await).await;
        assert_eq!((code, kind.as_str()), (409, "/problems/step-not-allowed"), "{status}");
        assert_eq!(problem["currentStatus"], "Created");
    }
    assert_eq!(read(&stack, id(&parcel)).await["events"].as_array().unwrap().len(), 1, "nothing was written");
}

#[tokio::test]
async fn the_same_report_twice_is_one_line() {
    let stack = Stack::running().await;
    let parcel = still_parcel(&stack).await;
    let told = json!({"status": "InTransit", "location": "Changi", "occurredAt": SystemClock.now().to_string()});
    let first: Value = report(&stack, id(&parcel), &told).await.json().await.unwrap();
    assert_eq!(report(&stack, id(&parcel), &json!({"status": "OutForDelivery"})).await.status(), 201);
    // Though the parcel has gone on, and from there it could not become InTransit.
    let again = report(&stack, id(&parcel), &told).await;
    assert_eq!((again.status().as_u16(), replayed(&again)), (201, true));
    assert_eq!(again.json::<Value>().await.unwrap(), first);
    // Without a time, the last line is meant.
    let again = report(&stack, id(&parcel), &json!({"status": "OutForDelivery"})).await;
    assert_eq!((again.status().as_u16(), replayed(&again)), (201, true));
    // With other words it is another report.
    let other = report(&stack, id(&parcel), &json!({"status": "OutForDelivery", "note": "again"})).await;
    assert_eq!(other.status(), 409);
    assert_eq!(read(&stack, id(&parcel)).await["events"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a_repeated_key_gets_the_first_answer_whatever_happened_since() {
    let stack = Stack::running().await;
    let parcel = still_parcel(&stack).await;
    assert_eq!(report(&stack, id(&parcel), &json!({"status": "InTransit"})).await.status(), 201);
    let key = Uuid::new_v4().to_string();
    let out = json!({"status": "OutForDelivery"});
    let refused = report_with(&stack, id(&parcel), &json!({"status": "Delivered"}), Some(&key)).await;
    assert_eq!(refused.status(), 409, "an error uses no key up");
    let first: Value = report_with(&stack, id(&parcel), &out, Some(&key)).await.json().await.unwrap();
    assert_eq!(report(&stack, id(&parcel), &json!({"status": "DeliveryFailed"})).await.status(), 201);
    // Without the key this would be a step of its own.
    let again = report_with(&stack, id(&parcel), &out, Some(&key)).await;
    assert_eq!((again.status().as_u16(), replayed(&again)), (201, true));
    assert_eq!(again.json::<Value>().await.unwrap(), first);
    let other = report_with(&stack, id(&parcel), &json!({"status": "Returned"}), Some(&key)).await;
    assert_eq!(problem(other).await.1, "/problems/idempotency-key-reused");
    assert_eq!(read(&stack, id(&parcel)).await["status"], "DeliveryFailed");
}

#[tokio::test]
async fn twenty_parallel_reports_with_one_key_are_one_line_and_one_answer() {
    let stack = Stack::running().await;
    let parcel = still_parcel(&stack).await;
    let (key, told) = (Uuid::new_v4().to_string(), json!({"status": "InTransit"}));
    let answers = join_all((0..20).map(|_| report_with(&stack, id(&parcel), &told, Some(&key)))).await;
    let (mut bodies, mut first_answers) = (HashSet::new(), 0);
    for answer in answers {
        assert_eq!(answer.status(), 201);
        first_answers += usize::from(!replayed(&answer));
        bodies.insert(answer.text().await.unwrap());
    }
    assert_eq!((bodies.len(), first_answers), (1, 1));
    assert_eq!(read(&stack, id(&parcel)).await["events"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn of_two_drivers_at_once_one_wins_and_the_other_hears_where_the_parcel_is() {
    let stack = Stack::running().await;
    for _ in 0..10 {
        let parcel = still_parcel(&stack).await;
        for status in ["InTransit", "OutForDelivery"] {
            assert_eq!(report(&stack, id(&parcel), &json!({"status": status})).await.status(), 201);
        }
        let (delivered, failed) = (json!({"status": "Delivered"}), json!({"status": "DeliveryFailed"}));
        let (one, other) = tokio::join!(report(&stack, id(&parcel), &delivered), report(&stack, id(&parcel), &failed));
        let read = read(&stack, id(&parcel)).await;
        let (winner, loser, status) =
            if one.status() == 201 { (one, other, "Delivered") } else { (other, one, "DeliveryFailed") };
        assert_eq!((winner.status().as_u16(), &read["status"]), (201, &json!(status)));
        let (code, _, problem) = problem(loser).await;
        assert_eq!((code, &problem["currentStatus"]), (409, &json!(status)));
        assert_eq!(read["events"].as_array().unwrap().len(), 4);
    }
}

#[tokio::test]
async fn fields_that_are_wrong_are_named_and_no_parcel_is_later_than_its_reports() {
    let stack = Stack::running().await;
    let parcel = still_parcel(&stack).await;
    let created = parcel["createdAt"].as_str().unwrap();
    let (day, rest) = created.split_at(10);
    for (body, field) in [
        (json!({}), "status"),
        (json!({"status": "Lost"}), "status"),
        (json!({"status": 1}), "status"),
        (json!({"status": "InTransit", "location": "a".repeat(101)}), "location"),
        (json!({"status": "InTransit", "note": "a".repeat(201)}), "note"),
        (json!({"status": "InTransit", "note": "a\nb"}), "note"),
        (json!({"status": "InTransit", "occurredAt": "yesterday"}), "occurredAt"),
        (json!({"status": "InTransit", "occurredAt": day}), "occurredAt"),
        (json!({"status": "InTransit", "occurredAt": format!("2999{}{rest}", &day[4..])}), "occurredAt"),
        (json!({"status": "InTransit", "occurredAt": format!("2020{}{rest}", &day[4..])}), "occurredAt"),
        (json!({"status": "InTransit", "at": created}), "at"),
    ] {
        let (code, _, problem) = problem(report(&stack, id(&parcel), &body).await).await;
        assert_eq!((code, &problem["errors"][0]["field"]), (422, &json!(field)), "{body}");
    }
    for unknown in [Uuid::new_v4().to_string(), "LCL99999991234".to_owned(), "LCL99999999".to_owned()] {
        let (code, ..) = problem(report(&stack, &unknown, &json!({"status": "InTransit"})).await).await;
        assert!(matches!(code, 400 | 404), "{code} for {unknown}");
    }
}

#[tokio::test]
async fn a_parcel_is_called_off_until_it_is_picked_up_and_twice_is_once() {
    let stack = Stack::running().await;
    let parcel = still_parcel(&stack).await;
    let (one, other) = tokio::join!(cancel(&stack, id(&parcel)), cancel(&stack, id(&parcel)));
    assert_eq!((one.status().as_u16(), other.status().as_u16()), (200, 200));
    let called_off: Value = cancel(&stack, parcel["trackingNumber"].as_str().unwrap()).await.json().await.unwrap();
    assert_eq!((&called_off["id"], &called_off["status"]), (&parcel["id"], &json!("Cancelled")));
    assert_eq!(called_off["events"].as_array().unwrap().len(), 2);
    assert_eq!(called_off, read(&stack, id(&parcel)).await);
    let (code, _, late) = problem(report(&stack, id(&parcel), &json!({"status": "InTransit"})).await).await;
    assert_eq!((code, &late["currentStatus"]), (409, &json!("Cancelled")));

    let parcel = still_parcel(&stack).await;
    assert_eq!(report(&stack, id(&parcel), &json!({"status": "InTransit"})).await.status(), 201);
    let (code, kind, late) = problem(cancel(&stack, id(&parcel)).await).await;
    assert_eq!((code, kind.as_str()), (409, "/problems/step-not-allowed"));
    assert_eq!(late["currentStatus"], "InTransit");
}

#[tokio::test]
async fn only_who_may_call_off_may_report_that() {
    let stack = Stack::running().await;
    let parcel = still_parcel(&stack).await;
    let told = json!({"status": "Cancelled", "note": "by telephone"});
    assert_eq!(report(&stack, id(&parcel), &told).await.status(), 403);
    let path = format!("/api/parcels/{}/events", id(&parcel));
    let answer = stack.request(Method::POST, &path, Some(OPERATOR_KEY)).json(&told).send().await.unwrap();
    assert_eq!(answer.status(), 201);
    assert_eq!(cancel(&stack, id(&parcel)).await.status(), 200, "called off is called off");
}

#[tokio::test]
async fn a_pick_up_and_a_calling_off_at_once_are_one_of_them() {
    let stack = Stack::running().await;
    for _ in 0..10 {
        let parcel = still_parcel(&stack).await;
        let told = json!({"status": "InTransit"});
        let (picked_up, called_off) = tokio::join!(report(&stack, id(&parcel), &told), cancel(&stack, id(&parcel)));
        let status = match (picked_up.status().as_u16(), called_off.status().as_u16()) {
            (201, 409) => "InTransit",
            (409, 200) => "Cancelled",
            other => panic!("{other:?}"),
        };
        assert_eq!(read(&stack, id(&parcel)).await["status"], status);
    }
}

#[tokio::test]
async fn a_row_from_before_lines_had_ids_is_read_and_moved() {
    let stack = Stack::running().await;
    let (id, now) = (Uuid::new_v4(), SystemClock.now());
    // As the first release wrote it; of another owner, so that the simulator leaves it alone.
    let row = json!({
        "parcelId": {"S": id.to_string()},
        "owner": {"S": "orchard-books"},
        "createdKey": {"S": format!("{:013}#{id}", now.millis())},
        "trackingNumber": {"S": parcel("old@example.com", now).tracking_number.as_str()},
        "recipient": {"S": "Old Row"},
        "email": {"S": "old@example.com"},
        "status": {"S": "InTransit"},
        "createdAt": {"N": now.millis().to_string()},
        "updatedAt": {"N": now.millis().to_string()},
        "events": {"L": [
            {"M": {"status": {"S": "Created"}, "at": {"N": now.millis().to_string()}}},
            {"M": {"status": {"S": "InTransit"}, "at": {"N": now.millis().to_string()}}},
        ]},
    });
    let table = stack.addresses.output("ParcelsTableName").unwrap();
    stack.emulator("dynamodb", "DynamoDB_20120810.PutItem", &json!({"TableName": table, "Item": row})).await;

    let old = read(&stack, &id.to_string()).await;
    assert_eq!(old["events"][1]["recordedAt"], old["events"][1]["at"]);
    assert_ne!(old["events"][0]["id"], old["events"][1]["id"]);
    assert_eq!(report(&stack, &id.to_string(), &json!({"status": "OutForDelivery"})).await.status(), 201);
    let moved = read(&stack, &id.to_string()).await;
    assert_eq!((&moved["status"], &moved["events"][1]), (&json!("OutForDelivery"), &old["events"][1]));
}

#[tokio::test]
async fn a_full_timeline_is_said_to_be_full() {
    let stack = Stack::running().await;
    let clock = Arc::new(MovedClock::default());
    clock.forward(Duration::from_hours(1));
    let mut full = parcel(&own_address("full"), clock.now());
    full.owner = "orchard-books".parse().unwrap();
    full.status = ParcelStatus::DeliveryFailed;
    full.events = (0..MAX_EVENTS)
        .map(|_| TrackingEvent {
            note: Some("\u{20000}".repeat(200).try_into().unwrap()),
            location: Some("\u{20000}".repeat(100).try_into().unwrap()),
            correlation_id: Some("r".repeat(64).parse().unwrap()),
            ..TrackingEvent::now(TrackingEventId(Uuid::new_v4()), ParcelStatus::DeliveryFailed, clock.now())
        })
        .collect();
    // The longest row there can be is one that the table takes.
    stack.parcels().create(&full, None, clock.now()).await.unwrap();
    let api = stack.api(clock, Arc::new(stack.tickets()));
    let request = Request::post(format!("/api/parcels/{}/events", full.id))
        .header("authorization", format!("Bearer {DRIVER_KEY}"))
        .body(Body::from(r#"{"status": "OutForDelivery"}"#));
    let answer = api.oneshot(request.unwrap()).await.unwrap();
    assert_eq!(answer.status(), 409);
    let body = axum::body::to_bytes(answer.into_body(), usize::MAX).await.unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&body).unwrap()["type"], "/problems/timeline-full");
    assert_eq!(stack.parcels().parcel(full.id).await.unwrap().unwrap().events, full.events);
}

#[tokio::test]
async fn a_weight_is_kept_and_a_wrong_one_is_named() {
    let stack = Stack::running().await;
    let create = async |weight: Value| {
        let body =
            json!({"recipient": "Tan", "email": own_address("weight"), "postalCode": "018956", "weightGrams": weight});
        stack.request(Method::POST, "/api/parcels", Some(OTHER_MERCHANT_KEY)).json(&body).send().await.unwrap()
    };
    for weight in [json!(0), json!(50_001), json!(-1), json!(1.5), json!("500"), json!(true)] {
        let (code, _, problem) = problem(create(weight.clone()).await).await;
        assert_eq!((code, &problem["errors"][0]["field"]), (422, &json!("weightGrams")), "{weight}");
    }
    let parcel: Value = create(json!(50_000)).await.json().await.unwrap();
    let read = read(&stack, id(&parcel)).await;
    assert_eq!((&read["weightGrams"], &read["postalCode"]), (&json!(50_000), &json!("018956")));
    assert_eq!(still_parcel(&stack).await.get("weightGrams"), None);
}

#[tokio::test]
async fn an_invoice_is_asked_for_by_tracking_number_too() {
    let stack = Stack::running().await;
    let parcel = stack.create_parcel("Tan Wei Ming", &own_address("by-number")).await;
    let path = format!("/api/parcels/{}/invoice", parcel["trackingNumber"].as_str().unwrap());
    assert_eq!(stack.request(Method::POST, &path, Some(MERCHANT_KEY)).send().await.unwrap().status(), 202);
    let id = ParcelId(id(&parcel).parse().unwrap());
    assert!(stack.parcels().parcel(id).await.unwrap().is_some());
    let by_id: Value = stack.get(&format!("/api/parcels/{id}")).send().await.unwrap().json().await.unwrap();
    assert!(by_id["invoice"]["id"].is_string());
}
