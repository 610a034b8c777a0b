//! One endpoint's trouble is not another's.

use parceltrack::domain::{DomainEventType, FIRST_DUE, Timestamp};
use serde_json::Value;
use stack_tests::Stack;
use stack_tests::webhooks::{Behaviour, Endpoint, Merchant, story};

const ALL: [DomainEventType; 6] = DomainEventType::ALL;

/// So many happen at once.
const BURST: usize = 80;

/// How many of the hanging endpoint's calls may have begun while the other got all of its events. Without a limit there
/// would be one for each event of the backlog.
const CALLS_MEANWHILE: usize = 12;

#[tokio::test]
async fn an_endpoint_that_hangs_with_a_backlog_does_not_delay_another() {
    let stack = Stack::running().await;
    let (sick, well) = (Merchant::new(&stack).await, Merchant::new(&stack).await);
    let (hangs, answers) = tokio::join!(Endpoint::start(Behaviour::Hang), Endpoint::start(Behaviour::Status(200)));
    let webhook = sick.register(&hangs.url, &ALL).await;
    well.register(&answers.url, &ALL).await;
    // Forty parcels, so that no order within one keeps them back.
    let backlog: Vec<_> = (0..40).flat_map(|_| story(&sick.owner, 1)).collect();
    stack.happen(&backlog).await;
    hangs.received_once(|received| !received.is_empty()).await;
    let begun = hangs.received().len();
    let events: Vec<_> = (0..10).flat_map(|_| story(&well.owner, 1)).collect();
    stack.happen(&events).await;
    answers.received_once(|received| received.len() >= 10).await;
    let meanwhile = hangs.received().len() - begun;
    assert!(meanwhile <= CALLS_MEANWHILE, "{meanwhile} calls of the hanging one");

    // A person who has mended it sees so at once, though it is left alone for now.
    hangs.behave(Behaviour::Status(200));
    let path = format!("/api/webhooks/{}/test", webhook["id"].as_str().unwrap());
    sick.ask(reqwest::Method::POST, &path, None, 202).await;
    hangs.received_once(|received| received.iter().any(|one| one.event()["type"] == "WebhookTest")).await;
}

#[tokio::test]
async fn a_burst_reaches_an_endpoint_that_takes_it_before_the_relay_would_look() {
    let stack = Stack::running().await;
    let merchant = Merchant::new(&stack).await;
    let endpoint = Endpoint::start(Behaviour::Status(200)).await;
    let webhook = merchant.register(&endpoint.url, &ALL).await;
    let burst: Vec<_> = (0..BURST).flat_map(|_| story(&merchant.owner, 1)).collect();
    stack.happen(&burst).await;
    endpoint.received_once(|received| received.len() >= BURST).await;
    let deliveries = merchant
        .deliveries_once(&webhook, |deliveries| deliveries.iter().all(|delivery| delivery["status"] == "Delivered"))
        .await;
    assert_eq!(deliveries.len(), BURST);
    let time = |delivery: &Value, name: &str| Timestamp::parse(delivery[name].as_str().unwrap()).unwrap();
    for delivery in &deliveries {
        let waited = time(delivery, "endedAt").since(time(delivery, "createdAt"));
        assert!(waited < FIRST_DUE, "one waited {waited:?}: its ticket did not bring it there");
    }
}
