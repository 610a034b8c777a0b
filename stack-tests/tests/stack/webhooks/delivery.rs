//! From the bus to the endpoint: everything once, in order, and signed.

use std::time::Duration;

use local_stack::{LocalStack, Options, Ports};
use parceltrack::domain::{DeliveryId, DeliverySubject, DomainEventType, WebhookId};
use parceltrack::ports::{ListWebhookDeliveries as _, ReadWebhookDeliveries as _};
use reqwest::Method;
use serde_json::Value;
use stack_tests::webhooks::{Behaviour, Endpoint, Merchant, story};
use stack_tests::{PATIENCE, Stack};

use super::checked_by_python;

const ALL: [DomainEventType; 6] = DomainEventType::ALL;

fn ids(requests: &[stack_tests::webhooks::Received]) -> Vec<String> {
    requests.iter().map(|request| request.headers[0].clone()).collect()
}

#[tokio::test]
async fn each_event_arrives_once_in_order_and_signed_though_the_bus_shuffles_and_repeats() {
    let stack = Stack::running().await;
    let (merchant, endpoint) = (Merchant::new(&stack).await, Endpoint::start(Behaviour::Status(204)).await);
    let webhook = merchant.register(&endpoint.url, &ALL).await;
    let events = story(&merchant.owner, 6);
    let [first, second, third, fourth, fifth, sixth] = [0, 1, 2, 3, 4, 5].map(|index| events[index].clone());
    stack.happen(&[third.clone(), first.clone(), second.clone(), first]).await;
    stack.happen(&[sixth.clone(), fifth, third, second, fourth, sixth]).await;

    let received = endpoint.received_once(|received| received.len() >= 6).await;
    let told: Vec<String> = events.iter().map(|event| event.id.to_string()).collect();
    assert_eq!(ids(&received), told, "in the order in which they happened");
    for (request, event) in received.iter().zip(&events) {
        assert_eq!(request.event(), serde_json::to_value(event).unwrap());
    }
    let secret = webhook["secret"].as_str().unwrap();
    assert_eq!(checked_by_python(&received, secret).await, vec![None; 6]);
    let mut tampered = received.clone();
    for request in &mut tampered {
        request.body = request.body.replace("LCL", "LCM");
    }
    assert!(checked_by_python(&tampered, secret).await.iter().all(Option::is_some));

    let deliveries = merchant.deliveries_once(&webhook, |all| all.iter().all(|one| one["status"] == "Delivered")).await;
    assert_eq!(deliveries.len(), 6);
    for delivery in &deliveries {
        assert_eq!((&delivery["attemptCount"], &delivery["attempts"][0]["statusCode"]), (&1.into(), &204.into()));
        assert!(delivery["nextAttemptAt"].is_null() && delivery["endedAt"].is_string());
    }
    assert_eq!(endpoint.received().len(), 6, "nothing twice");
}

#[tokio::test]
async fn an_endpoint_hears_of_the_types_it_wants_and_of_its_own_merchants_events_only() {
    let stack = Stack::running().await;
    let (merchant, other) = (Merchant::new(&stack).await, Merchant::new(&stack).await);
    let [everything, changes, others] = [(); 3].map(|()| Endpoint::start(Behaviour::Status(200)));
    let (everything, changes, others) = tokio::join!(everything, changes, others);
    merchant.register(&everything.url, &ALL).await;
    merchant.register(&changes.url, &[DomainEventType::ParcelStatusChanged]).await;
    other.register(&others.url, &ALL).await;
    let (events, foreign) = (story(&merchant.owner, 3), story(&other.owner, 2));
    stack.happen(&events).await;
    stack.happen(&foreign).await;
    let all = everything.received_once(|received| received.len() >= 3).await;
    let some = changes.received_once(|received| received.len() >= 2).await;
    let theirs = others.received_once(|received| received.len() >= 2).await;
    let told: Vec<String> = events.iter().map(|event| event.id.to_string()).collect();
    assert_eq!((ids(&all), ids(&some)), (told.clone(), told[1..].to_vec()));
    assert_eq!(ids(&theirs), foreign.iter().map(|event| event.id.to_string()).collect::<Vec<_>>());
}

#[tokio::test]
async fn after_a_rotation_the_old_and_the_new_secret_both_verify() {
    let stack = Stack::running().await;
    let (merchant, endpoint) = (Merchant::new(&stack).await, Endpoint::start(Behaviour::Status(200)).await);
    let webhook = merchant.register(&endpoint.url, &ALL).await;
    let path = format!("/api/webhooks/{}", webhook["id"].as_str().unwrap());
    let rotated = merchant.ask(Method::POST, &format!("{path}/rotate-secret"), None, 200).await;
    let (old, new) = (webhook["secret"].as_str().unwrap(), rotated["secret"].as_str().unwrap());
    assert_ne!(old, new);
    assert_eq!(rotated["previousSecretsUntil"].as_array().unwrap().len(), 1);
    assert!(merchant.ask(Method::GET, &path, None, 200).await["secret"].is_null(), "shown once");
    stack.happen(&story(&merchant.owner, 1)).await;
    let received = endpoint.received_once(|received| !received.is_empty()).await;
    assert_eq!(received[0].headers[2].split(' ').count(), 2);
    for secret in [old, new] {
        assert_eq!(checked_by_python(&received, secret).await, [None]);
    }
    let another = merchant.register(&endpoint.url, &ALL).await;
    assert!(checked_by_python(&received, another["secret"].as_str().unwrap()).await[0].is_some());
}

