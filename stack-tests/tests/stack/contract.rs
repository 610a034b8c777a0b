//! The table of invoices in memory, on which `interleavings` rests, against the real one: the same calls, whatever they
//! are, have the same answers and leave the same invoice. And whatever is written, the row counts the events that it comes to.

use std::collections::BTreeMap;
use std::time::Duration;

use interleavings::Mutation;
use interleavings::invoices::Invoices;
use parceltrack::aws::{InvoiceTable, events_of};
use parceltrack::domain::{
    Attempt, AttemptOutcome, Consequence, Delivery, EmailAddress, Invoice, InvoiceId, InvoiceStatus, Lease,
    LeaseHolder, LetterId, LinkSecret, MailNews, MailReport, NewAddress, ProviderMessageId, Readdressed, Reopened,
    Reopening, StoredPdf, Timestamp, Wish,
};
use parceltrack::ports::{
    Claim, CreateInvoices as _, DUE_SHARDS, DueInvoice, DueMove, Held, InvoiceCreation, LetGo, NewInvoice,
    NoteDrops as _, ReadInvoices as _, ReaddressInvoices as _, RecordDelivery as _, RelayInvoices as _,
    ReopenInvoices as _, WorkOnInvoices as _,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use serde_json::{Value, json};
use stack_tests::{Stack, content};
use uuid::Uuid;

/// How many sequences of calls are tried.
const SEQUENCES: u32 = 300;

/// How many calls a sequence has, at most.
const LENGTH: usize = 25;

/// To these addresses mail goes; the first stands on the invoice.
const ADDRESSES: [&str; 3] = ["tan@example.com", "lim@example.com", "TAN@example.com"];

/// One thing that happens. Small numbers name holders, letters, mails, addresses and PDFs.
#[derive(Clone, Debug)]
enum Step {
    /// So many seconds pass.
    Wait(u64),
    Create(u8),
    Claim(u8),
    Generated(u8, u8),
    AboutToSend(u8, u64),
    LetGo(u8, HowLetGo),
    Due,
    MoveDue(u64, u32),
    Record(u8, u8, News, Option<u8>),
    Reopen(bool, Option<u8>, Option<u8>),
    Readdress(u8),
    NoteDrop,
    /// The call before is made once more, as the SDK does when an answer is lost.
    Again,
}

#[derive(Clone, Copy, Debug)]
enum HowLetGo {
    Sent(u8),
    Retried,
    Parked,
    Failed,
}

#[derive(Clone, Copy, Debug)]
enum News {
    Delivery(Delivery),
    Rejected,
}

/// Mostly the same one, or nobody would get far.
fn holder() -> impl Strategy<Value = u8> {
    prop_oneof![3 => Just(0_u8), 1 => Just(1)]
}

fn step() -> impl Strategy<Value = Step> {
    let how = prop_oneof![
        (0..2_u8).prop_map(HowLetGo::Sent),
        Just(HowLetGo::Retried),
        Just(HowLetGo::Parked),
        Just(HowLetGo::Failed)
    ];
    let delivery = prop::sample::select(
        &[Delivery::Accepted, Delivery::Delivered, Delivery::Bounced, Delivery::Complained, Delivery::Bounced][..],
    );
    let news = prop_oneof![4 => delivery.prop_map(News::Delivery), 1 => Just(News::Rejected)];
    let maybe = |numbers| prop::option::of(numbers);
    prop_oneof![
        2 => prop::sample::select(&[1, 44, 45, 46, 61][..]).prop_map(Step::Wait),
        1 => (0..2_u8).prop_map(Step::Create),
        4 => holder().prop_map(Step::Claim),
        3 => (holder(), 0..2_u8).prop_map(|(holder, pdf)| Step::Generated(holder, pdf)),
        2 => (holder(), 0..50_u64).prop_map(|(holder, seconds)| Step::AboutToSend(holder, seconds)),
        4 => (holder(), how).prop_map(|(holder, how)| Step::LetGo(holder, how)),
        1 => Just(Step::Due),
        2 => (0..400_u64, 0..4_u32).prop_map(|(seconds, moves)| Step::MoveDue(seconds, moves)),
        4 => (0..2_u8, 0..3_u8, news, maybe(0..2_u8)).prop_map(|(mail, to, news, why)| Step::Record(mail, to, news, why)),
        3 => (any::<bool>(), maybe(0..2_u8), maybe(0..3_u8))
            .prop_map(|(once_more, letter, email)| Step::Reopen(once_more, letter, email)),
        1 => (0..3_u8).prop_map(Step::Readdress),
        1 => Just(Step::NoteDrop),
        2 => Just(Step::Again),
    ]
}

/// A sequence begins with what is usual, as far as it goes, and goes on with anything.
fn sequence() -> impl Strategy<Value = Vec<Step>> {
    let usual = [Step::Create(0), Step::Claim(0), Step::Generated(0, 0), Step::LetGo(0, HowLetGo::Sent(0))];
    (0..=usual.len(), prop::collection::vec(step(), 1..LENGTH))
        .prop_map(move |(length, rest)| usual.iter().take(length).cloned().chain(rest).collect())
}

/// A call with all its arguments.
#[derive(Clone, Debug)]
enum Call {
    Create(Box<NewInvoice>),
    Claim(Lease, Timestamp),
    Generated(LeaseHolder, StoredPdf, Timestamp),
    AboutToSend(LeaseHolder, Timestamp, Timestamp),
    LetGo(Box<Invoice>, LeaseHolder, LetGo, Attempt),
    Due(Timestamp),
    MoveDue(DueInvoice, Timestamp, u32),
    Record(MailReport),
    Reopen(Reopening),
    Readdress(NewAddress, Timestamp),
    NoteDrop(String, Timestamp),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Answer {
    Creation(InvoiceCreation),
    Claim(Claim),
    Held(Held),
    Due(Vec<DueInvoice>),
    Moved(DueMove),
    Consequence(Option<Consequence>),
    Reopened(Reopened),
    Readdressed(Readdressed),
    Noted(bool),
}

async fn ask_table(table: &InvoiceTable, id: InvoiceId, call: &Call) -> Answer {
    match call {
        Call::Create(new) => Answer::Creation(table.create(new).await.unwrap()),
        Call::Claim(lease, now) => Answer::Claim(table.claim(id, *lease, *now).await.unwrap()),
        Call::Generated(holder, pdf, now) => Answer::Held(table.generated(id, *holder, pdf, *now).await.unwrap()),
        Call::AboutToSend(holder, until, expires) => {
            Answer::Held(table.about_to_send(id, *holder, *until, *expires).await.unwrap())
        }
        Call::LetGo(invoice, holder, how, attempt) => {
            Answer::Held(table.let_go(invoice, *holder, how, attempt.clone()).await.unwrap())
        }
        Call::Due(now) => Answer::Due(due(table, id, *now).await),
        Call::MoveDue(invoice, to, moves) => Answer::Moved(table.move_due(*invoice, *to, *moves).await.unwrap()),
        Call::Record(report) => Answer::Consequence(table.record(report).await.unwrap()),
        Call::Reopen(wish) => Answer::Reopened(table.reopen(id, wish).await.unwrap()),
        Call::Readdress(address, now) => Answer::Readdressed(table.readdress(id, address, *now).await.unwrap()),
        Call::NoteDrop(reason, now) => Answer::Noted(table.note_drop(id, reason, *now).await.unwrap()),
    }
}

/// The table has the invoices of the other sequences too.
async fn due(table: &InvoiceTable, id: InvoiceId, now: Timestamp) -> Vec<DueInvoice> {
    let mut due = Vec::new();
    for shard in 0..DUE_SHARDS {
        let mut after = None;
        loop {
            let page = table.due_page(shard, now, after).await.unwrap();
            after = page.invoices.last().copied();
            due.extend(page.invoices.into_iter().filter(|invoice| invoice.id == id));
            if !page.more {
                break;
            }
        }
    }
    due
}

fn ask_memory(memory: &mut Invoices, id: InvoiceId, call: &Call) -> Answer {
    match call {
        Call::Create(new) => Answer::Creation(memory.create(new)),
        Call::Claim(lease, now) => Answer::Claim(memory.claim(id, *lease, *now)),
        Call::Generated(holder, pdf, now) => Answer::Held(memory.generated(id, *holder, pdf, *now)),
        Call::AboutToSend(holder, until, expires) => Answer::Held(memory.about_to_send(id, *holder, *until, *expires)),
        Call::LetGo(invoice, holder, how, attempt) => Answer::Held(memory.let_go(invoice, *holder, how, attempt)),
        Call::Due(now) => Answer::Due((0..DUE_SHARDS).flat_map(|shard| memory.due(shard, *now)).collect()),
        Call::MoveDue(invoice, to, moves) => Answer::Moved(memory.move_due(*invoice, *to, *moves)),
        Call::Record(report) => Answer::Consequence(memory.record(report)),
        Call::Reopen(wish) => Answer::Reopened(memory.reopen(id, wish)),
        Call::Readdress(address, now) => Answer::Readdressed(memory.readdress(id, address, *now)),
        Call::NoteDrop(reason, now) => Answer::Noted(memory.note_drop(id, reason, *now)),
    }
}

/// What the callers know from earlier answers.
struct Callers {
    new: NewInvoice,
    now: Timestamp,
    /// The invoice as each holder was given it.
    granted: BTreeMap<u8, Invoice>,
    /// The due time as the relay saw it last.
    due: Option<DueInvoice>,
    last: Option<Call>,
}

impl Callers {
    fn new() -> Self {
        let content = content(ADDRESSES[0]);
        let now = content.created_at;
        let due = now + Duration::from_mins(1);
        let (link_secret, correlation_id) = (LinkSecret(Uuid::nil()), Uuid::nil().into());
        let new = NewInvoice { content, due, link_secret, correlation_id };
        Self { new, now, granted: BTreeMap::new(), due: None, last: None }
    }

    fn holder(number: u8) -> LeaseHolder {
        LeaseHolder(Uuid::from_u128(u128::from(number)))
    }

    fn after(&self, seconds: u64) -> Timestamp {
        self.now + Duration::from_secs(seconds)
    }

    /// The call that a step comes to, if it is one.
    fn call(&mut self, step: &Step, present: Option<&Invoice>) -> Option<Call> {
        let now = self.now;
        let mail = |number: u8| ProviderMessageId(format!("mail {number}"));
        Some(match step {
            Step::Wait(seconds) => {
                self.now = self.after(*seconds);
                return None;
            }
            Step::Create(secret) => {
                let link_secret = LinkSecret(Uuid::from_u128(u128::from(*secret)));
                Call::Create(Box::new(NewInvoice { link_secret, ..self.new.clone() }))
            }
            Step::Claim(holder) => Call::Claim(Lease { holder: Self::holder(*holder), until: self.after(45) }, now),
            Step::Generated(holder, pdf) => {
                let pdf = StoredPdf { key: "invoices/x.pdf".to_owned(), sha256: pdf.to_string().repeat(64) };
                Call::Generated(Self::holder(*holder), pdf, now)
            }
            Step::AboutToSend(holder, seconds) => {
                Call::AboutToSend(Self::holder(*holder), self.after(*seconds), self.after(86_400))
            }
            Step::LetGo(holder, how) => {
                let invoice = self.granted.get(holder).or(present)?.clone();
                let (how, outcome) = match how {
                    // What has no PDF is not mailed.
                    HowLetGo::Sent(_) if present?.state.pdf().is_none() => return None,
                    HowLetGo::Sent(number) => (LetGo::Sent { message_id: mail(*number) }, AttemptOutcome::Sent),
                    HowLetGo::Retried => (LetGo::Retried, AttemptOutcome::Retried),
                    HowLetGo::Parked => (LetGo::Parked { due: self.after(15) }, AttemptOutcome::Parked),
                    HowLetGo::Failed => (LetGo::Failed { reason: "no".to_owned() }, AttemptOutcome::Failed),
                };
                let reason = (outcome != AttemptOutcome::Sent).then(|| "because".to_owned());
                Call::LetGo(Box::new(invoice), Self::holder(*holder), how, Attempt { at: now, outcome, reason })
            }
            Step::Due => Call::Due(now),
            Step::MoveDue(seconds, moves) => {
                let seen =
                    self.due.or_else(|| Some(DueInvoice { id: present?.content.id, due: present?.due?, moves: 0 }));
                Call::MoveDue(seen?, self.after(*seconds), *moves)
            }
            Step::Record(number, to, news, why) => Call::Record(MailReport {
                invoice: self.new.content.id,
                message_id: mail(*number),
                to: email(*to),
                news: match news {
                    News::Delivery(delivery) => {
                        MailNews::Delivery { delivery: *delivery, reason: why.map(|number| format!("reason {number}")) }
                    }
                    News::Rejected => MailNews::Rejected { reason: "bad content".to_owned() },
                },
                sent_at: self.new.content.created_at,
                at: now,
            }),
            Step::Reopen(once_more, letter, number) => Call::Reopen(Reopening {
                wish: if *once_more { Wish::AnotherMail } else { Wish::AnotherTry },
                letter: letter.map(|number| LetterId(format!("letter {number}"))),
                address: number.map(new_address),
                reason: "by an operator".to_owned(),
                correlation_id: None,
                due: self.after(60),
                now,
            }),
            Step::Readdress(number) => Call::Readdress(new_address(*number), now),
            Step::NoteDrop => Call::NoteDrop("enough".to_owned(), now),
            Step::Again => return self.last.clone(),
        })
    }

    fn hear(&mut self, step: &Step, answer: &Answer) {
        match (step, answer) {
            (Step::Claim(holder), Answer::Claim(Claim::Granted(invoice))) => {
                self.granted.insert(*holder, (**invoice).clone());
            }
            (_, Answer::Due(due)) => self.due = due.first().copied().or(self.due),
            _ => {}
        }
    }
}

fn email(number: u8) -> EmailAddress {
    ADDRESSES[usize::from(number)].parse().unwrap()
}

fn new_address(number: u8) -> NewAddress {
    let link_secret = LinkSecret(Uuid::from_u128(u128::from(number) + 100));
    NewAddress { email: email(number), by: "an operator".to_owned(), link_secret }
}

/// The real table, with its rows as its stream tells them.
struct Real {
    stack: Stack,
    name: String,
    table: InvoiceTable,
}

impl Real {
    async fn new() -> Self {
        let stack = Stack::running().await;
        let name = stack.own_table("InvoicesTableName").await;
        Self { table: InvoiceTable::new(stack.clients.dynamodb(), name.clone()), name, stack }
    }

    async fn row(&self, id: InvoiceId) -> Value {
        let call = json!({"TableName": self.name, "Key": {"invoiceId": {"S": id}}, "ConsistentRead": true});
        self.stack.emulator("dynamodb", "DynamoDB_20120810.GetItem", &call).await["Item"].take()
    }
}

/// How many things happened to an invoice of which others are told.
fn happened(before: Option<&Invoice>, now: Option<&Invoice>) -> usize {
    let status = |invoice: Option<&Invoice>| invoice.map(|invoice| invoice.state.status());
    let is_back = |invoice: Option<&Invoice>| invoice.and_then(Invoice::delivery) == Some(Delivery::Bounced);
    let became = |wanted| status(now) == Some(wanted) && status(before) != Some(wanted);
    let all = [
        before.is_none() && now.is_some(),
        became(InvoiceStatus::Sent),
        became(InvoiceStatus::Failed),
        is_back(now) && !is_back(before),
    ];
    all.into_iter().filter(|happened| *happened).count()
}

/// Makes the calls of one sequence, for an invoice of its own, on both tables.
async fn compare(real_table: &Real, mutation: Option<Mutation>, steps: &[Step]) -> Result<(), TestCaseError> {
    let table = &real_table.table;
    let (mut callers, mut memory) = (Callers::new(), Invoices::new(mutation));
    let id = callers.new.content.id;
    let (mut present, mut row, mut told) = (None, Value::Null, 0);
    for (place, step) in steps.iter().enumerate() {
        let Some(call) = callers.call(step, present.as_ref()) else { continue };
        let (real, remembered) = (ask_table(table, id, &call).await, ask_memory(&mut memory, id, &call));
        prop_assert_eq!(&real, &remembered, "the answer to step {}: {:?}", place, call);
        let before = (present, row);
        present = table.invoice(id).await.unwrap();
        row = real_table.row(id).await;
        if !row.is_null() {
            let written = json!({"Keys": {"invoiceId": row["invoiceId"]}, "OldImage": before.1, "NewImage": row});
            let events = events_of(json!({"dynamodb": written}));
            let numbers = events.map(|events| events.iter().map(|event| event.sequence).collect::<Vec<_>>());
            let next = told + happened(before.0.as_ref(), present.as_ref()) as u64;
            prop_assert_eq!(numbers, Ok((told + 1..=next).collect()), "the events of step {}: {:?}", place, call);
            told = next;
        }
        prop_assert_eq!(&present, &memory.invoice(id), "the invoice after step {}: {:?}", place, call);
        callers.hear(step, &real);
        callers.last = Some(call);
    }
    Ok(())
}

/// The shortest sequence found on which the tables differ, with the difference; always the same sequences are tried.
fn difference(mutation: Option<Mutation>, max_shrink_iters: u32) -> Option<String> {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let table = runtime.block_on(Real::new());
    let config = Config { cases: SEQUENCES, max_shrink_iters, failure_persistence: None, ..Config::default() };
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let run = TestRunner::new_with_rng(config, random)
        .run(&sequence(), |steps| runtime.block_on(compare(&table, mutation, &steps)));
    match run {
        Ok(()) => None,
        Err(TestError::Fail(reason, steps)) => Some(format!("{steps:#?}\n{reason}")),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}

#[test]
fn the_table_in_memory_does_what_the_real_one_does() {
    if let Some(difference) = difference(None, 500) {
        panic!("{difference}");
    }
}

#[test]
fn every_way_in_which_the_table_in_memory_can_be_broken_shows() {
    for mutation in [
        Mutation::CreationWithoutDue,
        Mutation::ParkingRemovesDue,
        Mutation::SentKeepsDue,
        Mutation::CreationWithoutCondition,
        Mutation::CreationForgotten,
        Mutation::ClaimWithoutCondition,
        Mutation::RecheckSkipped,
        Mutation::GeneratedWithoutCondition,
        Mutation::SentNotRecorded,
        Mutation::EventKeepsLease,
    ] {
        assert!(difference(Some(mutation), 0).is_some(), "{mutation:?} makes no difference");
    }
}
