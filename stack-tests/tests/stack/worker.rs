//! The worker's table of failures, each row of it: in this process, on the deployed table and bucket, with a mail server
//! and queues of the test's own.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;
use invoice_worker::Rules;
use local_stack::{OwnInbox, ServerState};
use parceltrack::clock::SystemClock;
use parceltrack::domain::{
    AttemptOutcome, InvoiceState, InvoiceStatus, Lease, LeaseHolder, ProviderMessageId, Ticket, park_backoff,
};
use parceltrack::ports::{Claim, Clock as _, Mail, MailError, SendMail, WorkOnInvoices as _};
use serde_json::json;
use stack_tests::{Stack, own_address, pace, record, rules, smtp, ticket_record, work, work_within};
use uuid::Uuid;

/// Long enough for a slow machine, short of everything the rules wait for.
const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn one_unreadable_ticket_of_three_is_buried_alone_with_the_reason() {
    let stack = Stack::running().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stack.own_queues().await);
    let worker = stack.worker(&queues, smtp(&inbox.smtp_url()), rules());
    let (first, third) =
        (stack.invoice_without_ticket(&own_address("a")).await, stack.invoice_without_ticket(&own_address("b")).await);
    let bad = "{\"invoiceId\": oops";
    let batch = [ticket_record("m1", &first, 1), record("m2", bad, 1, "handle"), ticket_record("m3", &third, 1)];
    assert!(work(&worker, &batch).await.is_empty());
    for invoice in [first, third] {
        assert_eq!(stack.invoice(invoice.content.id).await.state.status(), InvoiceStatus::Sent);
    }
    assert_eq!(inbox.mails().len(), 2);
    let dead = queues.take(&queues.dead_letters).await;
    assert_eq!(dead.len(), 1);
    assert_eq!(dead[0].body, bad);
    assert!(dead[0].reason.as_ref().unwrap().contains("not a ticket"));
}

#[tokio::test]
async fn the_same_message_twice_and_a_second_ticket_make_one_pdf_and_one_mail() {
    let stack = Stack::running().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stack.own_queues().await);
    let worker = stack.worker(&queues, smtp(&inbox.smtp_url()), rules());
    let invoice = stack.invoice_without_ticket(&own_address("twice")).await;
    let batch = [ticket_record("m1", &invoice, 1), ticket_record("m1", &invoice, 1), ticket_record("m2", &invoice, 1)];
    assert!(work(&worker, &batch).await.is_empty());
    assert!(work(&worker, &batch).await.is_empty(), "delivered once more");
    assert_eq!(inbox.mails().len(), 1);
    assert_eq!(stack.invoice(invoice.content.id).await.attempt_count, 1);
}

#[tokio::test]
async fn null_fields_in_a_record_do_no_harm() {
    let stack = Stack::running().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stack.own_queues().await);
    let worker = stack.worker(&queues, smtp(&inbox.smtp_url()), rules());
    let invoice = stack.invoice_without_ticket(&own_address("null")).await;
    let mut record = ticket_record("m1", &invoice, 1);
    record["messageAttributes"] = json!({"trace": {"stringValue": "v", "binaryValue": null, "stringListValues": [], "binaryListValues": [], "dataType": "String"}});
    record["md5OfMessageAttributes"] = json!(null);
    record["attributes"] = json!(null);
    assert!(work(&worker, &[record]).await.is_empty());
    assert_eq!(inbox.mails().len(), 1);
}

#[tokio::test]
async fn twenty_workers_at_once_on_one_invoice_send_one_mail() {
    let stack = Stack::running().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stack.own_queues().await);
    let workers: Vec<_> = (0..20).map(|_| stack.worker(&queues, smtp(&inbox.smtp_url()), rules())).collect();
    let invoice = stack.invoice_without_ticket(&own_address("race")).await;
    let batches: Vec<_> = (0..20).map(|number| [ticket_record(&format!("m{number}"), &invoice, 1)]).collect();
    let failed = join_all(workers.iter().zip(&batches).map(|(worker, batch)| work(worker, batch))).await;
    assert!(failed.iter().filter(|failed| failed.is_empty()).count() >= 1);
    assert_eq!(inbox.mails().len(), 1);
    assert_eq!(stack.invoice(invoice.content.id).await.state.status(), InvoiceStatus::Sent);
}

