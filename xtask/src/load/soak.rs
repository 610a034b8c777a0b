//! `cargo xtask load soak`: the API and the worker at a steady rate. Nothing may grow: what does so in half an hour kills
//! a process that Lambda keeps for hours.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bench::{Process, events};
use clap::Args;
use tokio::time::{MissedTickBehavior, interval};

use super::orders::{order, request};
use super::surroundings::{Programs, Surroundings};
use crate::samples::Samples;

/// How often memory, descriptors and latency are looked at.
const EVERY: Duration = Duration::from_secs(10);

/// Of the looks, so many are the warm-up: one in ten, and no fewer than this.
const WARM_UP: usize = 3;

/// How much memory and latency may grow from the first third to the last.
const GROWTH: f64 = 1.2;

/// How many descriptors more there may be.
const DESCRIPTORS: f64 = 2.0;

#[derive(Args)]
pub(crate) struct Arguments {
    /// How long
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(2..))]
    minutes: u64,
    /// Orders a second: each is a parcel, a look at it, a page of the list, and an invoice that is made and mailed
    #[arg(long, default_value_t = 5.0)]
    rate: f64,
    #[command(flatten)]
    programs: Programs,
}

/// What was seen in ten seconds of one process.
struct Look {
    resident: f64,
    descriptors: f64,
    median: f64,
    /// Processor time for one order, which does not depend on what else the machine does.
    processor: f64,
}

/// One process, and what was seen of it.
struct Watched {
    name: &'static str,
    process: Process,
    took: Samples,
    processor_time: Duration,
    looks: Vec<Look>,
}

pub(super) async fn run(arguments: &Arguments) -> Result<()> {
    ensure!(arguments.rate > 0.0, "a rate is above zero");
    let surroundings = Surroundings::start(&arguments.programs).await?;
    let mut watched = Vec::new();
    for name in ["api", "invoice-worker"] {
        let process = surroundings.function(name).await?;
        watched.push(Watched {
            name,
            process,
            took: Samples::default(),
            processor_time: Duration::ZERO,
            looks: Vec::new(),
        });
    }
    let [api, worker] = watched.as_mut_slice() else { unreachable!("two processes") };
    let tables = surroundings.aws.snapshot();

    println!(
        "\n{} orders a second for {} min, sampled every {} s\n",
        arguments.rate,
        arguments.minutes,
        EVERY.as_secs()
    );
    let (begin, length) = (Instant::now(), Duration::from_secs(60 * arguments.minutes));
    let mut ticks = interval(Duration::from_secs_f64(1.0 / arguments.rate));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let (mut orders, mut looked, mut orders_before) = (0_usize, Instant::now(), 0_usize);
    while begin.elapsed() < length {
        ticks.tick().await;
        let ordered = order(&api.process, orders).await?;
        let path = format!("/api/parcels/{}", ordered.parcel);
        let got = request(&api.process, "GET", &path, "", None, 200).await?;
        let listed = request(&api.process, "GET", "/api/parcels", "limit=20", None, 200).await?;
        for took in [ordered.parcel_took, ordered.invoice_took, got.took, listed.took] {
            api.took.add(took);
        }
        let answer = worker.process.invoke(&events::tickets(&surroundings.aws.take_messages())).await?;
        ensure!(
            answer.answer["batchItemFailures"].as_array().is_none_or(Vec::is_empty),
            "not mailed: {}",
            answer.answer
        );
        worker.took.add(answer.took);
        orders += 1;
        if looked.elapsed() >= EVERY {
            looked = Instant::now();
            let mails = surroundings.mail.take().len();
            ensure!(mails == orders - orders_before, "{mails} mails of {} orders", orders - orders_before);
            api.look(mails)?;
            worker.look(mails)?;
            println!("{:>6.0} s  {orders:>6} orders  {}  {}", begin.elapsed().as_secs_f64(), api.last(), worker.last());
            // AWS in memory looks through all its rows for a list, and is not what is measured.
            surroundings.aws.restore(&tables);
            orders_before = orders;
        }
    }
    println!("\n{orders} orders in {:.0} s, each mailed", begin.elapsed().as_secs_f64());
    println!("\n|  | first third | last third |\n|---|---|---|");
    let mut growth = api.judge()?;
    growth.extend(worker.judge()?);
    ensure!(growth.is_empty(), "grown: {}", growth.join(", "));
    println!("\nNothing has grown.");
    Ok(())
}

impl Watched {
    fn look(&mut self, orders: usize) -> Result<()> {
        let processor_time = self.process.processor_time()?;
        let used = processor_time.saturating_sub(self.processor_time);
        self.processor_time = processor_time;
        self.looks.push(Look {
            resident: self.process.memory()?.resident as f64 / 1024.0 / 1024.0,
            descriptors: self.process.descriptors()? as f64,
            median: std::mem::take(&mut self.took).median().as_secs_f64() * 1000.0,
            processor: used.as_secs_f64() * 1000.0 / orders.max(1) as f64,
        });
        Ok(())
    }

    fn last(&self) -> String {
        self.looks.last().map_or_else(String::new, |Look { resident, descriptors, median, processor }| {
            format!(
                "{}: {resident:.1} MB, {descriptors} open, p50 {median:.1} ms, {processor:.1} ms of processor",
                self.name
            )
        })
    }

    /// Prints the medians of the first third and the last, and says what has grown.
    fn judge(&self) -> Result<Vec<String>> {
        let steady = &self.looks[WARM_UP.max(self.looks.len() / 10).min(self.looks.len())..];
        let third = steady.len() / 3;
        ensure!(third > 0, "too few samples to compare");
        let (first, last) = (&steady[..third], &steady[steady.len() - third..]);
        let kinds: [(&str, fn(&Look) -> f64, fn(f64) -> f64); 4] = [
            ("memory, MB", |look| look.resident, |before| before * GROWTH),
            ("open descriptors", |look| look.descriptors, |before| before + DESCRIPTORS),
            ("p50, ms", |look| look.median, |before| before * GROWTH),
            ("processor time of an order, ms", |look| look.processor, |before| before * GROWTH),
        ];
        let mut grown = Vec::new();
        for (kind, value, allowed) in kinds {
            let [before, after] = [first, last].map(|looks| median(looks.iter().map(value)));
            let (before, after) = (before.context("no sample")?, after.context("no sample")?);
            println!("| {}: {kind} | {before:.1} | {after:.1} |", self.name);
            if after > allowed(before) {
                grown.push(format!("{}: {kind}", self.name));
            }
        }
        Ok(grown)
    }
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied()
}
