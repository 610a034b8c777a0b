//! One more mail of an invoice, and another address for it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use local_stack::{MERCHANT_KEY, OwnInbox, ServerState};
use parceltrack::clock::SystemClock;
use parceltrack::domain::{
    EmailAddress, Invoice, InvoiceId, InvoiceStatus, Lease, LeaseHolder, LinkToken, Suppression, SuppressionCause,
};
use parceltrack::ports::{AddSuppression as _, Clock as _, WorkOnInvoices as _};
use reqwest::{Method, Response};
use serde_json::{Value, json};
use stack_tests::{PATIENCE, Stack, own_address, rules, smtp, ticket_record, work};
use uuid::Uuid;

async fn resend(stack: &Stack, id: &str) -> Response {
    stack.post(&format!("/api/invoices/{id}/resend")).send().await.unwrap()
}

async fn set_email(stack: &Stack, id: &str, email: &str) -> Response {
    let request = stack.request(Method::PUT, &format!("/api/invoices/{id}/email"), Some(MERCHANT_KEY));
    request.json(&json!({"email": email})).send().await.unwrap()
}

async fn problem(answer: Response, status: u16) -> String {
    assert_eq!(answer.status(), status);
    let problem: Value = answer.json().await.unwrap();
    problem["type"].as_str().unwrap().trim_start_matches("/problems/").to_owned()
}

/// A sent invoice of the deployed stack; its id.
async fn sent(stack: &Stack, email: &str) -> String {
    let parcel = stack.create_parcel("Tan Wei Ming", email).await;
    let id = stack.request_invoice(&parcel).await;
    stack.invoice_once(&id, "Sent").await;
    id
}

async fn read(stack: &Stack, id: &str) -> Invoice {
    stack.invoice(InvoiceId(id.parse::<Uuid>().unwrap())).await
}

/// The invoice once so many mails went to this address and it is `Sent`.
async fn sent_to(stack: &Stack, id: &str, email: &str, mails: usize) -> Value {
    let inbox = stack.addresses.inbox();
    let arrived = inbox.wait_until(PATIENCE, |all| {
        let count = all.iter().filter(|mail| mail.to.iter().any(|to| to.contains(email))).count();
        (count >= mails).then_some(())
    });
    arrived.await.unwrap();
    stack.invoice_once(id, "Sent").await
}

