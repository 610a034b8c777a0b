//! The real program, against a running local stack, with queues of each test's own.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on panics")]

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use local_stack::{OwnInbox, ServerState};
use parceltrack::aws::DeadLetterQueue;
use parceltrack::clock::SystemClock;
use parceltrack::domain::{
    AttemptOutcome, EmailAddress, Invoice, InvoiceStatus, Lease, LeaseHolder, ProviderMessageId, Suppression,
    SuppressionCause, Ticket,
};
use parceltrack::ports::{
    AddSuppression as _, Clock as _, DeadLetter as _, Mail, MailError, SendMail, WorkOnInvoices as _,
};
use serde_json::Value;
use stack_tests::webhooks::{Behaviour, Endpoint};
use stack_tests::{OwnQueues, Stack, own_address, record, rules, smtp, ticket_record, work};
use tempfile::TempDir;
use uuid::Uuid;

/// An operator's desk: the stack's tables, queues of its own, and the file that says so.
struct Desk {
    stack: Stack,
    queues: OwnQueues,
    inbox: OwnInbox,
    directory: TempDir,
}

/// How the program ended.
struct Ended {
    code: i32,
    out: String,
    error: String,
}

impl Ended {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}{}", self.out, self.error))
    }
}

impl Desk {
    async fn new() -> Self {
        let stack = Stack::running().await;
        let desk = Self {
            queues: stack.own_queues().await,
            inbox: OwnInbox::start().await.unwrap(),
            directory: tempfile::tempdir().unwrap(),
            stack,
        };
        let mut file = String::from("# A test's own.\n\n");
        for (name, value) in [
            ("INVOICES_TABLE", desk.stack.addresses.output("InvoicesTableName").unwrap()),
            ("SUPPRESSIONS_TABLE", desk.stack.addresses.output("SuppressionsTableName").unwrap()),
            ("TICKETS_QUEUE_URL", desk.queues.tickets.as_str()),
            ("DEAD_LETTER_QUEUE_URL", desk.queues.dead_letters.as_str()),
            ("WEBHOOKS_TABLE", desk.stack.addresses.output("WebhooksTableName").unwrap()),
            ("WEBHOOK_DELIVERIES_TABLE", desk.stack.addresses.output("WebhookDeliveriesTableName").unwrap()),
            ("WEBHOOK_TICKETS_QUEUE_URL", desk.stack.addresses.output("WebhookTicketsQueueUrl").unwrap()),
            ("WEBHOOK_EVENTS_QUEUE_URL", desk.stack.addresses.output("WebhookEventsQueueUrl").unwrap()),
            ("WEBHOOK_ALLOWED_PRIVATE", "127.0.0.1"),
            ("API_KEYS_TABLE", desk.stack.addresses.output("ApiKeysTableName").unwrap()),
            ("AWS_ENDPOINT_URL", desk.stack.addresses.emulator_url.as_str()),
            ("AWS_REGION", desk.stack.addresses.region.as_str()),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
        ] {
            writeln!(file, "{name}={value}").unwrap();
        }
        std::fs::write(desk.directory.path().join("env"), file).unwrap();
        desk
    }

