//! `cargo xtask load worker`: one worker at full speed. The mail provider sets no limit, so what binds is the work.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bench::{Call, Process, events};
use clap::Args;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use parceltrack::domain::InvoiceId;
use parceltrack::mime::Sender;
use parceltrack::ports::{Mail, SendMail as _};
use parceltrack::smtp::Smtp;

use super::orders::order;
use super::surroundings::{MailProvider, Programs, Surroundings};
use crate::progress;
use crate::samples::Samples;

/// Invoices that warm the worker up before it is measured.
const WARM_UP: usize = 30;

/// Invoices that are worked on one by one, to see where the time goes.
const ONE_BY_ONE: usize = 100;

/// Mails that the mail server is sent by itself.
const MAILS: u32 = 500;

/// How long a connection to it may take.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Args)]
pub(crate) struct Arguments {
    /// How many invoices, for each size of batch
    #[arg(long, default_value_t = 600, value_parser = clap::value_parser!(u32).range(100..))]
    invoices: u32,
    /// Records in a batch
    #[arg(long, value_delimiter = ',', default_values_t = [1, 5, 10])]
    batches: Vec<usize>,
    #[command(flatten)]
    programs: Programs,
}

impl Arguments {
    /// The fewest invoices, with these programs.
    pub(super) fn smallest(programs: Programs) -> Self {
        Self { invoices: 100, batches: vec![10], programs }
    }
}

pub(super) async fn run(arguments: &Arguments) -> Result<()> {
    let surroundings = Surroundings::start(&arguments.programs).await?;
    let progress = progress();
    progress("Making invoices");
    let api = surroundings.function("api").await?;
    for number in 0..usize::try_from(arguments.invoices)? {
        order(&api, number).await?;
    }
    api.stop().await?;
    let tickets = surroundings.aws.take_messages();

    progress("Working");
    println!(
        "\n| mails by | batches of | invoices a second | processor time of an invoice | so many a second fill one core |"
    );
    println!("|---|---|---|---|---|");
    let mut by_smtp = None;
    for provider in [MailProvider::Ses, MailProvider::Smtp] {
        let worker = surroundings.worker(provider).await?;
        work(&surroundings, &worker, &tickets[..WARM_UP], 1).await?;
        for &batch in &arguments.batches {
            ensure!((1..=10).contains(&batch), "the queue hands out 1 to 10");
            let before = worker.processor_time()?;
            let took = work(&surroundings, &worker, &tickets, batch).await?;
            let each = worker.processor_time()?.saturating_sub(before).as_secs_f64() / f64::from(arguments.invoices);
            let rate = f64::from(arguments.invoices) / took.as_secs_f64();
            println!("| {} | {batch} | {rate:.0} | {:.2} ms | {:.0} |", provider.setting(), each * 1000.0, 1.0 / each);
        }
        by_smtp = Some(worker);
    }
    println!();
    let worker = by_smtp.context("a worker that mails by SMTP")?;
    stages(&surroundings, &worker, &tickets[..ONE_BY_ONE]).await?;
    mail_server_alone(&surroundings).await?;
    worker.stop().await
}

/// Hands out all tickets, one batch after the other, and returns how long that took.
async fn work(surroundings: &Surroundings, worker: &Process, tickets: &[String], batch: usize) -> Result<Duration> {
    surroundings.take_mails();
    let begin = Instant::now();
    for batch in tickets.chunks(batch) {
        let answer = worker.invoke(&events::messages(batch)).await?.answer;
        ensure!(answer["batchItemFailures"].as_array().is_none_or(Vec::is_empty), "not mailed: {answer}");
    }
    let took = begin.elapsed();
    let mails = surroundings.take_mails();
    ensure!(mails == tickets.len(), "{mails} mails for {} tickets", tickets.len());
    Ok(took)
}

/// Where the time of one invoice goes that has the worker to itself.
async fn stages(surroundings: &Surroundings, worker: &Process, tickets: &[String]) -> Result<()> {
    let [mut whole, mut pdf, mut mail, mut calls, mut elsewhere] = [(); 5].map(|()| Samples::default());
    let mut count = 0;
    for ticket in tickets {
        surroundings.aws.take_calls();
        let took = worker.invoke(&events::messages(std::slice::from_ref(ticket))).await?.took;
        let made = surroundings.aws.take_calls();
        let stored = made.iter().position(|call| call.name == "S3 PUT").context("no PDF was stored")?;
        let sent = surroundings.mail.take().pop().context("no mail was sent")?;
        let before_mail =
            made.iter().rfind(|call| call.answered < sent.connected).context("no call before the mail")?;
        let after_mail = made.iter().find(|call| call.arrived > sent.taken).context("no call after the mail")?;
        let for_pdf = gap(made.get(stored.wrapping_sub(1)).context("no claim before the PDF")?, &made[stored]);
        let for_mail = gap(before_mail, after_mail);
        let held: Duration = made.iter().map(|call| call.answered - call.arrived).sum();
        whole.add(took);
        pdf.add(for_pdf);
        mail.add(for_mail);
        elsewhere.add(held);
        calls.add(took.saturating_sub(for_pdf + for_mail + held));
        count = made.len();
    }
    println!("| one invoice by itself | p50 | p90 |\n|---|---|---|");
    for (name, samples) in [
        ("from the event to the answer", &whole),
        ("the PDF, its hash, and the way to S3", &pdf),
        ("the mail: connection, six commands, and the way to the next write", &mail),
        ("the event, the rest of the calls of AWS, the answer", &calls),
        ("AWS in memory had the calls", &elsewhere),
    ] {
        println!("| {name} | {} | {} |", millis(samples.median()), millis(samples.percentile(90)));
    }
    println!("\n{count} calls of AWS for one invoice");
    Ok(())
}

/// The same mail server with nothing else to do, so that it is seen not to bind.
async fn mail_server_alone(surroundings: &Surroundings) -> Result<()> {
    let sender = Sender::parse("Lion City Logistics <invoices@lioncity.example>")?;
    let smtp = Smtp::new(&surroundings.mail.url(), sender, PATIENCE)?;
    let mail = Mail {
        invoice: InvoiceId(uuid::Uuid::nil()),
        to: "customer@example.com".parse()?,
        to_name: "Tan Wei Ming".to_owned(),
        subject: "Invoice".to_owned(),
        text: "An invoice.\n".repeat(20),
        html: "<p>An invoice.</p>\n".repeat(20),
    };
    let begin = Instant::now();
    stream::iter(0..MAILS).map(|_| smtp.send(&mail)).buffer_unordered(50).try_collect::<Vec<_>>().await?;
    let rate = f64::from(MAILS) / begin.elapsed().as_secs_f64();
    println!("The mail server by itself, 50 connections at a time: {rate:.0} mails a second");
    Ok(())
}

fn gap(before: &Call, after: &Call) -> Duration {
    after.arrived.saturating_duration_since(before.answered)
}

fn millis(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}