#[tokio::test]
async fn a_rejected_address_fails_at_once_with_the_reason_and_without_the_address() {
    let stack = Stack::running().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stack.own_queues().await);
    inbox.set_state(ServerState::Rejecting).await.unwrap();
    let worker = stack.worker(&queues, smtp(&inbox.smtp_url()), rules());
    let email = own_address("rejected");
    let invoice = stack.invoice_without_ticket(&email).await;
    assert!(work(&worker, &[ticket_record("m1", &invoice, 1)]).await.is_empty(), "no retry that cannot help");

    let invoice = stack.invoice(invoice.content.id).await;
    let InvoiceState::Failed { reason, pdf } = &invoice.state else { panic!("{:?}", invoice.state) };
    assert!(reason.contains("550") && !reason.contains(&email), "{reason}");
    assert!(pdf.is_some(), "the PDF was made all the same");
    assert_eq!(invoice.due, None, "nobody needs to look by itself");
    let dead = queues.take(&queues.dead_letters).await;
    assert_eq!(dead.len(), 1);
    assert_eq!(dead[0].body, Ticket { invoice_id: invoice.content.id }.to_body());
    assert!(dead[0].reason.as_ref().unwrap().contains("550"));
    // A second ticket finds it finished.
    assert!(work(&worker, &[ticket_record("m2", &invoice, 1)]).await.is_empty());
    assert!(queues.take(&queues.dead_letters).await.is_empty());
}

#[tokio::test]
async fn a_mail_that_was_put_off_comes_back_by_its_own_visibility_within_seconds() {
    let stack = Stack::running().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stack.own_queues().await);
    inbox.set_state(ServerState::PuttingOff).await.unwrap();
    let worker = stack.worker(&queues, smtp(&inbox.smtp_url()), rules());
    let invoice = stack.invoice_without_ticket(&own_address("later")).await;
    let delivered = queues.delivered(Ticket { invoice_id: invoice.content.id }).await;
    let id = delivered["messageId"].as_str().unwrap().to_owned();
    assert_eq!(work(&worker, &[delivered]).await, [id]);
    let tried = stack.invoice(invoice.content.id).await;
    assert_eq!(tried.attempts[0].outcome, AttemptOutcome::Retried);
    assert!(tried.attempts[0].reason.as_ref().unwrap().contains("451"));
    assert!(tried.due.is_some());
    // Hidden for 60 s by the receive, shown again after 1 s by the worker.
    assert!(queues.visible_again().await < SOON);

    inbox.set_state(ServerState::Running).await.unwrap();
    assert!(work(&worker, &[ticket_record("m1", &invoice, 2)]).await.is_empty(), "the lease was given back");
    assert_eq!(inbox.mails().len(), 1);
}

#[tokio::test]
async fn on_its_last_receive_a_ticket_is_acknowledged_and_its_invoice_parked() {
    let stack = Stack::running().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stack.own_queues().await);
    inbox.set_state(ServerState::Stopped).await.unwrap();
    let invoice = stack.invoice_without_ticket(&own_address("parked")).await;
    let last = rules().max_receives;
    for parks in 0..3 {
        // A new worker each time, so that the breaker does not answer for the mail server.
        let worker = stack.worker(&queues, smtp(&inbox.smtp_url()), rules());
        let before = SystemClock.now();
        assert!(work(&worker, &[ticket_record("m1", &invoice, last)]).await.is_empty(), "acknowledged");
        let parked = stack.invoice(invoice.content.id).await;
        assert_eq!(parked.attempts.last().unwrap().outcome, AttemptOutcome::Parked);
        assert_eq!(parked.state.status(), InvoiceStatus::Generated);
        let waits = parked.due.unwrap().since(before);
        assert!(waits >= park_backoff(parks) && waits < park_backoff(parks) + SOON, "{waits:?} the {parks}th time");
    }
    assert!(queues.take(&queues.dead_letters).await.is_empty(), "an outage fills no dead-letter queue");
}

