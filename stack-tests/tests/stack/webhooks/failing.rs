//! Endpoints that do not take what they are sent, by the deployed functions.

use parceltrack::domain::DomainEventType;
use serde_json::Value;
use stack_tests::Stack;
use stack_tests::webhooks::{Behaviour, Endpoint, Merchant, story};

const ALL: [DomainEventType; 6] = DomainEventType::ALL;

#[tokio::test]
async fn an_endpoint_that_answers_500_gets_the_same_event_again_some_seconds_later_and_later_ones_wait() {
    let stack = Stack::running().await;
    let (merchant, endpoint) = (Merchant::new(&stack).await, Endpoint::start(Behaviour::Status(500)).await);
    let webhook = merchant.register(&endpoint.url, &ALL).await;
    let events = story(&merchant.owner, 2);
    stack.happen(&events).await;
    let failed = |all: &[Value]| all.iter().any(|one| one["attemptCount"] == 1);
    let deliveries = merchant.deliveries_once(&webhook, failed).await;
    let first = deliveries.iter().find(|one| one["attemptCount"] == 1).unwrap();
    let attempt = &first["attempts"][0];
    assert_eq!((&first["status"], &attempt["statusCode"]), (&"Pending".into(), &500.into()));
    assert_eq!(attempt["responseStart"], "as it was told");
    assert!(attempt["error"].is_null() && first["nextAttemptAt"].is_string());
    endpoint.behave(Behaviour::Status(200));
    let received = endpoint.received_once(|received| received.len() >= 3).await;
    assert_eq!((&received[0].headers[0], &received[0].body), (&received[1].headers[0], &received[1].body));
    assert_eq!(received[2].headers[0], events[1].id.to_string(), "not before the first was taken");
    let seen = merchant.seen_by_operator(&webhook).await;
    assert_eq!(seen["state"], "Active");
    merchant.deliveries_once(&webhook, |all| all.iter().all(|one| one["status"] == "Delivered")).await;
}

#[tokio::test]
async fn a_redirect_is_a_failure_and_nobody_goes_where_it_leads() {
    let stack = Stack::running().await;
    let inside = Endpoint::start(Behaviour::Status(200)).await;
    let (merchant, endpoint) =
        (Merchant::new(&stack).await, Endpoint::start(Behaviour::Redirect(inside.url.clone())).await);
    let webhook = merchant.register(&endpoint.url, &ALL).await;
    stack.happen(&story(&merchant.owner, 1)).await;
    endpoint.received_once(|received| received.len() >= 2).await;
    let deliveries = merchant.deliveries_once(&webhook, |all| all.iter().any(|one| one["attemptCount"] == 2)).await;
    assert_eq!(deliveries[0]["status"], "Pending");
    assert!(deliveries[0]["attempts"].as_array().unwrap().iter().all(|attempt| attempt["statusCode"] == 307));
    assert!(inside.received().is_empty());
}

#[tokio::test]
async fn an_endpoint_that_says_it_is_gone_is_switched_off_at_once_and_its_merchant_told_by_one_mail() {
    let stack = Stack::running().await;
    let (merchant, endpoint) = (Merchant::new(&stack).await, Endpoint::start(Behaviour::Status(410)).await);
    let webhook = merchant.register(&endpoint.url, &ALL).await;
    let email = format!("{}@example.com", merchant.owner);
    merchant.confirm_contact(&email).await;
    let confirmed = merchant.seen_by_operator(&webhook).await;
    assert!(confirmed["contactConfirmedAt"].is_string() && confirmed["confirmationSentAt"].is_string());
    let events = story(&merchant.owner, 2);
    stack.happen(&events).await;
    merchant
        .deliveries_once(&webhook, |all| all.len() == 2 && all.iter().all(|one| one["status"] == "Withdrawn"))
        .await;
    let seen = merchant.seen_by_operator(&webhook).await;
    assert_eq!((&seen["state"], &seen["switchedOffReason"]), (&"SwitchedOff".into(), &"Gone".into()));
    assert_eq!(seen["switchOffNotice"], "Sent");
    assert_eq!(stack.mails_to(&email).await, 2, "the confirmation, and that");
    assert_eq!(endpoint.received().len(), 1, "it wants no more");

    // What happens now is kept, and comes once it is wanted again.
    let path = format!("/api/webhooks/{}", webhook["id"].as_str().unwrap());
    merchant.ask(reqwest::Method::POST, &format!("{path}/test"), None, 409).await;
    endpoint.behave(Behaviour::Status(200));
    let enabled = merchant.ask(reqwest::Method::POST, &format!("{path}/enable"), None, 200).await;
    assert_eq!((&enabled["state"], &enabled["consecutiveFailures"]), (&"Active".into(), &0.into()));
    let since = serde_json::json!({"since": webhook["createdAt"]});
    merchant.ask(reqwest::Method::POST, &format!("{path}/resend"), Some(since), 202).await;
    let received = endpoint.received_once(|received| received.len() >= 3).await;
    assert_eq!(received[2].headers[0], events[1].id.to_string());
    merchant.deliveries_once(&webhook, |all| all.iter().all(|one| one["status"] == "Delivered")).await;
}
