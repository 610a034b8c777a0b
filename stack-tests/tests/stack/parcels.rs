//! Creating, listing and reading parcels, through the deployed API.

use std::collections::HashSet;

use futures::future::join_all;
use serde_json::{Value, json};
use stack_tests::{Stack, own_address};
use uuid::Uuid;

#[tokio::test]
async fn a_created_parcel_can_be_read_at_its_location() {
    let stack = Stack::running().await;
    let body = json!({
        "recipient": " 陈伟明 <b>Tan</b> ", "email": own_address("read"), "address": "1 Raffles Place", "postalCode": "018956",
        "phone": "+65 6123 4567", "reference": "PO-7",
    });
    let answer = stack.post("/api/parcels").json(&body).send().await.unwrap();
    assert_eq!(answer.status(), 201);
    assert!(answer.headers().contains_key("x-request-id"));
    let location = answer.headers()["location"].to_str().unwrap().to_owned();
    let created: Value = answer.json().await.unwrap();
    assert_eq!(location, format!("/api/parcels/{}", created["id"].as_str().unwrap()));
    assert_eq!(created["recipient"], "陈伟明 <b>Tan</b>");
    assert_eq!(created["postalCode"], "018956");
    assert_eq!(created["status"], "Created");
    assert!(created["trackingNumber"].as_str().unwrap().starts_with("LCL"));

    let read: Value = stack.get(&location).send().await.unwrap().json().await.unwrap();
    for field in
        ["id", "trackingNumber", "recipient", "email", "address", "postalCode", "phone", "reference", "createdAt"]
    {
        assert_eq!(read[field], created[field], "{field}");
    }
    assert_eq!(read["invoice"], Value::Null);
    assert_eq!(read["events"][0]["status"], "Created");
}

#[tokio::test]
async fn fifty_parallel_posts_with_one_idempotency_key_make_one_parcel() {
    let stack = Stack::running().await;
    let (key, email) = (Uuid::new_v4().to_string(), own_address("fifty"));
    let body = json!({"recipient": "Tan Wei Ming", "email": email});
    let answers =
        join_all((0..50).map(|_| stack.post("/api/parcels").header("Idempotency-Key", &key).json(&body).send())).await;
    let mut ids = HashSet::new();
    let mut first_answers = 0;
    for answer in answers {
        let answer = answer.unwrap();
        assert_eq!(answer.status(), 201);
        first_answers += usize::from(!answer.headers().contains_key("idempotent-replayed"));
        ids.insert(answer.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned());
    }
    assert_eq!((ids.len(), first_answers), (1, 1));
    assert_eq!(parcels_of(&stack, &email).await, 1);
}

#[tokio::test]
async fn a_repeated_key_gets_the_first_answer_and_other_content_is_refused() {
    let stack = Stack::running().await;
    let (key, email) = (Uuid::new_v4().to_string(), own_address("key"));
    let post = async |body: Value| {
        stack.post("/api/parcels").header("Idempotency-Key", &key).json(&body).send().await.unwrap()
    };

    let invalid = post(json!({"recipient": "", "email": email})).await;
    assert_eq!(invalid.status(), 422, "an error uses no key up");
    let first = post(json!({"recipient": "Tan", "email": email})).await.text().await.unwrap();
    // The same content, written in another order.
    let again = post(json!({"email": email, "recipient": "Tan"})).await;
    assert_eq!(again.status(), 201);
    assert_eq!(again.headers()["idempotent-replayed"], "true");
    assert!(again.headers()["location"].to_str().unwrap().starts_with("/api/parcels/"));
    assert_eq!(again.text().await.unwrap(), first);

    let other = post(json!({"recipient": "Lim", "email": email})).await;
    assert_eq!(other.status(), 422);
    assert_eq!(other.json::<Value>().await.unwrap()["type"], "/problems/idempotency-key-reused");
}

#[tokio::test]
async fn pages_follow_one_another_without_gaps_or_repeats() {
    let stack = Stack::running().await;
    let email = own_address("pages");
    let mut made = HashSet::new();
    for number in 0..7 {
        let parcel = stack.create_parcel(&format!("Page {number}"), &email).await;
        made.insert(parcel["id"].as_str().unwrap().to_owned());
    }
    let (mut cursor, mut seen, mut last_time) = (None::<String>, Vec::new(), None::<String>);
    while seen.iter().filter(|id| made.contains(*id)).count() < made.len() {
        let path =
            cursor.map_or("/api/parcels?limit=3".to_owned(), |cursor| format!("/api/parcels?limit=3&cursor={cursor}"));
        let page: Value = stack.get(&path).send().await.unwrap().json().await.unwrap();
        let parcels = page["parcels"].as_array().unwrap();
        assert!(parcels.len() <= 3);
        for parcel in parcels {
            let time = parcel["createdAt"].as_str().unwrap().to_owned();
            assert!(last_time.is_none_or(|last| time <= last), "newest first");
            last_time = Some(time);
            seen.push(parcel["id"].as_str().unwrap().to_owned());
        }
        cursor = Some(page["nextCursor"].as_str().expect("there are more").to_owned());
    }
    assert_eq!(seen.iter().collect::<HashSet<_>>().len(), seen.len(), "no parcel twice");
}

#[tokio::test]
async fn a_list_shows_the_state_of_each_parcels_invoice() {
    let stack = Stack::running().await;
    let parcel = stack.create_parcel("Tan Wei Ming", &own_address("list")).await;
    let invoice = stack.request_invoice(&parcel).await;
    stack.invoice_once(&invoice, "Sent").await;
    let read: Value = stack
        .get(&format!("/api/parcels/{}", parcel["id"].as_str().unwrap()))
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert_eq!(read["invoice"], json!({"id": invoice, "status": "Sent"}));
    let list: Value = stack.get("/api/parcels?limit=100").send().await.unwrap().json().await.unwrap();
    let listed = list["parcels"].as_array().unwrap().iter().find(|listed| listed["id"] == parcel["id"]).unwrap();
    assert_eq!(listed["invoice"], json!({"id": invoice, "status": "Sent"}));
    assert_eq!(listed.get("events"), None);
}

/// How many parcels for this address there are, in the whole list.
async fn parcels_of(stack: &Stack, email: &str) -> usize {
    let (mut count, mut path) = (0, "/api/parcels?limit=100".to_owned());
    loop {
        let page: Value = stack.get(&path).send().await.unwrap().json().await.unwrap();
        count += page["parcels"].as_array().unwrap().iter().filter(|parcel| parcel["email"] == email).count();
        match page["nextCursor"].as_str() {
            Some(cursor) => path = format!("/api/parcels?limit=100&cursor={cursor}"),
            None => return count,
        }
    }
}