#[tokio::test]
async fn a_provider_that_is_away_is_left_alone_after_three_failures_and_tried_again_later() {
    let stack = Stack::running().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stack.own_queues().await);
    inbox.set_state(ServerState::Stopped).await.unwrap();
    let worker = stack.worker(&queues, smtp(&inbox.smtp_url()), rules());
    for number in 0..3 {
        let invoice = stack.invoice_without_ticket(&own_address("away")).await;
        assert_eq!(work(&worker, &[ticket_record(&format!("m{number}"), &invoice, 1)]).await.len(), 1);
    }
    inbox.set_state(ServerState::Running).await.unwrap();
    let invoice = stack.invoice_without_ticket(&own_address("breaker")).await;
    assert!(work(&worker, &[ticket_record("m4", &invoice, 1)]).await.is_empty(), "parked on the first receive");
    let parked = stack.invoice(invoice.content.id).await;
    assert_eq!(parked.attempts[0].outcome, AttemptOutcome::Parked);
    assert!(inbox.mails().is_empty(), "it was not even called");

    // The breaker lets a probe through once its time is over.
    let sent = async {
        while !inbox.mails().iter().any(|mail| mail.to[0].contains("breaker")) {
            work(&worker, &[ticket_record("m5", &invoice, 1)]).await;
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), sent).await.expect("the breaker never closed");
    assert_eq!(inbox.mails().len(), 1);
}

#[tokio::test]
async fn a_mail_server_that_hangs_costs_one_timeout_and_the_ticket_waits_out_its_visibility() {
    let stack = Stack::running().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stack.own_queues().await);
    inbox.set_state(ServerState::Hanging).await.unwrap();
    let worker = stack.worker(&queues, smtp(&inbox.smtp_url()), rules());
    let invoice = stack.invoice_without_ticket(&own_address("hang")).await;
    assert_eq!(work(&worker, &[ticket_record("m1", &invoice, 1)]).await, ["m1"]);
    let tried = stack.invoice(invoice.content.id).await;
    assert!(tried.attempts[0].reason.as_ref().unwrap().contains("no answer"), "{:?}", tried.attempts);
}

/// A mail provider that panics over some addresses.
struct PanicsOver(&'static str, Arc<dyn SendMail>);

#[async_trait]
impl SendMail for PanicsOver {
    async fn send(&self, mail: &Mail) -> Result<ProviderMessageId, MailError> {
        assert!(!mail.to.as_str().starts_with(self.0), "no way to send this");
        self.1.send(mail).await
    }
}

#[tokio::test]
async fn a_panic_is_its_own_records_failure_and_on_the_last_receive_a_person_looks() {
    let stack = Stack::running().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stack.own_queues().await);
    let worker = stack.worker(&queues, Arc::new(PanicsOver("poison", smtp(&inbox.smtp_url()))), rules());
    let (poison, healthy) = (
        stack.invoice_without_ticket(&own_address("poison")).await,
        stack.invoice_without_ticket(&own_address("healthy")).await,
    );
    assert_eq!(work(&worker, &[ticket_record("m1", &poison, 1), ticket_record("m2", &healthy, 1)]).await, ["m1"]);
    assert_eq!(stack.invoice(healthy.content.id).await.state.status(), InvoiceStatus::Sent);

    assert!(work(&worker, &[ticket_record("m1", &poison, rules().max_receives)]).await.is_empty());
    let InvoiceState::Failed { reason, .. } = stack.invoice(poison.content.id).await.state else {
        panic!("not failed")
    };
    assert_eq!(reason, "the worker panicked", "and not over what");
    assert_eq!(queues.take(&queues.dead_letters).await.len(), 1);
}

#[tokio::test]
async fn anothers_live_lease_is_respected_and_a_dead_one_is_not() {
    let stack = Stack::running().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stack.own_queues().await);
    let worker = stack.worker(&queues, smtp(&inbox.smtp_url()), rules());
    let invoice = stack.invoice_without_ticket(&own_address("lease")).await;
    let (table, now) = (stack.invoices(), SystemClock.now());
    let lease = |seconds| Lease { holder: LeaseHolder(Uuid::new_v4()), until: now + Duration::from_secs(seconds) };
    assert!(matches!(table.claim(invoice.content.id, lease(45), now).await, Ok(Claim::Granted(_))));
    assert_eq!(work(&worker, &[ticket_record("m1", &invoice, 1)]).await, ["m1"], "left on the queue");
    let last = ticket_record("m1", &invoice, rules().max_receives);
    assert!(work(&worker, &[last]).await.is_empty(), "not buried: the invoice is due later");
    assert!(inbox.mails().is_empty() && queues.take(&queues.dead_letters).await.is_empty());

    let dead = stack.invoice_without_ticket(&own_address("dead-lease")).await;
    assert!(matches!(table.claim(dead.content.id, lease(0), now).await, Ok(Claim::Granted(_))));
    assert!(work(&worker, &[ticket_record("m2", &dead, 1)]).await.is_empty());
    assert_eq!(inbox.mails().len(), 1);
}