    async fn run(&self, arguments: &[&str]) -> Ended {
        let output = tokio::process::Command::new(env!("CARGO_BIN_EXE_parcelctl"))
            .arg("--env-file")
            .arg(self.directory.path().join("env"))
            .args(arguments)
            .output()
            .await
            .unwrap();
        Ended {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            error: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Works on whatever tickets there are, with the mail server in this state; how many there were.
    async fn work(&self, state: ServerState) -> usize {
        self.inbox.set_state(state).await.unwrap();
        let worker = self.stack.worker(&self.queues, smtp(&self.inbox.smtp_url()), rules());
        let tickets = self.queues.take(&self.queues.tickets).await;
        for ticket in &tickets {
            assert!(work(&worker, &[record("m", &ticket.body, 1, "no-such-handle")]).await.is_empty());
        }
        tickets.len()
    }

    /// An invoice that the mail server rejected, with its dead letter.
    async fn rejected(&self, purpose: &str) -> Invoice {
        self.inbox.set_state(ServerState::Rejecting).await.unwrap();
        let worker = self.stack.worker(&self.queues, smtp(&self.inbox.smtp_url()), rules());
        let invoice = self.stack.invoice_without_ticket(&own_address(purpose)).await;
        assert!(work(&worker, &[ticket_record("m1", &invoice, 1)]).await.is_empty());
        let invoice = self.read(&invoice).await;
        assert_eq!(invoice.state.status(), InvoiceStatus::Failed);
        invoice
    }

    async fn read(&self, invoice: &Invoice) -> Invoice {
        self.stack.invoice(invoice.content.id).await
    }

    async fn bury(&self, body: &str, reason: &str) {
        let queue = DeadLetterQueue::new(self.stack.clients.sqs(), self.queues.dead_letters.clone());
        queue.bury(body, reason).await.unwrap();
    }
}

fn id(invoice: &Invoice) -> String {
    invoice.content.id.to_string()
}

#[tokio::test]
async fn dead_letters_are_listed_by_reason_for_people_and_for_programs() {
    let desk = Desk::new().await;
    let none = desk.run(&["dead-letters", "list"]).await;
    assert_eq!((none.code, none.out.as_str()), (3, "No dead letters.\n"));

    let invoices = [desk.rejected("a").await, desk.rejected("b").await];
    desk.bury("{\"invoiceId\": oops", "not a ticket: expected value at line 1 column 15").await;
    let people = desk.run(&["dead-letters", "list"]).await;
    assert_eq!(people.code, 0, "{}", people.error);
    assert!(people.out.starts_with("3 dead letters, 2 reasons\n\n2 × rejected by the mail provider"), "{}", people.out);
    for invoice in &invoices {
        let number = invoice.content.number.to_string();
        let line = people.out.lines().find(|line| line.contains(&number)).unwrap_or_else(|| panic!("{}", people.out));
        assert!(line.contains("Failed") && line.contains(" 1 ") && line.ends_with(" s"), "{line}");
    }
    let programs = desk.run(&["--json", "dead-letters", "list"]).await.json();
    assert_eq!((&programs["count"], programs["groups"].as_array().unwrap().len()), (&3.into(), 2));
    let letter = &programs["groups"][0]["letters"][0];
    assert_eq!((letter["status"].as_str(), letter["attempts"].as_u64()), (Some("Failed"), Some(1)));
    let some = desk.run(&["dead-letters", "list", "--group", "NOT A TICKET", "--json"]).await.json();
    assert_eq!(some["count"], 1);

    let shown = desk.run(&["dead-letters", "show", &letter["letter"].as_str().unwrap()[..8]]).await;
    assert_eq!(shown.code, 0, "{}", shown.error);
    assert!(
        shown.out.contains("given up: rejected by the mail provider: ") && shown.out.contains("a person"),
        "{}",
        shown.out
    );
    assert_eq!(desk.run(&["dead-letters", "show", "INV-1999-1"]).await.code, 3);
    assert_eq!(desk.run(&["dead-letters", "list", "--json"]).await.json()["count"], 3, "looking takes nothing away");
}

#[tokio::test]
async fn a_retried_letter_is_gone_and_its_invoice_is_mailed_once() {
    let desk = Desk::new().await;
    let (invoice, other) = (desk.rejected("one").await, desk.rejected("other").await);
    let number = invoice.content.number.to_string();
    let retried = desk.run(&["dead-letters", "retry", &number]).await;
    assert_eq!(retried.code, 0, "{}{}", retried.out, retried.error);
    assert!(retried.out.contains(&number) && retried.out.contains("1 retried, 0 left"), "{}", retried.out);
    assert!(desk.read(&invoice).await.due.is_some(), "not lost, should the ticket be");
    assert_eq!(desk.read(&other).await.state.status(), InvoiceStatus::Failed);

    assert_eq!(desk.work(ServerState::Running).await, 1);
    assert_eq!(desk.read(&invoice).await.state.status(), InvoiceStatus::Sent);
    assert_eq!(desk.run(&["dead-letters", "retry", &number]).await.code, 3);
    assert_eq!(desk.inbox.mails().len(), 1);

    // The other one, by its group; then nothing is left.
    assert_eq!(desk.run(&["dead-letters", "retry", "--group", "rejected by the mail provider"]).await.code, 0);
    assert_eq!(desk.run(&["dead-letters", "retry", "--all"]).await.code, 3);
    assert_eq!(desk.work(ServerState::Running).await, 1);
    assert_eq!(desk.inbox.mails().len(), 2);
}

#[tokio::test]
async fn two_operators_at_once_and_letters_that_came_twice_open_each_invoice_once() {
    let desk = Desk::new().await;
    let mut invoices = Vec::new();
    for _ in 0..6 {
        invoices.push(desk.rejected("both").await);
    }
    // As after a crash between the record and the answer: a second letter of the same failure.
    for invoice in &invoices[..3] {
        desk.bury(&Ticket { invoice_id: invoice.content.id }.to_body(), "rejected once more").await;
    }
    let all: &[&str] = &["dead-letters", "retry", "--all", "--rate", "100"];
    let (one, other) = tokio::join!(desk.run(all), desk.run(all));
    for ended in [&one, &other] {
        assert!(matches!(ended.code, 0 | 3), "{} {}{}", ended.code, ended.out, ended.error);
    }
    assert_eq!(desk.run(&["dead-letters", "list"]).await.code, 3);
    assert!(desk.work(ServerState::Running).await >= 6);
    for invoice in &invoices {
        let after = desk.read(invoice).await;
        let opened = after.attempts.iter().filter(|attempt| attempt.outcome == AttemptOutcome::Reopened).count();
        assert_eq!((after.state.status(), opened), (InvoiceStatus::Sent, 1));
    }
    assert_eq!(desk.inbox.mails().len(), 6);
}

#[tokio::test]
async fn a_wrong_address_is_corrected_for_the_mail_and_stays_on_the_invoice() {
    let desk = Desk::new().await;
    let invoice = desk.rejected("wrong").await;
    // Its address is suppressed, too: another try would fail at once.
    let suppression = Suppression {
        email: invoice.content.email.clone(),
        cause: SuppressionCause::Bounce,
        reason: "550 no such user".to_owned(),
        at: SystemClock.now(),
        invoice: invoice.content.id,
    };
    desk.stack.suppressions().add(&suppression).await.unwrap();
    let refused = desk.run(&["dead-letters", "retry", "--all", "--json"]).await;
    assert_eq!((refused.code, refused.json()["letters"][0]["outcome"].as_str()), (1, Some("suppressed")));
    assert_eq!(desk.read(&invoice).await.state.status(), InvoiceStatus::Failed);
    assert_eq!(desk.run(&["suppression", "show", invoice.content.email.as_str()]).await.code, 0);

    let right = own_address("right");
    let bad = desk.run(&["dead-letters", "retry", "--all", "--set-email", "nobody"]).await;
    assert_eq!(bad.code, 2, "{}", bad.error);
    let retried = desk.run(&["dead-letters", "retry", &id(&invoice), "--set-email", &right]).await;
    assert_eq!(retried.code, 0, "{}{}", retried.out, retried.error);
    assert_eq!(desk.work(ServerState::Running).await, 1);
    let mails = desk.inbox.mails();
    assert!(mails.len() == 1 && mails[0].to[0].contains(&right), "{mails:?}");

    let after = desk.read(&invoice).await;
    assert_eq!(after.state.pdf(), invoice.state.pdf(), "the same PDF");
    assert_eq!(after.content, invoice.content, "the invoice says what it said");
    let show = desk.run(&["invoice", "show", &id(&invoice)]).await;
    for words in [
        &format!("address changed to {right}: by an operator"),
        &format!("mail to  {right}"),
        "opened again: by an operator",
    ] {
        assert!(show.out.contains(words), "{words}: {}", show.out);
    }

    let address = invoice.content.email.as_str();
    assert_eq!(desk.run(&["suppression", "remove", address]).await.code, 0);
    assert_eq!(desk.run(&["suppression", "remove", address]).await.code, 3);
    assert_eq!(desk.run(&["suppression", "show", address]).await.code, 3);
}

#[tokio::test]
async fn an_address_is_for_one_invoice_and_not_for_one_that_a_worker_has() {
    let desk = Desk::new().await;
    let right = own_address("right");
    desk.rejected("a").await;
    desk.rejected("b").await;
    let several = desk.run(&["dead-letters", "retry", "--all", "--set-email", &right]).await;
    assert_eq!(several.code, 2, "{}", several.out);
    assert_eq!(desk.run(&["dead-letters", "list", "--json"]).await.json()["count"], 2, "nothing was done");

    let held = desk.stack.invoice_without_ticket(&own_address("held")).await;
    let now = SystemClock.now();
    let lease = Lease { holder: LeaseHolder(Uuid::new_v4()), until: now + Duration::from_secs(45) };
    desk.stack.invoices().claim(held.content.id, lease, now).await.unwrap();
    let refused = desk.run(&["invoice", "retry", &id(&held), "--set-email", &right, "--json"]).await;
    assert_eq!((refused.code, refused.json()["outcome"].as_str()), (1, Some("heldByWorker")));
    let open = desk.stack.invoice_without_ticket(&own_address("open")).await;
    let readdressed = desk.run(&["invoice", "retry", &id(&open), "--set-email", &right, "--json"]).await;
    assert_eq!((readdressed.code, readdressed.json()["outcome"].as_str()), (0, Some("readdressed")));
    assert_eq!(desk.read(&open).await.email(), &right.parse::<EmailAddress>().unwrap());
}

#[tokio::test]
async fn letters_of_invoices_that_went_on_without_them_are_put_in_order() {
    let desk = Desk::new().await;
    let sent = desk.stack.invoice_without_ticket(&own_address("sent")).await;
    desk.inbox.set_state(ServerState::Running).await.unwrap();
    let worker = desk.stack.worker(&desk.queues, smtp(&desk.inbox.smtp_url()), rules());
    assert!(work(&worker, &[ticket_record("m1", &sent, 1)]).await.is_empty());
    let open = desk.stack.invoice_without_ticket(&own_address("open")).await;
    for invoice in [&sent, &open] {
        desk.bury(&Ticket { invoice_id: invoice.content.id }.to_body(), "left over").await;
    }
    desk.bury(&format!("{{\"invoiceId\":\"{}\"}}", Uuid::new_v4()), "there is no such invoice").await;
    desk.bury("oops", "not a ticket").await;

    let retried = desk.run(&["dead-letters", "retry", "--all", "--json"]).await;
    assert_eq!(retried.code, 1, "two are left for a person");
    let mut outcomes: Vec<_> = retried.json()["letters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|letter| letter["outcome"].as_str().unwrap().to_owned())
        .collect();
    outcomes.sort_unstable();
    assert_eq!(outcomes, ["notATicket", "unknown", "wasOpen", "wasSent"]);
    assert_eq!(desk.work(ServerState::Running).await, 1, "a ticket for the open one only");
    assert_eq!(desk.inbox.mails().len(), 2);
    let dropped = desk.run(&["dead-letters", "drop", "--all", "--reason", "of no use"]).await;
    assert!(dropped.code == 0 && dropped.out.contains("2 dropped"), "{}", dropped.out);
}

#[tokio::test]
async fn a_dropped_letter_is_noted_on_its_invoice_which_can_still_be_retried() {
    let desk = Desk::new().await;
    let invoice = desk.rejected("dropped").await;
    let number = invoice.content.number.to_string();
    assert_eq!(desk.run(&["dead-letters", "drop", &number]).await.code, 2, "not without a reason");
    assert_eq!(desk.run(&["dead-letters", "drop", &number, "--reason", "paid at the counter"]).await.code, 0);
    assert_eq!(desk.run(&["dead-letters", "drop", &number, "--reason", "paid at the counter"]).await.code, 3);
    let story = desk.run(&["invoice", "show", &id(&invoice), "--json"]).await.json();
    assert_eq!((story["status"].as_str(), story["attemptCount"].as_u64()), (Some("Failed"), Some(1)));
    let last = story["events"].as_array().unwrap().last().unwrap();
    assert_eq!(last["reason"], "paid at the counter");
    assert!(story["nextStep"].as_str().unwrap().contains("parcelctl invoice retry"));

    assert_eq!(desk.run(&["invoice", "retry", &id(&invoice)]).await.code, 0);
    assert_eq!(desk.work(ServerState::Running).await, 1);
    assert_eq!(desk.read(&invoice).await.state.status(), InvoiceStatus::Sent);
}

/// A provider that is away twice, then takes the mail.
struct AwayTwice(std::sync::atomic::AtomicU32);

#[async_trait]
impl SendMail for AwayTwice {
    async fn send(&self, _: &Mail) -> Result<ProviderMessageId, MailError> {
        match self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 | 1 => Err(MailError::Unavailable("connection refused".to_owned())),
            _ => Ok(ProviderMessageId("accepted".to_owned())),
        }
    }
}

#[tokio::test]
async fn an_invoices_story_names_each_attempt_its_reason_and_the_next_step() {
    let desk = Desk::new().await;
    let invoice = desk.stack.invoice_without_ticket(&own_address("story")).await;
    let worker = desk.stack.worker(&desk.queues, Arc::new(AwayTwice(0.into())), rules());
    assert_eq!(work(&worker, &[ticket_record("m1", &invoice, 1)]).await, ["m1"]);
    assert!(work(&worker, &[ticket_record("m1", &invoice, rules().max_receives)]).await.is_empty(), "parked");
    let open = desk.run(&["invoice", "show", &id(&invoice)]).await;
    assert!(
        open.out.contains("connection refused") && open.out.contains("next     its ticket, or the relay's"),
        "{}",
        open.out
    );

    assert!(work(&worker, &[ticket_record("m2", &invoice, 1)]).await.is_empty());
    let story = desk.run(&["invoice", "show", &id(&invoice), "--json"]).await.json();
    let what: Vec<_> =
        story["events"].as_array().unwrap().iter().map(|event| event["what"].as_str().unwrap()).collect();
    assert_eq!(what[1..], ["tried", "tried", "the mail provider has it"]);
    assert!(story["events"][2]["next"].as_str().unwrap().contains("relay"));
    assert_eq!((story["status"].as_str(), story["nextStep"].as_str()), (Some("Sent"), Some("none")));
    assert_eq!(desk.run(&["invoice", "show", &Uuid::new_v4().to_string()]).await.code, 3);
}

#[tokio::test]
async fn retries_keep_to_their_rate() {
    let desk = Desk::new().await;
    for _ in 0..4 {
        desk.bury("oops", "not a ticket").await;
    }
    let time = async |rate| {
        let begin = Instant::now();
        assert_eq!(desk.run(&["dead-letters", "retry", "--all", "--rate", rate]).await.code, 1);
        begin.elapsed()
    };
    let (slow, fast) = (time("1").await, time("1000").await);
    assert!(slow > fast + Duration::from_millis(1500), "{slow:?} against {fast:?}");
}

#[tokio::test]
async fn wrong_usage_and_missing_settings_say_what_is_wrong() {
    let desk = Desk::new().await;
    for usage in [
        &["dead-letters"][..],
        &["dead-letters", "retry"],
        &["dead-letters", "retry", "--all", "--group", "x"],
        &["dead-letters", "retry", "--all", "--rate", "0"],
        &["invoice", "show", "INV-1"],
    ] {
        assert_eq!(desk.run(usage).await.code, 2, "{usage:?}");
    }
    std::fs::write(desk.directory.path().join("env"), "INVOICES_TABLE=x\n").unwrap();
    let missing = desk.run(&["dead-letters", "list"]).await;
    assert!(missing.code == 1 && missing.error.contains("SUPPRESSIONS_TABLE is not in"), "{}", missing.error);
    std::fs::write(desk.directory.path().join("env"), "INVOICES_TABLE\n").unwrap();
    assert!(desk.run(&["dead-letters", "list"]).await.error.contains("line 1 of"));
}

#[tokio::test]
async fn a_key_is_shown_once_works_until_it_is_revoked_and_its_secret_is_nowhere() {
    let desk = Desk::new().await;
    let owner = format!("shop-{}", &Uuid::new_v4().simple().to_string()[..12]);
    let created = desk.run(&["keys", "create", "--role", "merchant", "--owner", &owner, "--label", "Shop"]).await;
    assert_eq!(created.code, 0, "{}", created.error);
    let key = created.out.trim();
    let list =
        async || desk.stack.request(reqwest::Method::GET, "/api/parcels", Some(key)).send().await.unwrap().status();
    assert_eq!(list().await, 200);

    let listed = desk.run(&["keys", "list", "--owner", &owner, "--json"]).await;
    let keys = listed.json();
    assert_eq!((keys[0]["state"].as_str(), keys[0]["role"].as_str()), (Some("active"), Some("merchant")));
    assert!(keys[0]["lastUsedAt"].is_string() && !listed.out.contains(&key[20..]), "{}", listed.out);

    let id = keys[0]["id"].as_str().unwrap();
    assert_eq!(desk.run(&["keys", "revoke", id]).await.code, 0);
    assert_eq!(desk.run(&["keys", "revoke", id, "--json"]).await.json()["outcome"], "wasRevoked");
    assert_eq!(desk.run(&["keys", "list", "--owner", &owner, "--json"]).await.json()[0]["state"], "revoked");
    assert_eq!(desk.run(&["keys", "revoke", "0123456789abcdef"]).await.code, 3);
    let driver = ["keys", "create", "--role", "driver", "--label", "x"];
    for wrong in [["--owner", "Shop"], ["--expires-in", "soon"]] {
        assert_eq!(desk.run(&[&driver[..], &wrong].concat()).await.code, 2);
    }
}

#[tokio::test]
async fn a_webhook_is_made_tried_looked_at_and_deleted() {
    let desk = Desk::new().await;
    let owner = format!("m{}", Uuid::new_v4().simple());
    let endpoint = Endpoint::start(Behaviour::Status(200)).await;
    let webhooks = ["webhooks", "create", "--owner", &owner, "--url", &endpoint.url, "--contact", "it@example.com"];
    let made = desk.run(&[&webhooks[..], &["--json"]].concat()).await.json();
    let (id, secret) = (made["id"].as_str().unwrap(), made["secret"].as_str().unwrap());
    assert_eq!(made["eventTypes"].as_array().unwrap().len(), 6);
    let listed = desk.run(&["webhooks", "list", "--owner", &owner, "--json"]).await;
    assert!(listed.json()[0]["state"] == "Active" && !listed.out.contains(secret), "{}", listed.out);
    assert_eq!(desk.run(&["webhooks", "test", "--owner", &owner, id]).await.code, 0);
    let received = endpoint.received_once(|received| !received.is_empty()).await;
    let delivery = format!("test-{}-1", received[0].headers[0]);
    assert_eq!(desk.run(&["webhooks", "resend", "--owner", &owner, id, "--delivery", &delivery]).await.code, 0);
    endpoint.received_once(|received| received.len() == 2).await;
    assert_eq!(
        desk.run(&["webhooks", "resend", "--owner", &owner, id, "--since", "2026-01-01T00:00:00Z"]).await.code,
        0
    );
    assert_eq!(desk.run(&["webhooks", "resend", "--owner", &owner, id]).await.code, 2);
    let deliveries = desk.run(&["webhooks", "deliveries", "--owner", &owner, id]).await;
    assert!(deliveries.out.contains(&delivery), "{}", deliveries.out);
    let rotated = desk.run(&["webhooks", "rotate-secret", "--owner", &owner, id]).await;
    assert!(rotated.out.starts_with("whsec_") && rotated.out.trim() != secret);
    assert_eq!(desk.run(&["webhooks", "enable", "--owner", &owner, id]).await.code, 0);
    assert!(desk.run(&["webhooks", "show", "--owner", &owner, id]).await.out.contains(&endpoint.url));
    let inside = ["webhooks", "create", "--owner", &owner, "--url", "https://10.0.0.1/", "--contact", "it@example.com"];
    assert_eq!(desk.run(&inside).await.code, 1);
    assert_eq!(desk.run(&["webhooks", "delete", "--owner", &owner, id]).await.code, 0);
    for command in ["show", "delete", "test", "enable", "deliveries", "rotate-secret"] {
        assert_eq!(desk.run(&["webhooks", command, "--owner", &owner, id]).await.code, 3, "{command}");
    }
}
