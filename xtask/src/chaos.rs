//! `cargo xtask chaos`: everything that can go wrong at once, for a while. At the end every invoice that was promised is
//! Sent or Failed, every mail that came twice is explained, and a merchant's endpoint has heard of everything.
//!
//! The seed decides which calls fail, what the mail server does when, and when workers are killed.

mod listener;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use local_stack::{Faults, LocalStack, MERCHANT_KEY, MailSummary, OPERATOR_KEY, Options, Ports, ServerState};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::time::{Instant, sleep};

use self::listener::{Expected, Listener};
use crate::api::Api;
use crate::interrupt::interruptible;
use crate::{progress, root};

/// How long the system may take, once nothing goes wrong any more, to bring everything to its end. The relay's second
/// look at an invoice comes after five minutes, its third after ten more, its fourth after twenty.
const HEALING: Duration = Duration::from_mins(45);

/// A worker that is killed this long after the provider took its mail may not have recorded it: the longest a call to
/// the table may take.
const RECORDING_TAKES: Duration = Duration::from_secs(10);

/// A mail taken this long before its server changed its ways may have lost the answer.
const ANSWERING_TAKES: Duration = Duration::from_secs(2);

/// Every so often on average a process is killed: of the worker that mails, or of one of the [`OTHERS`].
const KILL_EVERY: Duration = Duration::from_secs(2);

/// The worker that mails, by the output that names it.
const WORKER: &str = "InvoiceWorkerFunctionName";

/// Those that tell merchants of what happened.
const OTHERS: [&str; 3] = ["DomainEventsFunctionName", "WebhookFanOutFunctionName", "WebhookWorkerFunctionName"];

/// A customer who gets no answer gives up after so many tries.
const TRIES: u32 = 40;

#[derive(Args)]
pub(crate) struct Arguments {
    /// What goes wrong, and when: the same seed, the same faults
    #[arg(long, default_value_t = 1111)]
    seed: u64,
    /// For how long things go wrong
    #[arg(long, default_value_t = 2.0)]
    minutes: f64,
    /// Invoices asked for a second
    #[arg(long, default_value_t = 2.0)]
    rate: f64,
}

impl Arguments {
    /// What every run of the tests goes through. In so short a time no invoice becomes due a second time, so that healing
    /// takes the relay's next run and a ticket's visibility, not the relay's second look.
    pub(crate) const SHORT: Self = Self { seed: 1111, minutes: 0.4, rate: 2.5 };
}

/// One promise of the API: an invoice id, and whom its mail goes to.
#[derive(Clone)]
struct Promise {
    parcel: String,
    invoice: String,
    email: String,
}

/// What could make a mail come twice, and when it happened.
#[derive(Default)]
struct Journal {
    worker_kills: Vec<OffsetDateTime>,
    other_kills: usize,
    mail_server: Vec<(OffsetDateTime, ServerState)>,
}

pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    interruptible(Box::pin(chaos(arguments))).await
}

async fn chaos(arguments: &Arguments) -> Result<()> {
    let root = root()?;
    let faults = Faults::of_seed(arguments.seed);
    let stack = LocalStack::start(Options {
        ports: Ports::free(),
        state_dir: root.join(".local/chaos"),
        fresh: true,
        parameters: [("SimulatorEnabled", "false")].map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        faults: Some(Arc::clone(&faults)),
        progress: progress(),
        root,
    })
    .await?;
    let result = tokio::select! {
        result = trial(arguments, &stack, &faults) => result,
        crash = stack.crashed() => Err(anyhow!(crash)),
    };
    stack.stop().await;
    result
}

async fn trial(arguments: &Arguments, stack: &LocalStack, faults: &Faults) -> Result<()> {
    let Arguments { seed, minutes, rate } = *arguments;
    println!("\nChaos with seed {seed} for {minutes} min at {rate} invoices a second");
    let (api, journal) = (Api::new(&stack.addresses().api_url, OPERATOR_KEY), Mutex::new(Journal::default()));
    let listener = Listener::register(&Api::new(&stack.addresses().api_url, MERCHANT_KEY)).await?;
    let end = Instant::now() + Duration::from_secs_f64(minutes * 60.0);

    let (promises, (), ()) = tokio::join!(
        load(&api, rate, end),
        trouble_with_mail(stack, &journal, seed, end),
        killing(stack, &journal, seed, end),
    );
    let promises = promises?;
    faults.end();
    stack.inbox().set_server_state(ServerState::Running).await?;
    let journal = journal.into_inner().unwrap_or_else(PoisonError::into_inner);
    figure("invoices promised with 202", &promises.len().to_string());
    figure("calls of the functions to AWS", &faults.calls().to_string());
    for ((service, fault), count) in faults.counts() {
        figure(&format!("  {service:?}: {fault:?}"), &count.to_string());
    }
    figure("workers killed", &journal.worker_kills.len().to_string());
    figure("processes of events and webhooks", &journal.other_kills.to_string());
    figure("mail server changed its ways", &journal.mail_server.len().to_string());

    let healing = Instant::now();
    let outcomes = outcomes(&api, &promises).await?;
    figure("all at their end after", &format!("{:.0} s without faults", healing.elapsed().as_secs_f32()));
    judge(stack, &promises, &outcomes, &journal).await?;
    listener.judge(&to_be_told(&promises, &outcomes), HEALING).await?;
    println!("\nChaos passed.");
    Ok(())
}

