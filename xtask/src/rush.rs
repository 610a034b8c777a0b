//! `cargo xtask rush`: more orders than the mail provider takes. The answers stay fast, the backlog grows, and when the
//! rush is over it drains as fast as the provider allows and no faster. At the end every mail that was promised is
//! there once.
//!
//! An order is a customer with a new parcel: `POST /api/parcels`, and as soon as that is answered `POST …/invoice`. Orders
//! begin on schedule, however slow the answers to earlier ones are. The time of the first answer counts from the moment
//! at which the order should have begun, so that a system that keeps its customers waiting cannot hide it.

mod figures;
mod load;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use local_stack::{LocalStack, OPERATOR_KEY, Options, Ports};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::api::{Api, Queue};
use crate::interrupt::interruptible;
use crate::rush::figures::{Latencies, Peak, peak};
use crate::rush::load::{Load, Order, orders};
use crate::{progress, root};

/// Orders a second on a quiet day, for comparison.
const QUIET_RATE: f64 = 2.0;
const QUIET_SECONDS: f64 = 6.0;

/// How often the state of the queue is printed.
const EVERY: Duration = Duration::from_secs(1);

/// The backlog may take this much longer than predicted: the laptop's emulator has its own limits, and a ticket that
/// failed comes back some seconds later.
const DRAIN_RATIO: f64 = 2.0;
const DRAIN_SLACK: Duration = Duration::from_secs(20);

/// How many webhooks are registered in a rush, each with a contact of its own.
const CONTACTS: usize = 8;

/// When nobody waits for the backlog any longer, to end the command at all.
const PATIENCE: Duration = Duration::from_mins(5);

#[derive(Args)]
pub(crate) struct Arguments {
    /// Orders a second
    #[arg(long, default_value_t = 15.0)]
    rate: f64,
    /// For how many seconds they come
    #[arg(long, default_value_t = 30.0)]
    seconds: f64,
    /// Mails a second that the provider allows
    #[arg(long, default_value_t = 8)]
    provider_limit: u32,
    /// Workers that share that limit
    #[arg(long, default_value_t = 2)]
    workers: u32,
}

impl Arguments {
    /// A rush that is over in less than a minute, and that a slow machine bears as well. Twice as many orders as the
    /// provider takes, so that there is a backlog.
    pub(crate) fn small() -> Self {
        Self { rate: 12.0, seconds: 10.0, provider_limit: 6, workers: 2 }
    }
}

pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    interruptible(Box::pin(rush(arguments))).await
}

async fn rush(arguments: &Arguments) -> Result<()> {
    ensure!(arguments.rate > 0.0 && arguments.seconds > 0.0, "a rush has a rate and a length above zero");
    let root = root()?;
    let parameters = [
        ("MailsPerSecond", arguments.provider_limit.to_string()),
        ("WorkerConcurrency", arguments.workers.to_string()),
        ("SimulatorEnabled", "false".to_owned()),
    ];
    let stack = LocalStack::start(Options {
        ports: Ports::free(),
        state_dir: root.join(".local/rush"),
        fresh: true,
        parameters: parameters.map(|(name, value)| (name.to_owned(), value)).into(),
        faults: None,
        progress: progress(),
        root,
    })
    .await?;
    let result = tokio::select! {
        result = trial(arguments, &stack) => result,
        crash = stack.crashed() => Err(anyhow::anyhow!(crash)),
    };
    stack.stop().await;
    result
}

async fn trial(arguments: &Arguments, stack: &LocalStack) -> Result<()> {
    let Arguments { rate, seconds, provider_limit, .. } = *arguments;
    let api = Api::new(&stack.addresses().api_url, OPERATOR_KEY);
    println!("\nA rush of {rate} orders a second for {seconds} s; the provider takes {provider_limit} mails a second");

    // The first of each function is its start, which is not what is measured.
    let mut promised = orders(&api, Load { rate: 1.0, seconds: 1.0 }).await?;
    let quiet = orders(&api, Load { rate: QUIET_RATE, seconds: QUIET_SECONDS }).await?;
    until_drained(&api).await?;

    // Among the invoices, mails of the other kind: contacts who are asked whether they are.
    let contacts = api.name_contacts(CONTACTS).await?;
    let begin = Instant::now();
    let rush = tokio::select! {
        rush = orders(&api, Load { rate, seconds }) => rush?,
        watched = watch(&api, begin) => watched?,
    };
    let left = queue(&api).await?;
    let draining = Instant::now();
    let drained = tokio::select! {
        drained = until_drained(&api) => drained?.saturating_duration_since(draining),
        watched = watch(&api, begin) => watched?,
    };

    println!();
    for (name, orders) in [("quiet", &quiet), ("rush", &rush)] {
        figure(&format!("{name}: POST parcel"), &Latencies::of(orders.iter().filter_map(|order| order.parcel_took)));
        figure(&format!("{name}: POST invoice"), &Latencies::of(orders.iter().filter_map(|order| order.invoice_took)));
    }
    promised.extend(quiet);
    promised.extend(rush);
    let failed = report_failures(&promised);
    let peak = judge(stack, &api, &promised).await?;
    figure("most mails in any second", &format!("{} of {provider_limit}, at {}", peak.mails, peak.from.time()));
    let asked = contacts_asked(stack, &contacts).await?;
    figure("contacts asked among the invoices", &format!("{asked} of {}", contacts.len()));
    ensure!(asked > 0, "no other mail went out among the invoices");
    let predicted = Duration::from_secs(left.drain_seconds);
    let words = format!(
        "{:.1} s; predicted {} s: {} invoices at {} a second",
        drained.as_secs_f32(),
        left.drain_seconds,
        left.backlog,
        left.pace
    );
    figure("drained in", &words);
    // With a share of less than one mail a second and worker, beside notices, the limit holds on average only.
    if arguments.workers < provider_limit {
        ensure!(peak.mails <= provider_limit as usize, "the provider got {} mails in a second", peak.mails);
    }
    ensure!(drained <= predicted.mul_f64(DRAIN_RATIO) + DRAIN_SLACK, "the backlog drained far slower than predicted");
    ensure!(failed < promised.len(), "no order was accepted");
    println!("\nRush passed.");
    Ok(())
}

