//! What SES tells of each mail: every kind of event, twice, in any order, and before the worker's own record. The events
//! are the samples of `events/`, about a mail of the test's own.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;
use local_stack::OwnInbox;
use mail_events::{Heard, MailEvents};
use parceltrack::clock::SystemClock;
use parceltrack::domain::{
    AttemptOutcome, Delivery, EmailAddress, Invoice, InvoiceId, InvoiceState, InvoiceStatus, Lease, LeaseHolder,
    LinkSecret, NewAddress, ProviderMessageId, Reopened, Reopening, StoredPdf, SuppressionCause, Wish,
};
use parceltrack::ports::{
    Claim, Clock as _, Held, LetGo, Mail, MailError, ReadSuppressions as _, ReopenInvoices as _, SendMail,
    WorkOnInvoices as _,
};
use serde_json::{Value, json};
use stack_tests::{OwnQueues, Stack, own_address, rules, smtp, ticket_record, work};
use uuid::Uuid;

const KINDS: [&str; 6] = ["send", "delivery", "delivery-delay", "bounce", "complaint", "reject"];

/// A sample of `events/`.
fn sample(kind: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../events/mail-events-{kind}.json"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The sample, about this mail to the invoice's address.
fn event(kind: &str, invoice: &Invoice, message: &str) -> Value {
    let sample = sample(kind);
    let [id, address] = ["11111111-1111-4111-8111-111111111111", "tan@example.com"];
    let text = sample
        .to_string()
        .replace(id, &invoice.content.id.to_string())
        .replace(address, invoice.email().as_str())
        .replace(sample["detail"]["mail"]["messageId"].as_str().unwrap(), message);
    serde_json::from_str(&text).unwrap()
}

/// A provider that takes every mail, and calls each what SES would.
#[derive(Default)]
struct Takes(std::sync::Mutex<Vec<String>>);

impl Takes {
    fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    fn last(&self) -> String {
        self.0.lock().unwrap().last().unwrap().clone()
    }
}

#[async_trait]
impl SendMail for Takes {
    async fn send(&self, _: &Mail) -> Result<ProviderMessageId, MailError> {
        let id = format!("ses-{}", Uuid::new_v4());
        self.0.lock().unwrap().push(id.clone());
        Ok(ProviderMessageId(id))
    }
}

/// Everything that one test needs.
struct Parts {
    stack: Stack,
    queues: OwnQueues,
    ear: MailEvents,
    mail: Arc<Takes>,
}

impl Parts {
    async fn new() -> Self {
        let stack = Stack::running().await;
        let queues = stack.own_queues().await;
        Self { ear: stack.mail_events(&queues), queues, mail: Arc::new(Takes::default()), stack }
    }

    /// An invoice that a worker has sent, as it stands in the table.
    async fn sent(&self, purpose: &str) -> Invoice {
        let invoice = self.stack.invoice_without_ticket(&own_address(purpose)).await;
        self.work(&invoice).await;
        let sent = self.read(&invoice).await;
        assert_eq!(sent.state.status(), InvoiceStatus::Sent);
        sent
    }

    async fn work(&self, invoice: &Invoice) {
        let worker = self.stack.worker(&self.queues, self.mail.clone(), rules());
        assert!(work(&worker, &[ticket_record("m1", invoice, 1)]).await.is_empty());
    }

    async fn read(&self, invoice: &Invoice) -> Invoice {
        self.stack.invoice(invoice.content.id).await
    }

    /// The event, twice; what the first one came to.
    async fn hear_twice(&self, kind: &str, invoice: &Invoice, message: &str) -> Heard {
        let event = event(kind, invoice, message);
        let first = self.ear.hear(event.clone()).await.unwrap();
        let after = self.read(invoice).await;
        assert_eq!(self.ear.hear(event).await.unwrap(), Heard::Nothing, "{kind} again");
        assert_eq!(self.read(invoice).await, after, "{kind} again");
        first
    }

    async fn letters(&self) -> Vec<stack_tests::Message> {
        self.queues.take(&self.queues.dead_letters).await
    }
}

fn message_of(invoice: &Invoice) -> String {
    invoice.mailing.message_id.clone().unwrap().0
}

fn reason_of(invoice: &Invoice) -> String {
    invoice.mailing.report.as_ref().unwrap().reason.clone().unwrap_or_default()
}

#[tokio::test]
async fn every_kind_of_event_twice_about_a_sent_invoice() {
    let parts = Parts::new().await;
    let expected = HashMap::from([
        ("send", (Delivery::Accepted, "")),
        ("delivery", (Delivery::Delivered, "")),
        ("delivery-delay", (Delivery::Accepted, "MailboxFull")),
        ("bounce", (Delivery::Bounced, "(General): 550 5.1.1 (no such mailbox)")),
        ("complaint", (Delivery::Complained, "abuse")),
    ]);
    for (kind, (delivery, reason)) in expected {
        let invoice = parts.sent(kind).await;
        assert_eq!(invoice.delivery(), Some(Delivery::Accepted), "that much a worker knows");
        assert_eq!(parts.hear_twice(kind, &invoice, &message_of(&invoice)).await, Heard::Updated, "{kind}");
        let after = parts.read(&invoice).await;
        assert_eq!((after.state.status(), after.delivery()), (InvoiceStatus::Sent, Some(delivery)), "{kind}");
        assert!(reason_of(&after).contains(reason), "{kind}: {}", reason_of(&after));
        assert!(!reason_of(&after).contains(invoice.email().as_str()), "{kind}");
        let shown: Value = parts
            .stack
            .get(&format!("/api/invoices/{}", invoice.content.id))
            .send()
            .await
            .unwrap()
            .json()
            .await
            .unwrap();
        assert_eq!(shown["delivery"], json!(delivery), "{kind}");
        assert_eq!(shown["deliveryReason"].as_str().unwrap_or_default(), reason_of(&after), "{kind}");
    }
}

#[tokio::test]
async fn a_rejected_mail_fails_its_invoice_and_a_person_hears_of_it_once() {
    let parts = Parts::new().await;
    let invoice = parts.sent("reject").await;
    assert_eq!(parts.hear_twice("reject", &invoice, &message_of(&invoice)).await, Heard::Failed);
    let after = parts.read(&invoice).await;
    let InvoiceState::Failed { reason, pdf } = &after.state else { panic!("{:?}", after.state) };
    assert!(reason.contains("Bad content") && pdf.is_some());
    assert_eq!((after.due, after.delivery()), (None, None));
    let letters = parts.letters().await;
    assert_eq!(letters.len(), 1);
    assert!(letters[0].reason.as_ref().unwrap().contains("Bad content"));
    // The Send that came before it and arrives after it.
    assert_eq!(parts.hear_twice("send", &invoice, &message_of(&invoice)).await, Heard::Nothing);
}

/// Every order of these.
fn orders(kinds: &[&'static str]) -> Vec<Vec<&'static str>> {
    if kinds.is_empty() {
        return vec![vec![]];
    }
    (0..kinds.len())
        .flat_map(|first| {
            let mut rest = kinds.to_vec();
            let first = rest.remove(first);
            orders(&rest).into_iter().map(move |order| [vec![first], order].concat())
        })
        .collect()
}

#[tokio::test]
async fn in_every_order_the_last_word_is_the_same() {
    let parts = Parts::new().await;
    for (kinds, delivery) in [
        (&["send", "delivery", "delivery-delay"][..], Delivery::Delivered),
        (&["send", "delivery", "bounce"], Delivery::Bounced),
        (&["send", "delivery-delay", "delivery", "complaint"], Delivery::Complained),
    ] {
        join_all(orders(kinds).into_iter().map(async |order| {
            // Unfinished, as after a worker's death in the gap: the first event of any kind closes it.
            let invoice = in_the_gap(&parts.stack, "order").await;
            for (place, kind) in order.iter().enumerate() {
                let heard = parts.hear_twice(kind, &invoice, "ses-order").await;
                assert_eq!(heard == Heard::Sent, place == 0, "{order:?}");
                assert_eq!(parts.read(&invoice).await.state.status(), InvoiceStatus::Sent, "{order:?}");
            }
            let after = parts.read(&invoice).await;
            assert_eq!(after.delivery(), Some(delivery), "{order:?}");
            assert_eq!((after.due, after.attempt_count), (None, 1), "{order:?}");
        }))
        .await;
    }
}

#[tokio::test]
async fn events_that_come_at_the_same_moment_lose_none() {
    let parts = Parts::new().await;
    for _ in 0..5 {
        let invoice = in_the_gap(&parts.stack, "moment").await;
        let kinds = ["send", "delivery", "delivery-delay", "complaint"];
        let heard = join_all(kinds.map(|kind| parts.ear.hear(event(kind, &invoice, "ses-moment")))).await;
        assert_eq!(heard.into_iter().filter(|heard| matches!(heard, Ok(Heard::Sent))).count(), 1);
        let after = parts.read(&invoice).await;
        assert_eq!((after.delivery(), after.attempt_count), (Some(Delivery::Complained), 1));
    }
}

/// An invoice whose worker died right after the provider's "accepted": the PDF is stored, the lease is alive.
async fn in_the_gap(stack: &Stack, purpose: &str) -> Invoice {
    let invoice = stack.invoice_without_ticket(&own_address(purpose)).await;
    let (table, id, now) = (stack.invoices(), invoice.content.id, SystemClock.now());
    let lease = Lease { holder: LeaseHolder(Uuid::new_v4()), until: now + Duration::from_secs(45) };
    assert!(matches!(table.claim(id, lease, now).await, Ok(Claim::Granted(_))));
    let pdf = StoredPdf { key: format!("invoices/{id}.pdf"), sha256: "0".repeat(64) };
    assert_eq!(table.generated(id, lease.holder, &pdf, now).await, Ok(Held::Yes));
    stack.invoice(id).await
}

/// A provider that takes the mail, and whose answer gets lost.
struct LosesItsAnswer(Arc<dyn SendMail>);

#[async_trait]
impl SendMail for LosesItsAnswer {
    async fn send(&self, mail: &Mail) -> Result<ProviderMessageId, MailError> {
        self.0.send(mail).await.unwrap();
        Err(MailError::AnswerLost("the connection broke".to_owned()))
    }
}

#[tokio::test]
async fn a_mail_that_was_accepted_but_not_recorded_is_not_sent_again_once_its_event_has_come() {
    let parts = Parts::new().await;
    let inbox = OwnInbox::start().await.unwrap();
    let lossy = parts.stack.worker(&parts.queues, Arc::new(LosesItsAnswer(smtp(&inbox.smtp_url()))), rules());
    let invoice = parts.stack.invoice_without_ticket(&own_address("gap")).await;
    assert_eq!(work(&lossy, &[ticket_record("m1", &invoice, 1)]).await, ["m1"], "the ticket waits out its visibility");
    assert_eq!(parts.read(&invoice).await.state.status(), InvoiceStatus::Generated);

    assert_eq!(parts.hear_twice("send", &invoice, "ses-gap").await, Heard::Sent);
    let after = parts.read(&invoice).await;
    let InvoiceState::Sent { at, .. } = &after.state else { panic!("{:?}", after.state) };
    assert_eq!(at.to_string(), "2026-11-30T01:00:00.512Z", "SES's own time of sending");
    assert_eq!((after.due, message_of(&after)), (None, "ses-gap".to_owned()));
    assert_eq!(after.attempts.last().unwrap().outcome, AttemptOutcome::Sent);

    let honest = parts.stack.worker(&parts.queues, smtp(&inbox.smtp_url()), rules());
    assert!(work(&honest, &[ticket_record("m1", &invoice, 2)]).await.is_empty(), "acknowledged");
    assert_eq!(inbox.mails().len(), 1);
}

#[tokio::test]
async fn an_event_that_overtakes_the_workers_own_record_takes_nothing_from_it() {
    let parts = Parts::new().await;
    let invoice = parts.stack.invoice_without_ticket(&own_address("overtaken")).await;
    let (table, id, now) = (parts.stack.invoices(), invoice.content.id, SystemClock.now());
    let lease = Lease { holder: LeaseHolder(Uuid::new_v4()), until: now + Duration::from_secs(45) };
    assert!(matches!(table.claim(id, lease, now).await, Ok(Claim::Granted(_))));
    let pdf = StoredPdf { key: format!("invoices/{id}.pdf"), sha256: "0".repeat(64) };
    assert_eq!(table.generated(id, lease.holder, &pdf, now).await, Ok(Held::Yes));
    assert_eq!(parts.hear_twice("delivery", &invoice, "ses-quick").await, Heard::Sent);

    // The worker, a moment later: its mail is recorded already, and it takes that for its own success.
    let how = LetGo::Sent { message_id: ProviderMessageId("ses-quick".to_owned()) };
    let attempt = parceltrack::domain::Attempt { at: now, outcome: AttemptOutcome::Sent, reason: None };
    assert_eq!(table.let_go(&invoice, lease.holder, &how, attempt).await, Ok(Held::Yes));
    assert_eq!(parts.read(&invoice).await.delivery(), Some(Delivery::Delivered));
}

#[tokio::test]
async fn a_worker_about_to_mail_again_finds_its_lease_gone() {
    let parts = Parts::new().await;
    let invoice = parts.stack.invoice_without_ticket(&own_address("again")).await;
    let (table, id, now) = (parts.stack.invoices(), invoice.content.id, SystemClock.now());
    let lease = Lease { holder: LeaseHolder(Uuid::new_v4()), until: now + Duration::from_secs(45) };
    assert!(matches!(table.claim(id, lease, now).await, Ok(Claim::Granted(_))));
    let pdf = StoredPdf { key: format!("invoices/{id}.pdf"), sha256: "0".repeat(64) };
    assert_eq!(table.generated(id, lease.holder, &pdf, now).await, Ok(Held::Yes));
    assert_eq!(parts.hear_twice("send", &invoice, "ses-first").await, Heard::Sent);
    let until = now + Duration::from_secs(4);
    assert_eq!(table.about_to_send(id, lease.holder, until, until).await, Ok(Held::Lost));
}

#[tokio::test]
async fn after_a_hard_bounce_the_address_gets_no_mail_and_the_provider_is_not_asked() {
    let parts = Parts::new().await;
    let bounced = parts.sent("hard").await;
    assert_eq!(parts.hear_twice("bounce", &bounced, &message_of(&bounced)).await, Heard::Updated);
    let letters = parts.letters().await;
    assert_eq!(letters.len(), 1, "a person hears of it, once");
    assert!(letters[0].reason.as_ref().unwrap().contains("came back for good"));

    // Capital letters make no other mailbox.
    let shouted: String = bounced.email().as_str().to_uppercase();
    let next = parts.stack.invoice_without_ticket(&shouted).await;
    let mails = parts.mail.count();
    parts.work(&next).await;
    assert_eq!(parts.mail.count(), mails, "not even called");
    let InvoiceState::Failed { reason, .. } = parts.read(&next).await.state else { panic!("not failed") };
    assert!(reason.contains("gets no mail any more") && reason.contains("550 5.1.1"), "{reason}");
    assert!(!reason.to_lowercase().contains(bounced.email().as_str()), "{reason}");
    assert_eq!(parts.letters().await.len(), 1);
}

#[tokio::test]
async fn a_bounced_invoices_letter_that_is_redriven_goes_back_to_the_dead_letters() {
    let parts = Parts::new().await;
    let invoice = parts.sent("returned").await;
    parts.hear_twice("bounce", &invoice, &message_of(&invoice)).await;
    let letter = parts.queues.redriven().await;
    assert_eq!(letter.len(), 1);
    let (worker, mails) = (parts.stack.worker(&parts.queues, parts.mail.clone(), rules()), parts.mail.count());
    assert!(work(&worker, &letter).await.is_empty());
    assert_eq!(parts.mail.count(), mails);
    let letters = parts.letters().await;
    assert_eq!(letters.len(), 1, "a person still sees it");
    assert!(letters[0].reason.as_ref().unwrap().contains("another address"));
}

#[tokio::test]
async fn a_soft_bounce_stops_no_further_mail_and_a_complaint_does() {
    let parts = Parts::new().await;
    let suppressed = async |email: &EmailAddress| {
        parts.stack.suppressions().suppression(email).await.unwrap().map(|found| found.cause)
    };
    let soft = parts.sent("soft").await;
    let mut event_of_soft = event("bounce", &soft, &message_of(&soft));
    event_of_soft["detail"]["bounce"]["bounceType"] = json!("Transient");
    assert_eq!(parts.ear.hear(event_of_soft).await.unwrap(), Heard::Updated);
    assert_eq!(parts.read(&soft).await.delivery(), Some(Delivery::Bounced));
    assert_eq!(suppressed(soft.email()).await, None);

    let angry = parts.sent("angry").await;
    assert_eq!(parts.hear_twice("complaint", &angry, &message_of(&angry)).await, Heard::Updated);
    assert_eq!(suppressed(angry.email()).await, Some(SuppressionCause::Complaint));

    let mistaken = parts.sent("mistaken").await;
    let mut not_spam = event("complaint", &mistaken, &message_of(&mistaken));
    not_spam["detail"]["complaint"]["complaintFeedbackType"] = json!("not-spam");
    assert_eq!(parts.ear.hear(not_spam).await.unwrap(), Heard::Nothing);
    assert_eq!(suppressed(mistaken.email()).await, None);
    assert!(parts.letters().await.is_empty(), "nobody needs to look");
}

#[tokio::test]
async fn what_is_told_of_a_mail_from_before_counts_no_more() {
    let parts = Parts::new().await;
    let invoice = parts.sent("former").await;
    let (first, table, now) = (message_of(&invoice), parts.stack.invoices(), SystemClock.now());
    parts.hear_twice("bounce", &invoice, &first).await;
    let right: EmailAddress = own_address("right").parse().unwrap();
    let wish = |email: Option<EmailAddress>| Reopening {
        wish: Wish::AnotherTry,
        letter: None,
        address: email.map(|email| NewAddress {
            email,
            by: "a test".to_owned(),
            link_secret: LinkSecret(Uuid::new_v4()),
        }),
        reason: "test".to_owned(),
        correlation_id: None,
        due: now + Duration::from_hours(1),
        now,
    };
    assert_eq!(table.reopen(invoice.content.id, &wish(None)).await, Ok(Reopened::NeedsAddress));
    assert_eq!(table.reopen(invoice.content.id, &wish(Some(right.clone()))).await, Ok(Reopened::Opened));
    let open = parts.read(&invoice).await;
    assert_eq!((open.state.status(), open.delivery()), (InvoiceStatus::Generated, None));
    assert_eq!((open.email(), &open.content.email), (&right, &invoice.content.email), "the invoice says what it said");

    // The first mail's Send comes late: this invoice is not sent.
    for kind in ["send", "delivery", "delivery-delay", "reject"] {
        assert_eq!(parts.hear_twice(kind, &invoice, &first).await, Heard::Nothing, "{kind}");
        assert_eq!(parts.hear_twice(kind, &open, &first).await, Heard::Nothing, "{kind} by its id alone");
        assert_eq!(
            parts.hear_twice(kind, &invoice, "ses-unknown").await,
            Heard::Nothing,
            "{kind} by its address alone"
        );
    }
    assert!(parts.read(&invoice).await.due.is_some());

    parts.work(&open).await;
    let second = parts.mail.last();
    assert_ne!(first, second);
    assert_eq!(parts.hear_twice("delivery", &open, &second).await, Heard::Updated);
    assert_eq!(parts.read(&invoice).await.delivery(), Some(Delivery::Delivered));
}

#[tokio::test]
async fn events_about_nothing_of_ours_change_nothing_and_unreadable_ones_are_not_lost() {
    let parts = Parts::new().await;
    let invoice = parts.sent("others").await;
    let mut untagged = event("bounce", &invoice, "ses-other");
    untagged["detail"]["mail"]["tags"].as_object_mut().unwrap().remove("invoiceId");
    let mut click = event("send", &invoice, "ses-other");
    click["detail"]["eventType"] = json!("Click");
    let mut unknown = event("send", &invoice, "ses-other");
    unknown["detail"]["mail"]["tags"]["invoiceId"] = json!([Uuid::new_v4().to_string()]);
    for event in [untagged, click, unknown] {
        assert_eq!(parts.ear.hear(event).await.unwrap(), Heard::Nothing);
    }
    assert_eq!(parts.read(&invoice).await, invoice);
    let mut without_details = event("bounce", &invoice, "ses-other");
    without_details["detail"].as_object_mut().unwrap().remove("bounce");
    let mut without_time = event("send", &invoice, "ses-other");
    without_time["detail"]["mail"]["timestamp"] = json!("yesterday");
    for event in [json!({}), json!({"detail": {}}), without_details, without_time] {
        assert!(parts.ear.hear(event).await.is_err());
    }
}

#[tokio::test]
async fn the_deployed_rule_matches_every_sample_and_the_deployed_function_hears_it() {
    let stack = Stack::running().await;
    let rules = stack.emulator("events", "AWSEvents.ListRules", &json!({})).await;
    let function = stack.addresses.output("MailEventsFunctionName").unwrap();
    let pattern = rules["Rules"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|rule| rule["EventPattern"].as_str())
        .find(|pattern| pattern.contains("aws.ses"))
        .expect("no rule for aws.ses");
    for kind in KINDS {
        let test = json!({"EventPattern": pattern, "Event": sample(kind).to_string()});
        let answer = stack.emulator("events", "AWSEvents.TestEventPattern", &test).await;
        assert_eq!(answer["Result"], true, "{kind}: {pattern}");
    }
    let invoice = in_the_gap(&stack, "deployed").await;
    for (kind, expected) in [("send", "Sent"), ("delivery", "Updated"), ("delivery", "Nothing")] {
        let heard = stack.invoke(function, &event(kind, &invoice, "ses-deployed")).await;
        assert_eq!(heard, json!(expected), "{kind}");
    }
    let after: Invoice = stack.invoice(InvoiceId(invoice.content.id.0)).await;
    assert_eq!((after.state.status(), after.delivery()), (InvoiceStatus::Sent, Some(Delivery::Delivered)));
}

#[tokio::test]
async fn after_a_resend_nothing_counts_that_is_told_of_the_mails_before() {
    let parts = Parts::new().await;
    let invoice = parts.sent("resent").await;
    let (first, now) = (message_of(&invoice), SystemClock.now());
    let wish = Reopening {
        wish: Wish::AnotherMail,
        letter: None,
        address: None,
        reason: "test".to_owned(),
        correlation_id: None,
        due: now + Duration::from_hours(1),
        now,
    };
    assert_eq!(parts.stack.invoices().reopen(invoice.content.id, &wish).await, Ok(Reopened::Opened));
    let open = parts.read(&invoice).await;
    // One that was recorded, and one that was out when its worker died.
    for message in [&*first, "ses-unrecorded"] {
        for kind in ["send", "delivery", "delivery-delay", "reject"] {
            let mut told = event(kind, &invoice, message);
            told["detail"]["mail"]["timestamp"] = json!(invoice.updated_at.to_string());
            assert_eq!(parts.ear.hear(told).await.unwrap(), Heard::Nothing, "{kind} of {message}");
        }
    }
    assert_eq!(parts.read(&invoice).await, open);
    parts.work(&invoice).await;
    let sent = parts.read(&invoice).await;
    assert_eq!((sent.state.status(), sent.state.pdf()), (InvoiceStatus::Sent, invoice.state.pdf()));
    assert_eq!(parts.mail.count(), 2);
    assert_eq!(parts.hear_twice("delivery", &sent, &message_of(&sent)).await, Heard::Updated);
}
