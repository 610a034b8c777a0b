//! `cargo xtask load relay`: the relay after an outage, when everything is due at once.

use anyhow::{Context, Result};
use bench::{events, settings};
use clap::Args;
use outbox_relay::TIME_TO_STOP;
use serde_json::json;

use super::orders::order;
use super::surroundings::{Programs, Surroundings};
use crate::template::properties;
use crate::{progress, root};

/// The table of invoices, in the AWS that is measured with.
const INVOICES: &str = "invoices";

/// What one processor is to Lambda, in MB of memory.
/// <https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html>
const MEGABYTES_OF_A_PROCESSOR: f64 = 1769.0;

/// The relay in template.yaml.
const RESOURCE: &str = "OutboxRelayFunction";
const FUNCTION: &str = "outbox-relay";

#[derive(Args)]
pub(crate) struct Arguments {
    /// Invoices that are due
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(100..))]
    due: u32,
    #[command(flatten)]
    programs: Programs,
}

impl Arguments {
    /// The fewest invoices, with these programs.
    pub(super) const fn smallest(programs: Programs) -> Self {
        Self { due: 100, programs }
    }
}

pub(super) async fn run(arguments: &Arguments) -> Result<()> {
    let root = root()?;
    let memory = properties(&root, RESOURCE)?["MemorySize"].as_f64().context("the relay's memory is no number")?;
    let time_limit = settings::timeout(FUNCTION)?;
    let surroundings = Surroundings::start(&arguments.programs).await?;
    let progress = progress();
    progress(&format!("Making {} invoices", arguments.due));
    let api = surroundings.function("api").await?;
    for number in 0..usize::try_from(arguments.due)? {
        order(&api, number).await?;
    }
    api.stop().await?;
    let rows = surroundings.aws.rows(INVOICES);
    for (mut row, overdue) in rows.into_iter().zip(0_u64..) {
        let due: u64 = row["due"]["N"].as_str().context("an invoice that is not due")?.parse()?;
        row["due"] = json!({"N": (due - 3_600_000 + overdue).to_string()});
        surroundings.aws.put(INVOICES, row)?;
    }

    progress("Relaying");
    let relay = surroundings.function(FUNCTION).await?;
    surroundings.aws.take_calls();
    let before = relay.processor_time()?;
    let invocation = relay.invoke(&events::schedule()).await?;
    let processor = relay.processor_time()?.saturating_sub(before).as_secs_f64();
    let calls = surroundings.aws.take_calls();
    let held: f64 = calls.iter().map(|call| (call.answered - call.arrived).as_secs_f64()).sum();
    relay.stop().await?;

    let sent = invocation.answer["sent"].as_f64().context("no report")?;
    let (took, each) = (invocation.took.as_secs_f64(), processor / sent);
    let share = memory / MEGABYTES_OF_A_PROCESSOR / each;
    println!("\n|  |  |\n|---|---|");
    println!("| tickets sent, of {} | {sent:.0} |", arguments.due);
    println!("| calls of AWS | {} |", calls.len());
    println!("| took | {took:.2} s, {held:.2} s of it AWS in memory's |");
    println!("| tickets a second on this machine, without AWS | {:.0} |", sent / (took - held));
    println!("| processor time of a ticket | {:.3} ms |", each * 1000.0);
    println!("| so many a second would fill one core | {:.0} |", 1.0 / each);
    println!("| with {memory} MB in Lambda, by processor time | {share:.0} |");
    let sends_for = time_limit.saturating_sub(TIME_TO_STOP).as_secs_f64();
    println!("| in a run, which sends for {sends_for} s | {:.0} |", share * sends_for);
    Ok(())
}
