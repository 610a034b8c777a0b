//! `cargo xtask drill`: the 11.11 test. The mail server is down while the orders come in; nobody waits,
//! nothing is lost, an alarm rings, and when it is back every customer gets one mail.

mod alarms;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures::future::try_join_all;
use local_stack::{AlarmState, MailSummary, ServerState, StackAddresses};

use self::alarms::Alarms;
use crate::interrupt::interruptible;
use crate::target::{self, Target};

const ORDERS: usize = 20;
/// The old system took 8 s for each. Here the worst case is twenty cold starts on a small, busy machine.
const SLOW: Duration = Duration::from_secs(5);
/// Long enough for workers to have given up on single tickets, so that more than one way back is tried.
const OUTAGE: Duration = Duration::from_secs(20);
const FIRST_FAILURE_WITHIN: Duration = Duration::from_mins(1);
const ALL_MAILS_WITHIN: Duration = Duration::from_mins(2);
const LOOK_AGAIN: Duration = Duration::from_millis(500);

struct Order {
    email: String,
    invoice: String,
    parcel_took: Duration,
    invoice_took: Duration,
}

pub(crate) async fn run(arguments: &target::Arguments) -> Result<()> {
    let target = interruptible(Target::open(arguments, "drill", alarms::impatient())).await?;
    let result = interruptible(drill(&target)).await;
    // A stack that goes on running gets its mail server back, however the drill ended.
    let restored = target.inbox.set_server_state(ServerState::Running).await;
    target.close().await;
    result.and(restored)
}

async fn drill(target: &Target) -> Result<()> {
    let Target { api, inbox, .. } = target;
    println!("\n11.11 drill of {}", api.url());
    let drill = format!("drill-{:08x}", fastrand::u32(..));

    let mut alarms = match target.own_addresses() {
        Some(addresses) => Some(Alarms::watch(addresses).await?),
        None => None,
    };
    inbox.set_server_state(ServerState::Stopped).await?;
    let stopped = Instant::now();
    figure("mail server", "stopped");
    let orders = (0..ORDERS).map(|number| order(target, format!("{drill}-{number}@example.com")));
    let orders = try_join_all(orders).await?;
    let slowest = report("POST parcel: 201", orders.iter().map(|order| order.parcel_took))
        .max(report("POST invoice: 202", orders.iter().map(|order| order.invoice_took)));
    ensure!(slowest < SLOW, "an answer took {} ms", slowest.as_millis());

    let outage = tokio::time::sleep(OUTAGE);
    first_failure(target, &orders).await?;
    outage.await;
    match &mut alarms {
        Some(alarms) => alarms.wait_for(AlarmState::Alarm).await?,
        None => figure("alarms", "not looked at: those of this stack ring later"),
    }
    let (tried, attempts, reason) = failures(target, &orders).await?;
    figure("mail server down for", &format!("{:.1} s", stopped.elapsed().as_secs_f32()));
    figure("tried meanwhile, in vain", &format!("{tried} of {ORDERS} invoices, {attempts} attempts ({reason})"));
    let sent = inbox.mails().await?.iter().filter(|mail| is_of(mail, &drill)).count();
    ensure!(sent == 0, "{sent} mails were sent while the mail server was down");
    expect_no_dead_letters(target, "dead letters while it is down").await?;

    inbox.set_server_state(ServerState::Running).await?;
    let begin = Instant::now();
    let all_there = |mails: &[MailSummary]| {
        let customers = mails_by_customer(mails, &drill);
        (customers.len() == ORDERS).then_some(())
    };
    let arrived = inbox.wait_until(ALL_MAILS_WITHIN, all_there).await;
    let customers = mails_by_customer(&inbox.mails().await?, &drill).len();
    figure("mail server", "started again");
    figure("customers with a mail", &format!("{customers} of {ORDERS}"));
    arrived.context("some customers have no mail")?;
    figure("all of them after", &format!("{:.1} s", begin.elapsed().as_secs_f32()));

    for order in &orders {
        api.wait_until_sent(&order.invoice, ALL_MAILS_WITHIN).await?;
    }
    figure("invoices that are Sent", &format!("{ORDERS} of {ORDERS}"));
    // A ticket that is still on its way is one that could still bring a second mail.
    if let Some(addresses) = &target.addresses {
        queue_is_empty(addresses).await?;
    }
    let customers = mails_by_customer(&inbox.mails().await?, &drill);
    let twice = customers.values().filter(|mails| **mails > 1).count();
    figure("customers with more than one mail", &twice.to_string());
    ensure!(twice == 0, "{twice} customers got their mail more than once");
    let strangers = customers.keys().filter(|email| orders.iter().all(|order| !email.contains(&order.email)));
    ensure!(strangers.count() == 0, "mails went to people who ordered nothing");
    expect_no_dead_letters(target, "dead letters at the end").await?;
    if let Some(alarms) = &mut alarms {
        alarms.wait_for(AlarmState::Ok).await?;
    }
    println!("\nDrill passed.");
    Ok(())
}