#[tokio::test]
async fn an_invoice_that_ten_workers_in_a_row_died_over_is_given_up() {
    let stack = Stack::running().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stack.own_queues().await);
    let worker = stack.worker(&queues, smtp(&inbox.smtp_url()), rules());
    let invoice = stack.invoice_without_ticket(&own_address("deadly")).await;
    let (table, now) = (stack.invoices(), SystemClock.now());
    for _ in 0..10 {
        let lease = Lease { holder: LeaseHolder(Uuid::new_v4()), until: now };
        assert!(matches!(table.claim(invoice.content.id, lease, now).await, Ok(Claim::Granted(_))));
    }
    assert!(work(&worker, &[ticket_record("m1", &invoice, 1)]).await.is_empty());
    assert_eq!(stack.invoice(invoice.content.id).await.state.status(), InvoiceStatus::Failed);
    assert_eq!((inbox.mails().len(), queues.take(&queues.dead_letters).await.len()), (0, 1));
}

#[tokio::test]
async fn a_ticket_of_an_unknown_invoice_is_tried_again_then_buried() {
    let stack = Stack::running().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stack.own_queues().await);
    let worker = stack.worker(&queues, smtp(&inbox.smtp_url()), rules());
    let ticket = format!("{{\"invoiceId\":\"{}\"}}", Uuid::new_v4());
    assert_eq!(work(&worker, &[record("m1", &ticket, 1, "handle")]).await, ["m1"], "a read may be early");
    assert!(work(&worker, &[record("m1", &ticket, rules().max_receives, "handle")]).await.is_empty());
    let dead = queues.take(&queues.dead_letters).await;
    assert_eq!((dead.len(), dead[0].body.as_str()), (1, ticket.as_str()));
}

#[tokio::test]
async fn when_time_is_nearly_up_records_not_begun_are_reported_and_nothing_is_half_done() {
    let stack = Stack::running().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stack.own_queues().await);
    let worker = stack.worker(&queues, smtp(&inbox.smtp_url()), rules());
    let invoice = stack.invoice_without_ticket(&own_address("late")).await;
    let failed = work_within(&worker, &[ticket_record("m1", &invoice, 1)], Duration::from_secs(2)).await;
    assert_eq!(failed, ["m1"]);
    assert_eq!(stack.invoice(invoice.content.id).await, invoice, "untouched");
    assert!(inbox.mails().is_empty());
}

#[tokio::test]
async fn a_slow_pace_sends_what_fits_into_the_time_and_reports_the_rest() {
    let stack = Stack::running().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stack.own_queues().await);
    let worker = stack.worker(&queues, smtp(&inbox.smtp_url()), Rules { pace: pace(0.5), ..rules() });
    let mut invoices = Vec::new();
    for _ in 0..5 {
        invoices.push(stack.invoice_without_ticket(&own_address("pace")).await);
    }
    let batch: Vec<_> =
        invoices.iter().enumerate().map(|(number, invoice)| ticket_record(&format!("m{number}"), invoice, 1)).collect();
    let failed = work(&worker, &batch).await;
    // Turns at 0 and 2 s leave time for a mail in 10 s; those from 4 s on do not.
    assert!((2..=4).contains(&failed.len()), "{failed:?}");
    assert_eq!(inbox.mails().len() + failed.len(), 5);
}

#[tokio::test]
async fn a_failed_record_without_an_id_fails_the_batch() {
    let stack = Stack::running().await;
    let (inbox, queues) = (OwnInbox::start().await.unwrap(), stack.own_queues().await);
    let worker = stack.worker(&queues, smtp(&inbox.smtp_url()), rules());
    let mut record = record("m1", &format!("{{\"invoiceId\":\"{}\"}}", Uuid::new_v4()), 1, "handle");
    record["messageId"] = json!(null);
    let event = serde_json::from_value(json!({"Records": [record]})).unwrap();
    assert!(invoice_worker::handle(&worker, event, &stack_tests::context(Duration::from_secs(10))).await.is_err());
}