/// Prints the state of the queue, over and over.
async fn watch<T>(api: &Api, begin: Instant) -> Result<T> {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        // A busy emulator may not answer; the next look may.
        let Ok(Queue { backlog, oldest_wait_seconds, sends_per_second, .. }) = api.queue().await else { continue };
        println!(
            "{:>6.1} s  backlog {backlog:>5}, oldest waits {:>4} s, {sends_per_second:>5.1} mails a second",
            begin.elapsed().as_secs_f32(),
            oldest_wait_seconds.unwrap_or_default()
        );
    }
}

/// Waits until nothing is open any more, and returns since when.
async fn until_drained(api: &Api) -> Result<Instant> {
    let end = Instant::now() + PATIENCE;
    let mut drained = None;
    loop {
        let look = Instant::now();
        let backlog = queue(api).await?.backlog;
        match drained {
            // The figures may be a second old, so they count only if they stay the same for longer.
            Some(since) if backlog == 0 => return Ok(since),
            _ => drained = (backlog == 0).then_some(look),
        }
        ensure!(look < end, "{backlog} invoices are still open after {} min", PATIENCE.as_secs() / 60);
        tokio::time::sleep(EVERY).await;
    }
}

/// The state of the queue; a busy emulator is asked more than once.
async fn queue(api: &Api) -> Result<Queue> {
    for _ in 0..5 {
        if let Ok(queue) = api.queue().await {
            return Ok(queue);
        }
        tokio::time::sleep(EVERY).await;
    }
    api.queue().await
}

/// How many orders got no answer, or another one than hoped for.
fn report_failures(orders: &[Order]) -> usize {
    let failures: Vec<_> = orders.iter().filter_map(|order| order.failure.as_ref()).collect();
    let server_errors = failures.iter().filter(|failure| failure.is_server_error()).count();
    figure("answers 5xx", &server_errors);
    figure("other failures", &(failures.len() - server_errors));
    if let Some(first) = failures.first() {
        println!("    such as: {first}");
    }
    failures.len()
}

/// Counts the promises against the inbox and the API.
async fn judge(stack: &LocalStack, api: &Api, orders: &[Order]) -> Result<Peak> {
    let mails = stack.inbox().mails().await?;
    let mut received = Vec::with_capacity(mails.len());
    let mut copies: BTreeMap<&str, usize> = BTreeMap::new();
    for mail in &mails {
        received.push(OffsetDateTime::parse(&mail.received, &Rfc3339).context("a mail without its time")?);
        for to in &mail.to {
            let address = to.rsplit('<').next().unwrap_or_default().trim_end_matches('>');
            *copies.entry(address).or_default() += 1;
        }
    }
    let statuses: BTreeMap<String, String> =
        api.parcels().await?.into_iter().filter_map(|parcel| Some((parcel.id, parcel.invoice?.status))).collect();
    let promised: Vec<&Order> = orders.iter().filter(|order| order.is_promised()).collect();
    let lost = promised.iter().filter(|order| !copies.contains_key(order.email.as_str())).count();
    let duplicates = copies.values().map(|copies| copies - 1).sum::<usize>();
    let sent = |order: &&&Order| {
        let status = order.parcel.as_ref().and_then(|parcel| statuses.get(parcel));
        status.is_some_and(|status| status == "Sent")
    };
    let not_sent = promised.len() - promised.iter().filter(sent).count();
    let dead_letters = queue(api).await?.dead_letters;
    figure("invoices promised with 202", &promised.len());
    figure("mails in the inbox", &mails.len());
    figure("lost", &lost);
    figure("duplicates", &duplicates);
    figure("promised and not Sent", &not_sent);
    figure("dead letters", &dead_letters);
    ensure!(lost == 0, "{lost} mails are lost");
    ensure!(duplicates == 0, "{duplicates} mails came twice");
    ensure!(not_sent == 0 && dead_letters == 0, "some invoices are not Sent");
    peak(received).context("no mail at all")
}

/// How many of these addresses got a mail.
async fn contacts_asked(stack: &LocalStack, contacts: &[String]) -> Result<usize> {
    let mails = stack.inbox().mails().await?;
    let got = |contact: &&String| mails.iter().any(|mail| mail.to.iter().any(|to| to.contains(contact.as_str())));
    Ok(contacts.iter().filter(got).count())
}

fn figure(name: &str, value: &impl std::fmt::Display) {
    println!("  {name:<36} {value}");
}