async fn order(target: &Target, email: String) -> Result<Order> {
    let parcel = target.api.create_parcel("Lim Mei Ling", &email).await?;
    let invoice = target.api.request_invoice(&parcel.answer.id).await?;
    Ok(Order { email, invoice: invoice.answer.id, parcel_took: parcel.took, invoice_took: invoice.took })
}

/// Waits until a worker has really tried and failed: a drill in which nobody called the mail server while
/// it was down proves nothing.
async fn first_failure(target: &Target, orders: &[Order]) -> Result<()> {
    let end = Instant::now() + FIRST_FAILURE_WITHIN;
    while failures(target, orders).await?.0 == 0 {
        ensure!(Instant::now() < end, "no worker has tried to send in {} s", FIRST_FAILURE_WITHIN.as_secs());
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    Ok(())
}

/// How many invoices have been tried, how often in all, and with what result.
async fn failures(target: &Target, orders: &[Order]) -> Result<(usize, usize, String)> {
    let invoices = try_join_all(orders.iter().map(|order| target.api.invoice(&order.invoice))).await?;
    let tried = invoices.iter().filter(|invoice| !invoice.attempts.is_empty()).count();
    let attempts: Vec<_> = invoices.iter().flat_map(|invoice| &invoice.attempts).collect();
    let reason = attempts.first().map(|first| first.reason.as_ref().unwrap_or(&first.outcome));
    Ok((tried, attempts.len(), reason.cloned().unwrap_or_default()))
}

async fn expect_no_dead_letters(target: &Target, when: &str) -> Result<()> {
    let Some(addresses) = &target.addresses else {
        figure(when, "not looked at: not a stack of this machine");
        return Ok(());
    };
    let dead = addresses.queue_counts("DeadLetterQueueUrl").await?.total();
    figure(when, &dead.to_string());
    ensure!(dead == 0, "{dead} tickets are in the dead-letter queue");
    Ok(())
}

async fn queue_is_empty(addresses: &StackAddresses) -> Result<()> {
    let end = Instant::now() + ALL_MAILS_WITHIN;
    loop {
        let left = addresses.queue_counts("TicketsQueueUrl").await?.total();
        if left == 0 {
            figure("tickets left on the queue", "0");
            return Ok(());
        }
        ensure!(Instant::now() < end, "{left} tickets are still on the queue");
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

fn is_of(mail: &MailSummary, drill: &str) -> bool {
    mail.to.iter().any(|to| to.contains(drill))
}

fn mails_by_customer(mails: &[MailSummary], drill: &str) -> BTreeMap<String, usize> {
    let mut customers = BTreeMap::new();
    for mail in mails.iter().filter(|mail| is_of(mail, drill)) {
        *customers.entry(mail.to.join(", ")).or_default() += 1;
    }
    customers
}

fn report(name: &str, times: impl Iterator<Item = Duration>) -> Duration {
    let mut times: Vec<_> = times.collect();
    times.sort();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    let slowest = times.last().copied().unwrap_or_default();
    let times =
        format!("{} of {ORDERS}, median {} ms, slowest {} ms", times.len(), median.as_millis(), slowest.as_millis());
    figure(name, &times);
    slowest
}

fn figure(name: &str, value: &str) {
    println!("  {name:<36} {value}");
}
