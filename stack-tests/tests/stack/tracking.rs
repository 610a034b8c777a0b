//! Tracking for everybody: what it says, what it does not, and of which numbers.

use std::collections::BTreeSet;

use local_stack::{DRIVER_KEY, OTHER_MERCHANT_KEY};
use reqwest::{Method, Response};
use serde_json::{Value, json};
use stack_tests::{Stack, own_address};

async fn track(stack: &Stack, number: &str) -> Response {
    stack.request(Method::GET, &format!("/api/track/{number}"), None).send().await.unwrap()
}

fn keys(object: &Value) -> BTreeSet<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[tokio::test]
async fn whoever_has_the_number_sees_the_way_of_the_parcel_and_nothing_of_the_people() {
    let stack = Stack::running().await;
    let email = own_address("track");
    // Of another merchant, whose parcels the deployed simulator does not move.
    let body = json!({
        "recipient": "Tan Wei Ming", "email": email, "address": "1 Raffles Place", "postalCode": "018956",
        "phone": "+65 6123 4567", "reference": "PO-7", "weightGrams": 500,
    });
    let request = stack.request(Method::POST, "/api/parcels", Some(OTHER_MERCHANT_KEY)).json(&body);
    let parcel: Value = request.send().await.unwrap().json().await.unwrap();
    let number = parcel["trackingNumber"].as_str().unwrap();
    for event in [
        json!({"status": "InTransit", "location": "Changi", "note": "for Mr Tan"}),
        json!({"status": "OutForDelivery"}),
    ] {
        let path = format!("/api/parcels/{number}/events");
        let answer = stack.request(Method::POST, &path, Some(DRIVER_KEY)).json(&event).send().await.unwrap();
        assert_eq!(answer.status(), 201);
    }

    let answer = track(&stack, number).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["cache-control"], "public, max-age=30");
    let tracked: Value = answer.json().await.unwrap();
    assert_eq!(keys(&tracked), ["trackingNumber", "status", "expectedNext", "createdAt", "updatedAt", "events"].into());
    let events = tracked["events"].as_array().unwrap();
    assert_eq!(
        events.iter().map(keys).collect::<Vec<_>>(),
        [["status", "at"].into(), ["status", "at", "location"].into(), ["status", "at"].into(),]
    );
    assert_eq!((&tracked["status"], &tracked["expectedNext"]), (&json!("OutForDelivery"), &json!("Delivered")));
    assert_eq!((&tracked["trackingNumber"], &tracked["createdAt"]), (&parcel["trackingNumber"], &parcel["createdAt"]));
    assert_eq!(events[1]["location"], "Changi");
    let words = tracked.to_string();
    for secret in
        ["Tan", email.as_str(), "Raffles", "018956", "6123", "PO-7", "orchard", parcel["id"].as_str().unwrap()]
    {
        assert!(!words.contains(secret), "{secret} in {words}");
    }
}

#[tokio::test]
async fn at_the_end_of_the_way_nothing_is_expected() {
    let stack = Stack::running().await;
    let body = json!({"recipient": "Tan", "email": own_address("end")});
    let request = stack.request(Method::POST, "/api/parcels", Some(OTHER_MERCHANT_KEY)).json(&body);
    let parcel: Value = request.send().await.unwrap().json().await.unwrap();
    let path = format!("/api/parcels/{}/cancel", parcel["id"].as_str().unwrap());
    assert_eq!(stack.request(Method::POST, &path, Some(OTHER_MERCHANT_KEY)).send().await.unwrap().status(), 200);
    let tracked: Value = track(&stack, parcel["trackingNumber"].as_str().unwrap()).await.json().await.unwrap();
    assert_eq!((&tracked["status"], tracked.get("expectedNext")), (&json!("Cancelled"), None));
}

#[tokio::test]
async fn a_mistyped_number_is_400_and_an_unknown_one_404() {
    let stack = Stack::running().await;
    let parcel = stack.create_parcel("Tan", &own_address("typo")).await;
    let number = parcel["trackingNumber"].as_str().unwrap();
    let (others, last) = number.split_at(number.len() - 1);
    let mistyped = format!("{others}{}", (last.parse::<u32>().unwrap() + 1) % 10);
    for wrong in [mistyped.as_str(), "LCL", "LCL1234567", "abc", "lcl48291057", "%20", parcel["id"].as_str().unwrap()] {
        let answer = track(&stack, wrong).await;
        assert_eq!(answer.status(), 400, "{wrong}");
        assert_eq!(answer.headers()["cache-control"], "no-store");
        let problem: Value = answer.json().await.unwrap();
        assert_eq!(problem["type"], "/problems/invalid-parameter");
        assert_eq!(problem["errors"][0]["field"], "trackingNumber");
    }
    // Ten digits, of which this stack draws none before eight run out.
    let unknown = track(&stack, "LCL0000000000").await;
    assert_eq!(unknown.status(), 404);
    assert_eq!(unknown.json::<Value>().await.unwrap()["type"], "/problems/not-found");
}
