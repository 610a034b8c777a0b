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
    let length = Duration::from_secs(60 * arguments.minutes);
    let watched = orders_for(length, arguments.rate, &arguments.programs).await?;
    println!("\n|  | first third | last third |\n|---|---|---|");
    let mut growth = Vec::new();
    for Watched { name, looks, .. } in &watched {
        growth.extend(judge(name, looks)?);
    }
    ensure!(growth.is_empty(), "grown: {}", growth.join(", "));
    println!("\nNothing has grown.");
    Ok(())
}

/// Two looks: whether each order is mailed, and no word of what grows.
pub(super) async fn smallest(programs: &Programs) -> Result<()> {
    orders_for(2 * EVERY + Duration::from_secs(1), 2.0, programs).await.map(|_| ())
}

/// Orders at a steady rate, each mailed, and what was seen of the processes meanwhile.
async fn orders_for(length: Duration, rate: f64, programs: &Programs) -> Result<Vec<Watched>> {
    ensure!(rate > 0.0, "a rate is above zero");
    let surroundings = Surroundings::start(programs).await?;
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

    println!("\n{rate} orders a second for {} s, sampled every {} s\n", length.as_secs(), EVERY.as_secs());
    let begin = Instant::now();
    let mut ticks = interval(Duration::from_secs_f64(1.0 / rate));
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
        let answer = worker.process.invoke(&events::messages(&surroundings.aws.take_messages())).await?;
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
    Ok(watched)
}

impl Watched {
    fn look(&mut self, orders: usize) -> Result<()> {
        let processor_time = self.process.processor_time()?;
        let used = processor_time.saturating_sub(self.processor_time);
        self.processor_time = processor_time;
        self.looks.push(Look {
            resident: f64::from(u32::try_from(self.process.memory()?.resident / 1024)?) / 1024.0,
            descriptors: f64::from(u32::try_from(self.process.descriptors()?)?),
            median: std::mem::take(&mut self.took).median().as_secs_f64() * 1000.0,
            processor: used.as_secs_f64() * 1000.0 / f64::from(u32::try_from(orders.max(1))?),
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
}

/// One thing that must not grow.
struct Kind {
    name: &'static str,
    of: fn(&Look) -> f64,
    /// How much there may be in the last third, after so much in the first.
    allowed: fn(f64) -> f64,
}

const KINDS: [Kind; 4] = [
    Kind { name: "memory, MB", of: |look| look.resident, allowed: |before| before * GROWTH },
    Kind { name: "open descriptors", of: |look| look.descriptors, allowed: |before| before + DESCRIPTORS },
    Kind { name: "p50, ms", of: |look| look.median, allowed: |before| before * GROWTH },
    Kind { name: "processor time of an order, ms", of: |look| look.processor, allowed: |before| before * GROWTH },
];

/// Prints the medians of the first third and the last, and says what has grown.
fn judge(name: &str, looks: &[Look]) -> Result<Vec<String>> {
    let steady = looks.get(WARM_UP.max(looks.len() / 10)..).unwrap_or_default();
    let third = steady.len() / 3;
    let (first, last) = (&steady[..third], &steady[steady.len() - third..]);
    let mut grown = Vec::new();
    for Kind { name: kind, of, allowed } in KINDS {
        let [before, after] = [first, last].map(|looks| median(looks.iter().map(of)));
        let (before, after) = before.zip(after).context("too few samples to compare")?;
        println!("| {name}: {kind} | {before:.1} | {after:.1} |");
        if after > allowed(before) {
            grown.push(format!("{name}: {kind}"));
        }
    }
    Ok(grown)
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(resident: impl Fn(u32) -> f64, descriptors: impl Fn(u32) -> f64) -> Vec<Look> {
        let look = |at| Look { resident: resident(at), descriptors: descriptors(at), median: 1.5, processor: 2.5 };
        (0..60).map(look).collect()
    }

    #[test]
    fn what_stays_as_it_is_has_not_grown_and_the_warm_up_does_not_count() {
        let warming_up = looks(|at| if at < 6 { 2.0 } else { 10.0 }, |_| 11.0);
        assert_eq!(judge("api", &warming_up).unwrap(), [] as [&str; 0]);
    }

    #[test]
    fn memory_that_leaks_and_connections_that_stay_open_are_named() {
        let leaking = looks(|at| 10.0 + f64::from(at) * 0.1, |at| 11.0 + f64::from(at / 10));
        assert_eq!(judge("api", &leaking).unwrap(), ["api: memory, MB", "api: open descriptors"]);
    }

    #[test]
    fn a_run_that_is_too_short_says_nothing() {
        assert!(judge("api", &looks(|_| 10.0, |_| 11.0)[..5]).is_err());
    }
}