#[tokio::test]
async fn a_test_event_comes_on_demand_and_a_delivery_again_with_the_same_bytes() {
    let stack = Stack::running().await;
    let (merchant, endpoint) = (Merchant::new(&stack).await, Endpoint::start(Behaviour::Status(200)).await);
    let webhook = merchant.register(&endpoint.url, &[DomainEventType::InvoiceSent]).await;
    let path = format!("/api/webhooks/{}", webhook["id"].as_str().unwrap());
    let accepted = merchant.ask(Method::POST, &format!("{path}/test"), None, 202).await;
    let received = endpoint.received_once(|received| !received.is_empty()).await;
    let event = received[0].event();
    assert_eq!((&event["type"], &event["data"]["webhookId"]), (&"WebhookTest".into(), &webhook["id"]));
    assert_eq!(checked_by_python(&received, webhook["secret"].as_str().unwrap()).await, [None]);

    let id = accepted["id"].as_str().unwrap();
    let delivered = |all: &[Value]| all.iter().all(|one| one["status"] == "Delivered");
    merchant.deliveries_once(&webhook, delivered).await;
    merchant.ask(Method::POST, &format!("{path}/deliveries/{id}/resend"), None, 202).await;
    let received = endpoint.received_once(|received| received.len() >= 2).await;
    assert_eq!((&received[0].headers[0], &received[0].body), (&received[1].headers[0], &received[1].body));
    let twice = |all: &[Value]| all[0]["attemptCount"] == 2 && all[0]["status"] == "Delivered";
    merchant.deliveries_once(&webhook, twice).await;
    let shown = merchant.ask(Method::GET, &format!("{path}/deliveries/{id}"), None, 200).await;
    assert_eq!(shown["body"], received[0].body);
}

#[tokio::test]
async fn all_since_a_time_are_sent_again_in_order() {
    let stack = Stack::running().await;
    let (merchant, endpoint) = (Merchant::new(&stack).await, Endpoint::start(Behaviour::Status(200)).await);
    let webhook = merchant.register(&endpoint.url, &ALL).await;
    let events = story(&merchant.owner, 4);
    stack.happen(&events).await;
    merchant
        .deliveries_once(&webhook, |all| all.len() == 4 && all.iter().all(|one| one["status"] == "Delivered"))
        .await;
    let path = format!("/api/webhooks/{}/resend", webhook["id"].as_str().unwrap());
    // All were delivered, so of the undelivered there are none.
    let since = webhook["createdAt"].clone();
    merchant.ask(Method::POST, &path, Some(serde_json::json!({"since": since})), 202).await;
    merchant.ask(Method::POST, &path, Some(serde_json::json!({"since": since, "which": "all"})), 202).await;
    let received = endpoint.received_once(|received| received.len() >= 8).await;
    assert_eq!(ids(&received[4..]), events.iter().map(|event| event.id.to_string()).collect::<Vec<_>>());
    merchant.deliveries_once(&webhook, |all| all.iter().all(|one| one["attemptCount"] == 2)).await;
    assert_eq!(endpoint.received().len(), 8);
}

/// On a stack of its own, since others should not die with its worker.
#[tokio::test(flavor = "multi_thread")]
async fn killing_the_worker_in_the_middle_of_a_call_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let local = LocalStack::start(Options {
        root: super::root().canonicalize().unwrap(),
        ports: Ports::free(),
        state_dir: directory.path().join("state"),
        fresh: true,
        parameters: [].into(),
        faults: None,
        progress: std::sync::Arc::new(|_| {}),
    })
    .await
    .unwrap();
    let stack = Stack::at(local.addresses().clone()).await;
    let (merchant, endpoint) = (Merchant::new(&stack).await, Endpoint::start(Behaviour::Hang).await);
    let webhook = merchant.register(&endpoint.url, &ALL).await;
    let events = story(&merchant.owner, 3);
    stack.happen(&events).await;
    endpoint.received_once(|received| !received.is_empty()).await;
    let workers = local.addresses().function_processes("WebhookWorkerFunctionName").unwrap();
    assert!(!workers.is_empty());
    local.addresses().kill(&workers);
    endpoint.behave(Behaviour::Status(200));

    let webhook_id = WebhookId(webhook["id"].as_str().unwrap().parse().unwrap());
    let end = tokio::time::Instant::now() + 2 * PATIENCE;
    loop {
        let page = stack.webhook_deliveries().deliveries(webhook_id, None, 10, None).await.unwrap();
        let delivered = page.deliveries.iter().filter(|one| one.state.status().name() == "Delivered").count();
        if delivered == 3 {
            break;
        }
        assert!(tokio::time::Instant::now() < end, "{page:#?}");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    assert_eq!(endpoint.event_ids().len(), 3);
    let subject = DeliverySubject::Event(events[0].subject());
    let first = stack.webhook_deliveries().delivery(webhook_id, DeliveryId { subject, sequence: 1 }).await.unwrap();
    assert_eq!(first.unwrap().attempt_count, 1, "nobody was left to write down how the first call ended");
    let order = ids(&endpoint.received());
    assert_eq!(order.last(), Some(&events[2].id.to_string()), "{order:?}");
    local.stop().await;
}
