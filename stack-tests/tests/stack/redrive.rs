//! Dead letters that somebody redrove, as the AWS console does: the old body and attributes in a new message.

use std::sync::Arc;

use aws_sdk_sqs::types::MessageAttributeValue;
use futures::future::join_all;
use local_stack::{OwnInbox, ServerState};
use parceltrack::aws::LETTER_ATTRIBUTE;
use parceltrack::clock::SystemClock;
use parceltrack::domain::{AttemptOutcome, FIRST_DUE, InvoiceStatus, LetterId, Reopened, Reopening, Wish};
use parceltrack::ports::{Clock as _, ReopenInvoices as _};
use stack_tests::{Stack, own_address, rules, smtp, ticket_record, work};

async fn status(stack: &Stack, invoice: &parceltrack::domain::Invoice) -> InvoiceStatus {
    stack.invoice(invoice.content.id).await.state.status()
}

#[tokio::test]
async fn a_redriven_dead_letter_is_one_more_try_and_a_repeat_of_it_is_none() {
    let stack = Stack::running().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stack.own_queues().await);
    let worker = stack.worker(&queues, smtp(&inbox.smtp_url()), rules());
    inbox.set_state(ServerState::Rejecting).await.unwrap();
    let invoice = stack.invoice_without_ticket(&own_address("redriven")).await;
    assert!(work(&worker, &[ticket_record("m1", &invoice, 1)]).await.is_empty());
    assert_eq!(status(&stack, &invoice).await, InvoiceStatus::Failed);
    let first = queues.redriven().await;
    assert_eq!(first.len(), 1);

    // An old ticket, which nobody redrove, is none.
    assert!(work(&worker, &[ticket_record("m2", &invoice, 1)]).await.is_empty());
    assert!(queues.redriven().await.is_empty());

    // The cause is not mended yet: it fails again, with a letter of its own, and the first letter has had its try.
    assert!(work(&worker, &first).await.is_empty());
    let second = queues.redriven().await;
    assert_eq!(second.len(), 1);
    assert!(work(&worker, &first).await.is_empty());
    assert!(queues.redriven().await.is_empty(), "the first letter once more is not even tried");

    inbox.set_state(ServerState::Running).await.unwrap();
    assert!(work(&worker, &second).await.is_empty());
    assert_eq!(status(&stack, &invoice).await, InvoiceStatus::Sent);
    for again in [&first, &second, &second] {
        assert!(work(&worker, again).await.is_empty());
    }
    assert_eq!(inbox.mails().len(), 1);
    let outcomes: Vec<_> =
        stack.invoice(invoice.content.id).await.attempts.iter().map(|attempt| attempt.outcome).collect();
    let expected = ["Failed", "Reopened", "Failed", "Reopened", "Sent"];
    assert_eq!(outcomes.iter().map(|outcome: &AttemptOutcome| format!("{outcome:?}")).collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn ten_workers_at_once_with_one_redriven_letter_send_one_mail() {
    let stack = Stack::running().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stack.own_queues().await);
    inbox.set_state(ServerState::Rejecting).await.unwrap();
    let worker = stack.worker(&queues, smtp(&inbox.smtp_url()), rules());
    let invoice = stack.invoice_without_ticket(&own_address("race")).await;
    assert!(work(&worker, &[ticket_record("m1", &invoice, 1)]).await.is_empty());
    let letter = queues.redriven().await;
    inbox.set_state(ServerState::Running).await.unwrap();
    let workers: Vec<_> = (0..10).map(|_| stack.worker(&queues, smtp(&inbox.smtp_url()), rules())).collect();
    join_all(workers.iter().map(|worker| work(worker, &letter))).await;
    assert_eq!(inbox.mails().len(), 1);
    assert_eq!(status(&stack, &invoice).await, InvoiceStatus::Sent);
}

#[tokio::test]
async fn twenty_letters_at_once_open_an_invoice_once() {
    let stack = Stack::running().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stack.own_queues().await);
    inbox.set_state(ServerState::Rejecting).await.unwrap();
    let worker = stack.worker(&queues, smtp(&inbox.smtp_url()), rules());
    let invoice = stack.invoice_without_ticket(&own_address("letters")).await;
    assert!(work(&worker, &[ticket_record("m1", &invoice, 1)]).await.is_empty());
    let (table, now) = (stack.invoices(), SystemClock.now());
    let wishes: Vec<_> = (0..20)
        .map(|number| Reopening {
            wish: Wish::AnotherTry,
            letter: Some(LetterId(format!("letter {number}"))),
            address: None,
            reason: "test".to_owned(),
            correlation_id: None,
            due: now + FIRST_DUE,
            now,
        })
        .collect();
    let opened = join_all(wishes.iter().map(|wish| table.reopen(invoice.content.id, wish))).await;
    let count = |what| opened.iter().filter(|opened| **opened == Ok(what)).count();
    assert_eq!((count(Reopened::Opened), count(Reopened::StillOpen)), (1, 19), "{opened:?}");
    let after = stack.invoice(invoice.content.id).await;
    assert_eq!((after.mailing.handled_letters.len(), after.attempts.len()), (1, 2));
}

#[tokio::test]
async fn the_deployed_worker_takes_a_redriven_letter_for_what_it_is() {
    let stack = Stack::running().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stack.own_queues().await);
    inbox.set_state(ServerState::Rejecting).await.unwrap();
    let worker = stack.worker(&queues, smtp(&inbox.smtp_url()), rules());
    let email = own_address("deployed");
    let invoice = stack.invoice_without_ticket(&email).await;
    assert!(work(&worker, &[ticket_record("m1", &invoice, 1)]).await.is_empty());
    let letter = Arc::new(queues.redriven().await.remove(0));

    let attribute = |name: &str| {
        let value = letter["messageAttributes"][name]["stringValue"].as_str().unwrap();
        MessageAttributeValue::builder().data_type("String").string_value(value).build().unwrap()
    };
    stack
        .clients
        .sqs()
        .send_message()
        .queue_url(stack.addresses.output("TicketsQueueUrl").unwrap())
        .message_body(letter["body"].as_str().unwrap())
        .message_attributes(LETTER_ATTRIBUTE, attribute(LETTER_ATTRIBUTE))
        .message_attributes("reason", attribute("reason"))
        .send()
        .await
        .unwrap();
    stack.invoice_once(&invoice.content.id.to_string(), "Sent").await;
    assert_eq!(stack.mails_to(&email).await, 1);
}
