//! Registering webhooks and looking after them.

use futures::future::join_all;
use parceltrack::domain::DomainEventType;
use reqwest::Method;
use serde_json::{Value, json};
use stack_tests::Stack;
use stack_tests::webhooks::{Behaviour, Endpoint, Merchant, story};
use uuid::Uuid;

const URL: &str = "https://shop.example.com/webhooks";

fn body() -> Value {
    json!({"url": URL, "eventTypes": ["ParcelCreated", "InvoiceSent"], "contactEmail": "tan@example.com"})
}

/// A webhook as it was made: its contact may be asked at any moment afterwards.
fn as_made(mut webhook: Value) -> Value {
    webhook["confirmationSentAt"] = Value::Null;
    webhook
}

#[tokio::test]
async fn a_webhook_is_registered_listed_seen_and_deleted() {
    let stack = Stack::running().await;
    let (merchant, other) = (Merchant::new(&stack).await, Merchant::new(&stack).await);
    let made = merchant.ask(Method::POST, "/api/webhooks", Some(body()), 201).await;
    assert!(made["secret"].as_str().unwrap().starts_with("whsec_"));
    let mut shown = as_made(made.clone());
    shown.as_object_mut().unwrap().remove("secret");
    let listed = merchant.ask(Method::GET, "/api/webhooks", None, 200).await;
    assert_eq!(listed["webhooks"].as_array().unwrap().len(), 1);
    assert_eq!(as_made(listed["webhooks"][0].clone()), shown);
    let path = format!("/api/webhooks/{}", made["id"].as_str().unwrap());
    assert_eq!(as_made(merchant.ask(Method::GET, &path, None, 200).await), shown);
    assert_eq!(as_made(merchant.seen_by_operator(&made).await), shown);
    for (key, value) in
        [("url", json!(URL)), ("state", json!("Active")), ("eventTypes", json!(["ParcelCreated", "InvoiceSent"]))]
    {
        assert_eq!(shown[key], value);
    }
    for (method, path) in
        [(Method::GET, path.clone()), (Method::DELETE, path.clone()), (Method::POST, format!("{path}/test"))]
    {
        other.ask(method, &path, None, 404).await;
    }
    other.ask(Method::GET, &format!("/api/webhooks?owner={}", merchant.owner), None, 404).await;
    merchant.ask(Method::DELETE, &path, None, 204).await;
    merchant.ask(Method::DELETE, &path, None, 404).await;
    assert_eq!(merchant.ask(Method::GET, "/api/webhooks", None, 200).await, json!({"webhooks": []}));
}

#[tokio::test]
async fn the_same_key_makes_one_webhook_and_no_copy_of_its_secret() {
    let stack = Stack::running().await;
    let merchant = Merchant::new(&stack).await;
    let key = Uuid::new_v4().to_string();
    let send = async |body: Value| {
        let request = merchant.request(Method::POST, "/api/webhooks").header("idempotency-key", &key).json(&body);
        let answer = request.send().await.unwrap();
        let replayed = answer.headers().contains_key("idempotent-replayed");
        (answer.status().as_u16(), replayed, answer.json::<Value>().await.unwrap())
    };
    let (status, replayed, first) = send(body()).await;
    assert_eq!((status, replayed), (201, false));
    let (status, replayed, again) = send(body()).await;
    assert_eq!((status, replayed, as_made(again)), (201, true, as_made(first)));
    let other = json!({"url": URL, "eventTypes": ["ParcelCreated"], "contactEmail": "tan@example.com"});
    assert_eq!(send(other).await.0, 422);
    let table = stack.addresses.output("IdempotencyTableName").unwrap();
    let rows = stack.clients.dynamodb().scan().table_name(table).send().await.unwrap();
    let ours: Vec<String> =
        rows.items().iter().map(|row| format!("{row:?}")).filter(|row| row.contains(&key)).collect();
    assert_eq!(ours.len(), 1);
    assert!(!ours[0].contains("whsec_"), "{}", ours[0]);
}

#[tokio::test]
async fn a_merchant_has_ten_webhooks_and_a_repeat_is_no_eleventh() {
    let stack = Stack::running().await;
    let merchant = Merchant::new(&stack).await;
    let key = Uuid::new_v4().to_string();
    for number in 0..10 {
        let mut request = merchant.request(Method::POST, "/api/webhooks").json(&body());
        if number == 0 {
            request = request.header("idempotency-key", &key);
        }
        assert_eq!(request.send().await.unwrap().status(), 201);
    }
    let problem = merchant.ask(Method::POST, "/api/webhooks", Some(body()), 409).await;
    assert_eq!(problem["type"], "/problems/too-many-webhooks");
    let again = merchant.request(Method::POST, "/api/webhooks").json(&body()).header("idempotency-key", &key);
    assert_eq!(again.send().await.unwrap().status(), 201);
}

