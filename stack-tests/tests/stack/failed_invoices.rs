//! The list of failed invoices: what operators must look at.

use std::collections::HashSet;

use local_stack::{OPERATOR_KEY, OwnInbox, ServerState};
use reqwest::Method;
use serde_json::Value;
use stack_tests::{Stack, own_address, rules, smtp, ticket_record, work};

/// All failed invoices, page by page.
async fn failed(stack: &Stack) -> Vec<Value> {
    let (mut listed, mut cursor) = (Vec::new(), String::new());
    loop {
        let path = format!("/api/invoices?status=Failed&limit=2{cursor}");
        let answer = stack.request(Method::GET, &path, Some(OPERATOR_KEY)).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        let page: Value = answer.json().await.unwrap();
        listed.extend(page["invoices"].as_array().unwrap().iter().cloned());
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return listed,
        }
    }
}

#[tokio::test]
async fn failed_invoices_are_listed_latest_first_and_until_they_are_opened_again() {
    let stack = Stack::running().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stack.own_queues().await);
    let worker = stack.worker(&queues, smtp(&inbox.smtp_url()), rules());
    inbox.set_state(ServerState::Rejecting).await.unwrap();
    let (first, second) =
        (stack.invoice_without_ticket(&own_address("a")).await, stack.invoice_without_ticket(&own_address("b")).await);
    let before = failed(&stack).await;
    assert!(work(&worker, &[ticket_record("m1", &first, 1)]).await.is_empty());
    let letters = queues.redriven().await;
    assert!(work(&worker, &[ticket_record("m2", &second, 1)]).await.is_empty());

    let (first, second) = (first.content.id.to_string(), second.content.id.to_string());
    let listed = failed(&stack).await;
    let place = |id: &str| listed.iter().position(|invoice| invoice["id"] == id);
    assert!(!before.iter().any(|invoice| invoice["id"] == first || invoice["id"] == second));
    assert!(place(&second).unwrap() < place(&first).unwrap(), "{listed:?}");
    let ids: HashSet<_> = listed.iter().map(|invoice| invoice["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), listed.len(), "none twice");
    let shown = &listed[place(&second).unwrap()];
    assert_eq!((&shown["status"], &shown["recipient"]), (&"Failed".into(), &"Tan Wei Ming".into()));
    assert!(shown["reason"].as_str().unwrap().contains("550"), "{shown}");
    assert!(shown["failedAt"].is_string() && shown["email"].as_str().unwrap().starts_with("b-"), "{shown}");

    inbox.set_state(ServerState::Running).await.unwrap();
    assert!(work(&worker, &letters).await.is_empty());
    let listed = failed(&stack).await;
    assert!(!listed.iter().any(|invoice| invoice["id"] == first));
    assert!(listed.iter().any(|invoice| invoice["id"] == second));
}

#[tokio::test]
async fn only_failed_invoices_have_a_list() {
    let stack = Stack::running().await;
    for query in ["", "?status=Sent", "?status=failed", "?status=Failed&cursor=x", "?status=Failed&limit=101"] {
        let path = format!("/api/invoices{query}");
        let answer = stack.request(Method::GET, &path, Some(OPERATOR_KEY)).send().await.unwrap();
        assert_eq!(answer.status(), 400, "{query}");
        assert_eq!(answer.json::<Value>().await.unwrap()["type"], "/problems/invalid-parameter");
    }
}