fn outcomes(invoice: &Value) -> Vec<&str> {
    invoice["attempts"].as_array().unwrap().iter().map(|attempt| attempt["outcome"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_sent_invoice_is_mailed_once_more_with_the_same_pdf_and_a_fresh_link() {
    let stack = Stack::running().await;
    let email = own_address("resend");
    let id = sent(&stack, &email).await;
    let before = read(&stack, &id).await;

    let answer = resend(&stack, &id).await;
    assert_eq!(answer.status(), 202);
    assert_eq!(answer.headers()["location"], format!("/api/invoices/{id}"));
    assert_eq!(answer.json::<Value>().await.unwrap(), json!({"id": id, "status": "Generated"}));

    let seen = sent_to(&stack, &id, &email, 2).await;
    assert_eq!(outcomes(&seen), ["Sent", "Reopened", "Sent"]);
    assert_eq!(seen["attempts"][1]["reason"], "another mail was asked for by the merchant lion-city");
    let after = read(&stack, &id).await;
    assert_eq!((after.state.pdf(), after.due), (before.state.pdf(), None));
    assert!(after.link_expires > before.link_expires);
    assert_eq!(after.link_secret, before.link_secret, "so the link of the first mail works as well");
    assert_eq!(stack.mails_to(&email).await, 2);

    let too_soon = resend(&stack, &id).await;
    let wait: u64 = too_soon.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    assert_eq!(problem(too_soon, 429).await, "too-many-requests");
}

#[tokio::test]
async fn twenty_customers_who_ask_at_once_get_one_mail() {
    let stack = Stack::running().await;
    let email = own_address("resend-race");
    let id = sent(&stack, &email).await;
    let answers = join_all((0..20).map(|_| resend(&stack, &id))).await;
    let mut statuses = BTreeMap::new();
    for answer in &answers {
        *statuses.entry(answer.status().as_u16()).or_insert(0) += 1;
    }
    assert!(statuses.keys().all(|status| [202, 429].contains(status)) && statuses[&202] > 0, "{statuses:?}");
    let seen = sent_to(&stack, &id, &email, 2).await;
    assert_eq!(outcomes(&seen), ["Sent", "Reopened", "Sent"]);
    assert_eq!(stack.mails_to(&email).await, 2);
}

#[tokio::test]
async fn an_invoice_on_its_way_is_accepted_and_left_alone() {
    let stack = Stack::running().await;
    let invoice = stack.invoice_without_ticket(&own_address("resend-open")).await;
    let id = invoice.content.id.to_string();
    let answer = resend(&stack, &id).await;
    assert_eq!(answer.status(), 202);
    assert_eq!(answer.json::<Value>().await.unwrap()["status"], "Pending");
    assert_eq!(read(&stack, &id).await, invoice);
}

#[tokio::test]
async fn a_failed_invoice_is_tried_again() {
    let stack = Stack::running().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stack.own_queues().await);
    inbox.set_state(ServerState::Rejecting).await.unwrap();
    let worker = stack.worker(&queues, smtp(&inbox.smtp_url()), rules());
    let email = own_address("resend-failed");
    let invoice = stack.invoice_without_ticket(&email).await;
    assert!(work(&worker, &[ticket_record("m1", &invoice, 1)]).await.is_empty());
    let id = invoice.content.id.to_string();
    stack.invoice_once(&id, "Failed").await;
    assert_eq!(resend(&stack, &id).await.status(), 202);
    let seen = sent_to(&stack, &id, &email, 1).await;
    assert_eq!(outcomes(&seen), ["Failed", "Reopened", "Sent"]);
}

#[tokio::test]
async fn an_address_that_gets_no_mail_is_refused_until_there_is_another_and_the_old_link_ends() {
    let stack = Stack::running().await;
    let (old, new) = (own_address("resend-old"), own_address("resend-new"));
    let id = sent(&stack, &old).await;
    let before = read(&stack, &id).await;
    let old_link = format!("/i/{}", LinkToken { invoice: before.content.id, secret: before.link_secret });
    assert_eq!(stack.request(Method::GET, &old_link, None).send().await.unwrap().status(), 302);
    let suppression = Suppression {
        email: old.parse().unwrap(),
        cause: SuppressionCause::Bounce,
        reason: "the mail came back for good".to_owned(),
        at: SystemClock.now(),
        invoice: before.content.id,
    };
    stack.suppressions().add(&suppression).await.unwrap();
    assert_eq!(problem(resend(&stack, &id).await, 409).await, "address-suppressed");
    assert_eq!(read(&stack, &id).await, before);

    let answer = set_email(&stack, &id, &new).await;
    assert_eq!(answer.status(), 200);
    let seen: Value = answer.json().await.unwrap();
    assert_eq!((&seen["email"], &seen["status"]), (&json!(new), &json!("Sent")), "nothing is mailed by that alone");
    let history = seen["emailHistory"].as_array().unwrap();
    assert_eq!(history.len(), 1);
    assert_eq!((&history[0]["email"], &history[0]["previous"]), (&json!(new), &json!(old)));
    assert_eq!(history[0]["changedBy"], "the merchant lion-city");
    assert!(history[0]["changedAt"].as_str().unwrap().ends_with('Z'));
    let again: Value = set_email(&stack, &id, &new).await.json().await.unwrap();
    assert_eq!(again["emailHistory"].as_array().unwrap().len(), 1, "the same address again is no change");

    assert_eq!(resend(&stack, &id).await.status(), 202);
    sent_to(&stack, &id, &new, 1).await;
    let after = read(&stack, &id).await;
    assert_eq!((&after.content, after.state.pdf()), (&before.content, before.state.pdf()), "issued as it was");
    let new_link = format!("/i/{}", LinkToken { invoice: after.content.id, secret: after.link_secret });
    assert_eq!(stack.request(Method::GET, &new_link, None).send().await.unwrap().status(), 302);
    assert_eq!(stack.request(Method::GET, &old_link, None).send().await.unwrap().status(), 404);
    assert_eq!(stack.mails_to(&old).await, 1);
}

#[tokio::test]
async fn the_next_attempt_goes_to_the_new_address_but_not_while_a_worker_has_read_the_old_one() {
    let stack = Stack::running().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stack.own_queues().await);
    let (old, new) = (own_address("readdress-old"), own_address("readdress-new"));
    let invoice = stack.invoice_without_ticket(&old).await;
    let id = invoice.content.id.to_string();
    assert_eq!(set_email(&stack, &id, &new).await.status(), 200);
    let worker = stack.worker(&queues, smtp(&inbox.smtp_url()), rules());
    assert!(work(&worker, &[ticket_record("m1", &invoice, 1)]).await.is_empty());
    let mails = inbox.mails();
    assert!(mails.len() == 1 && mails[0].to.iter().any(|to| to.contains(&new)), "{:?}", mails[0].to);

    let held = stack.invoice_without_ticket(&old).await;
    let now = SystemClock.now();
    let lease = Lease { holder: LeaseHolder(Uuid::new_v4()), until: now + Duration::from_mins(1) };
    stack.invoices().claim(held.content.id, lease, now).await.unwrap();
    let busy = set_email(&stack, &held.content.id.to_string(), &new).await;
    assert!(busy.headers().contains_key("retry-after"));
    assert_eq!(problem(busy, 409).await, "invoice-busy");
    assert_eq!(*stack.invoice(held.content.id).await.email(), old.parse::<EmailAddress>().unwrap());
}

#[tokio::test]
async fn a_wrong_address_or_body_is_named() {
    let stack = Stack::running().await;
    let id = stack.invoice_without_ticket(&own_address("resend-bad")).await.content.id.to_string();
    for body in [json!({}), json!({"email": "tan"}), json!({"email": 7}), json!({"email": "a@b.example", "name": "x"})]
    {
        let request = stack.request(Method::PUT, &format!("/api/invoices/{id}/email"), Some(MERCHANT_KEY));
        assert_eq!(problem(request.json(&body).send().await.unwrap(), 422).await, "invalid-fields", "{body}");
    }
    let request = stack.post(&format!("/api/invoices/{id}/resend")).json(&json!({"email": "tan@example.com"}));
    assert_eq!(problem(request.send().await.unwrap(), 422).await, "invalid-fields");
    let nobody = Uuid::new_v4().to_string();
    assert_eq!(problem(resend(&stack, &nobody).await, 404).await, "not-found");
    assert_eq!(problem(set_email(&stack, &nobody, "tan@example.com").await, 404).await, "not-found");
}

#[tokio::test]
async fn a_resend_that_the_queue_does_not_take_is_left_to_the_relay() {
    let stack = Stack::running().await;
    let queues = stack.own_queues().await;
    let inbox = OwnInbox::start().await.unwrap();
    let worker = stack.worker(&queues, smtp(&inbox.smtp_url()), rules());
    let invoice = stack.invoice_without_ticket(&own_address("resend-refused")).await;
    assert!(work(&worker, &[ticket_record("m1", &invoice, 1)]).await.is_empty());
    let nowhere = parceltrack::aws::TicketQueue::new(stack.clients.sqs(), format!("{}-gone", queues.tickets));
    let api = stack.api(Arc::new(SystemClock), Arc::new(nowhere));
    let request = axum::http::Request::post(format!("/api/invoices/{}/resend", invoice.content.id))
        .header("authorization", format!("Bearer {MERCHANT_KEY}"))
        .body(axum::body::Body::empty())
        .unwrap();
    let answer = tower::ServiceExt::oneshot(api, request).await.unwrap();
    assert_eq!(answer.status(), 202);
    let open = stack.invoice(invoice.content.id).await;
    assert_eq!(open.state.status(), InvoiceStatus::Generated);
    assert!(open.due.is_some(), "so the relay brings its ticket");
}