/// What happened to parcels and invoices.
fn to_be_told(promises: &[Promise], outcomes: &BTreeMap<String, (String, Option<String>)>) -> BTreeSet<Expected> {
    let events = promises.iter().flat_map(|Promise { parcel, invoice, .. }| {
        let sent = outcomes.get(invoice).is_some_and(|(status, _)| status == "Sent");
        [
            ("ParcelCreated", parcel.clone()),
            ("InvoiceRequested", invoice.clone()),
            (if sent { "InvoiceSent" } else { "InvoiceFailed" }, invoice.clone()),
        ]
    });
    events.collect()
}

/// Asks for invoices at an even rate, as often as it takes for each to be promised: a customer who got no answer tries
/// again with the same key.
async fn load(api: &Api, rate: f64, end: Instant) -> Result<Vec<Promise>> {
    let mut asking = FuturesUnordered::new();
    let mut promises = Vec::new();
    let mut next = Instant::now();
    let mut number = 0_u32;
    while Instant::now() < end {
        tokio::select! {
            () = tokio::time::sleep_until(next) => {
                next += Duration::from_secs_f64(1.0 / rate);
                number += 1;
                asking.push(promise(api, format!("chaos-{number}-{:08x}@example.com", fastrand::u32(..))));
            }
            Some(promise) = asking.next() => promises.push(promise?),
        }
    }
    while let Some(promise) = asking.next().await {
        promises.push(promise?);
    }
    Ok(promises)
}

async fn promise(api: &Api, email: String) -> Result<Promise> {
    let parcel = retrying(|| api.create_parcel_once("Lim Mei Ling", &email, &email)).await?.answer.id;
    let invoice = retrying(|| api.request_invoice(&parcel)).await?.answer.id;
    Ok(Promise { parcel, invoice, email })
}

async fn retrying<T, F: Future<Output = Result<T>>>(call: impl Fn() -> F) -> Result<T> {
    let mut last = None;
    for _ in 0..TRIES {
        match call().await {
            Ok(answer) => return Ok(answer),
            Err(error) => last = Some(error),
        }
        sleep(Duration::from_millis(fastrand::u64(200..1000))).await;
    }
    Err(last.context("not tried")?).with_context(|| format!("still no answer after {TRIES} tries"))
}

async fn trouble_with_mail(stack: &LocalStack, journal: &Mutex<Journal>, seed: u64, end: Instant) {
    const WAYS: [ServerState; 10] = [
        ServerState::Running,
        ServerState::Slow,
        ServerState::Stopped,
        ServerState::PuttingOff,
        ServerState::HangingUp,
        ServerState::Garbling,
        ServerState::CuttingShort,
        ServerState::Flooding,
        ServerState::Hanging,
        ServerState::Rejecting,
    ];
    let mut random = fastrand::Rng::with_seed(seed);
    let mut turn = 0;
    while Instant::now() < end {
        // Every other time it runs, or nothing would ever be sent; and it rejects only briefly.
        let way = if turn % 2 == 0 { ServerState::Running } else { WAYS[random.usize(1..WAYS.len())] };
        let longest = if way == ServerState::Rejecting { 1500 } else { 9000 };
        turn += 1;
        if stack.inbox().set_server_state(way).await.is_ok() {
            lock(journal).mail_server.push((OffsetDateTime::now_utc(), way));
        }
        let until = Instant::now() + Duration::from_millis(random.u64(500..=longest));
        tokio::time::sleep_until(until.min(end)).await;
    }
    // The healing begins with this change.
    lock(journal).mail_server.push((OffsetDateTime::now_utc(), ServerState::Running));
}

