//! Mail by SES v2, on the emulator's SES: the same mail as by SMTP, through the other adapter.

use std::sync::Arc;

use parceltrack::aws::Ses;
use parceltrack::domain::{InvoiceState, InvoiceStatus};
use parceltrack::mime::Sender;
use serde_json::Value;
use stack_tests::{Stack, own_address, rules, ticket_record, work};
use uuid::Uuid;

fn ses(stack: &Stack, domain: &str) -> Arc<Ses> {
    let sender = Sender::parse(&format!("Lion City Logistics <invoices@{domain}>")).unwrap();
    Arc::new(Ses::new(stack.clients.sesv2(), sender, "parceltrack".to_owned()))
}

#[tokio::test]
async fn an_invoice_goes_out_by_ses_once() {
    let stack = Stack::running().await;
    let domain = format!("{}.example", Uuid::new_v4().simple());
    stack.clients.sesv2().create_email_identity().email_identity(&domain).send().await.unwrap();
    let (queues, email) = (stack.own_queues().await, own_address("ses"));
    let worker = stack.worker(&queues, ses(&stack, &domain), rules());
    let invoice = stack.invoice_without_ticket(&email).await;
    for id in ["m1", "m2"] {
        assert!(work(&worker, &[ticket_record(id, &invoice, 1)]).await.is_empty());
    }
    let sent = stack.invoice(invoice.content.id).await;
    assert_eq!(sent.state.status(), InvoiceStatus::Sent);

    let url = format!("{}/_ministack/ses/messages", stack.addresses.emulator_url);
    let all = stack.open(&url).await.text().await.unwrap();
    let all: Value = serde_json::from_str(&all).unwrap();
    let mut to_us = Vec::new();
    collect(&all, &email, &mut to_us);
    assert_eq!(to_us.len(), 1, "{to_us:?}");
    assert!(to_us[0].to_string().contains(invoice.content.number.as_str()), "{}", to_us[0]);
}

#[tokio::test]
async fn a_mail_that_ses_rejects_fails_with_its_words_and_a_dead_letter() {
    let stack = Stack::running().await;
    let domain = format!("{}.example", Uuid::new_v4().simple());
    let (queues, email) = (stack.own_queues().await, own_address("ses-rejected"));
    // Nobody has verified this sender: SES answers MessageRejected.
    let worker = stack.worker(&queues, ses(&stack, &domain), rules());
    let invoice = stack.invoice_without_ticket(&email).await;
    assert!(work(&worker, &[ticket_record("m1", &invoice, 1)]).await.is_empty());
    let failed = stack.invoice(invoice.content.id).await;
    let InvoiceState::Failed { reason, .. } = failed.state else { panic!("{:?}", failed.state) };
    assert!(reason.contains("MessageRejected"), "{reason}");
    assert_eq!(queues.take(&queues.dead_letters).await.len(), 1);
}

/// The emulator's records of mails to this address, wherever they stand in its answer.
fn collect<'a>(value: &'a Value, email: &str, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(object) if object.contains_key("MessageId") && value["To"].to_string().contains(email) => {
            found.push(value);
        }
        Value::Object(object) => object.values().for_each(|value| collect(value, email, found)),
        Value::Array(array) => array.iter().for_each(|value| collect(value, email, found)),
        _ => {}
    }
}