#[tokio::test]
async fn of_fifty_at_once_ten_are_made_and_each_deletion_gives_one_place_back() {
    let stack = Stack::running().await;
    let merchant = Merchant::new(&stack).await;
    let create = async || {
        let answer = merchant.request(Method::POST, "/api/webhooks").json(&body()).send().await.unwrap();
        answer.status().as_u16()
    };
    let count = async || {
        let all = merchant.ask(Method::GET, "/api/webhooks", None, 200).await;
        all["webhooks"].as_array().unwrap().clone()
    };
    let answers = join_all((0..50).map(|_| create())).await;
    // A busy emulator may answer 503; nothing was made then.
    assert!(answers.iter().all(|status| [201, 409, 503].contains(status)), "{answers:?}");
    while create().await != 409 {}
    let made = count().await;
    assert_eq!(made.len(), 10, "{answers:?}");

    let delete = async |webhook: &Value| {
        let path = format!("/api/webhooks/{}", webhook["id"].as_str().unwrap());
        merchant.ask(Method::DELETE, &path, None, 204).await;
    };
    tokio::join!(join_all(made[..4].iter().map(delete)), join_all((0..20).map(|_| create())));
    assert!(count().await.len() <= 10);
    while create().await != 409 {}
    assert_eq!(count().await.len(), 10, "every place that was given back can be taken");
}

#[tokio::test]
async fn what_is_wrong_is_said_field_by_field() {
    let stack = Stack::running().await;
    let merchant = Merchant::new(&stack).await;
    let cases = [
        (json!({}), vec!["url", "eventTypes", "contactEmail"]),
        (json!({"url": 7, "eventTypes": "x", "contactEmail": "x"}), vec!["url", "eventTypes", "contactEmail"]),
        (json!({"url": URL, "eventTypes": [], "contactEmail": "tan@example.com"}), vec!["eventTypes"]),
        (
            json!({"url": URL, "eventTypes": ["ParcelCreated", "parcelcreated", 7, "ParcelCreated"], "contactEmail": "tan@example.com", "x": 1}),
            vec!["eventTypes[1]", "eventTypes[2]", "eventTypes[3]", "x"],
        ),
        (json!({"url": URL, "eventTypes": ["WebhookTest"], "contactEmail": "tan@example.com"}), vec!["eventTypes[0]"]),
    ];
    for (body, wrong) in cases {
        let problem = merchant.ask(Method::POST, "/api/webhooks", Some(body.clone()), 422).await;
        let fields: Vec<_> =
            problem["errors"].as_array().unwrap().iter().map(|error| error["field"].as_str().unwrap()).collect();
        assert_eq!(fields, wrong, "{body}");
    }
    let webhook = merchant.ask(Method::POST, "/api/webhooks", Some(body()), 201).await;
    let path = format!("/api/webhooks/{}", webhook["id"].as_str().unwrap());
    for body in [
        json!({}),
        json!({"since": "x"}),
        json!({"since": "2999-01-01T00:00:00Z"}),
        json!({"since": "2026-01-01T00:00:00Z", "which": "some"}),
    ] {
        merchant.ask(Method::POST, &format!("{path}/resend"), Some(body), 422).await;
    }
    for query in ["status=x", "cursor=x", "limit=0"] {
        merchant.ask(Method::GET, &format!("{path}/deliveries?{query}"), None, 400).await;
    }
    merchant.ask(Method::GET, &format!("{path}/deliveries/x"), None, 400).await;
    merchant.ask(Method::GET, &format!("{path}/deliveries/parcel-{}-1", Uuid::new_v4()), None, 404).await;
    merchant.ask(Method::POST, &format!("{path}/deliveries/parcel-{}-1/resend", Uuid::new_v4()), None, 404).await;
}

#[tokio::test]
async fn four_secrets_at_most_are_good_at_once() {
    let stack = Stack::running().await;
    let merchant = Merchant::new(&stack).await;
    let webhook = merchant.ask(Method::POST, "/api/webhooks", Some(body()), 201).await;
    let path = format!("/api/webhooks/{}/rotate-secret", webhook["id"].as_str().unwrap());
    for number in 1..=3 {
        let rotated = merchant.ask(Method::POST, &path, None, 200).await;
        assert_eq!(rotated["previousSecretsUntil"].as_array().unwrap().len(), number);
    }
    let answer = merchant.request(Method::POST, &path).send().await.unwrap();
    assert_eq!(answer.status(), 429);
    let wait: u64 = answer.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((23 * 3600..=24 * 3600).contains(&wait), "{wait}");
}

#[tokio::test]
async fn deliveries_are_listed_page_by_page_and_by_status() {
    let stack = Stack::running().await;
    let (merchant, endpoint) = (Merchant::new(&stack).await, Endpoint::start(Behaviour::Status(200)).await);
    let webhook = merchant.register(&endpoint.url, &DomainEventType::ALL).await;
    let events: Vec<_> = (0..5).flat_map(|_| story(&merchant.owner, 1)).collect();
    stack.happen(&events).await;
    merchant
        .deliveries_once(&webhook, |all| all.len() == 5 && all.iter().all(|one| one["status"] == "Delivered"))
        .await;
    let path = format!("/api/webhooks/{}/deliveries", webhook["id"].as_str().unwrap());
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = merchant.ask(Method::GET, &format!("{path}?limit=2{cursor}"), None, 200).await;
        seen.extend(
            page["deliveries"].as_array().unwrap().iter().map(|one| one["eventId"].as_str().unwrap().to_owned()),
        );
        let Some(next) = page["nextCursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    seen.sort();
    let mut told: Vec<String> = events.iter().map(|event| event.id.to_string()).collect();
    told.sort();
    assert_eq!(seen, told);
    for (status, count) in [("Delivered", 5), ("Pending", 0), ("Failed", 0)] {
        let page = merchant.ask(Method::GET, &format!("{path}?status={status}"), None, 200).await;
        assert_eq!(page["deliveries"].as_array().unwrap().len(), count, "{status}");
    }
    merchant.ask(Method::GET, &format!("{path}?status=Failed{cursor}"), None, 400).await;
}