async fn killing(stack: &LocalStack, journal: &Mutex<Journal>, seed: u64, end: Instant) {
    let mut random = fastrand::Rng::with_seed(seed.rotate_left(32));
    let longest = u64::try_from(KILL_EVERY.as_millis()).unwrap_or(u64::MAX).saturating_mul(2);
    while Instant::now() < end {
        tokio::time::sleep_until((Instant::now() + Duration::from_millis(random.u64(100..longest))).min(end)).await;
        let function = if random.bool() { WORKER } else { OTHERS[random.usize(..OTHERS.len())] };
        let processes = stack.addresses().function_processes(function).unwrap_or_default();
        if let Some(process) = random.choice(processes) {
            let mut journal = lock(journal);
            if function == WORKER {
                journal.worker_kills.push(OffsetDateTime::now_utc());
            } else {
                journal.other_kills += 1;
            }
            stack.addresses().kill(&[process]);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The final status of every invoice, with the reason if it failed. What cannot be read now is read later.
async fn outcomes(api: &Api, promises: &[Promise]) -> Result<BTreeMap<String, (String, Option<String>)>> {
    let begin = Instant::now();
    let mut outcomes = BTreeMap::new();
    let mut unread = None;
    loop {
        for promise in promises {
            if !outcomes.contains_key(&promise.invoice) {
                match api.invoice(&promise.invoice).await {
                    Ok(invoice) if matches!(invoice.status.as_str(), "Sent" | "Failed") => {
                        outcomes.insert(promise.invoice.clone(), (invoice.status, invoice.reason));
                    }
                    Ok(_) => {}
                    Err(error) => unread = Some(error),
                }
            }
        }
        if outcomes.len() == promises.len() {
            return Ok(outcomes);
        }
        let open = promises.len() - outcomes.len();
        if begin.elapsed() >= HEALING {
            let late = format!("{open} invoices are at no end after {} min", HEALING.as_secs() / 60);
            return Err(unread.map_or_else(|| anyhow!(late.clone()), |error| error.context(late.clone())));
        }
        sleep(Duration::from_secs(2)).await;
    }
}

async fn judge(
    stack: &LocalStack,
    promises: &[Promise],
    outcomes: &BTreeMap<String, (String, Option<String>)>,
    journal: &Journal,
) -> Result<()> {
    let mails = stack.inbox().mails().await?;
    let (mut sent, mut failed, mut lost, mut repeated, mut unexplained) = (0, 0, Vec::new(), 0, Vec::new());
    for Promise { invoice, email, .. } in promises {
        let copies: Vec<&MailSummary> =
            mails.iter().filter(|mail| mail.to.iter().any(|to| to.contains(email))).collect();
        match outcomes.get(invoice) {
            Some((status, _)) if status == "Sent" => {
                sent += 1;
                if copies.is_empty() {
                    lost.push(invoice);
                }
            }
            Some((_, Some(_))) => failed += 1,
            _ => lost.push(invoice),
        }
        let repeats = copies.len().saturating_sub(1);
        repeated += repeats;
        // Every copy but one must have met something that kept it from being recorded.
        let excused = copies.iter().filter(|copy| journal.may_have_hidden(copy)).count();
        if repeats > excused {
            let times: Vec<_> = copies.iter().map(|copy| copy.received.as_str()).collect();
            unexplained.push(format!("{invoice}: {}", times.join(", ")));
        }
    }
    figure("Sent", &sent.to_string());
    figure("Failed, with a reason", &failed.to_string());
    figure("lost", &lost.len().to_string());
    figure("second copies, each in a gap", &(repeated - unexplained.len()).to_string());
    figure("second copies without a reason", &unexplained.len().to_string());
    ensure!(lost.is_empty(), "lost: {lost:?}");
    ensure!(unexplained.is_empty(), "mailed twice without a reason: {unexplained:#?}");
    Ok(())
}

impl Journal {
    /// Whether the provider's "accepted" for this mail may not have been recorded: its worker was killed, or its answer
    /// was lost, and one that cannot be read is lost.
    fn may_have_hidden(&self, mail: &MailSummary) -> bool {
        let Ok(taken) = OffsetDateTime::parse(&mail.received, &Rfc3339) else { return false };
        let within = |event: OffsetDateTime, span: Duration| event >= taken && event <= taken + span;
        let killed = self.worker_kills.iter().any(|kill| within(*kill, RECORDING_TAKES));
        let cut_off = self.mail_server.iter().any(|(change, _)| within(*change, ANSWERING_TAKES));
        let way = self.mail_server.iter().rev().find(|(change, _)| *change <= taken).map(|(_, way)| *way);
        let unheard = matches!(
            way,
            Some(ServerState::HangingUp | ServerState::Garbling | ServerState::CuttingShort | ServerState::Flooding)
        );
        killed || cut_off || unheard
    }
}

fn figure(name: &str, value: &str) {
    println!("  {name:<36} {value}");
}
