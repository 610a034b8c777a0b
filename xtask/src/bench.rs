//! `cargo xtask bench`: what users feel and pay for, beside what they would use instead, in one run on one machine.

mod contestants;
mod equality;
mod packages;
mod report;
mod rounds;

use anyhow::Result;
use bench::Aws;
use clap::Args;

use crate::interrupt::interruptible;
use crate::program::Profile;
use crate::{progress, root};

/// The least that a function can be.
const FLOOR: &str = "hello";
/// The API.
const API: &str = "api";
/// The same in Python.
const PYTHON: &str = "api in Python";

/// Two starts are the least of which there is a median.
#[derive(Args)]
pub(crate) struct Arguments {
    /// How often each process is started
    #[arg(long, default_value_t = 21, value_parser = clap::value_parser!(u32).range(3..))]
    starts: u32,
    /// Print the table, and leave docs/performance.md as it is
    #[arg(long)]
    print_only: bool,
    /// One round of debug programs, and only printed: whether it works, not how fast
    #[arg(long, conflicts_with = "starts")]
    quick: bool,
}

impl Arguments {
    /// What `cargo xtask test` runs.
    pub(crate) const QUICK: Self = Self { starts: 1, print_only: true, quick: true };
}

pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    interruptible(Box::pin(measure(arguments))).await
}

async fn measure(arguments: &Arguments) -> Result<()> {
    let (root, progress) = (root()?, progress());
    let profile = if arguments.quick { Profile::Debug } else { Profile::Release };
    let starts = if arguments.quick { 1 } else { arguments.starts };
    let built = packages::build(&root, profile, &progress).await?;
    let aws = Aws::default();
    let url = bench::serve(aws.clone()).await?;
    bench::caller::issue_key(&aws).await?;
    let contestants = contestants::all(&built, &url, &root);

    progress("Comparing the answers of Rust and Python");
    let compared = equality::check(&aws, &contestants).await?;
    progress(&format!("{compared} answers, and the rows they left, are the same"));

    let prepared = rounds::prepare(&aws, &contestants).await?;
    let measured = rounds::run(&aws, &prepared, &contestants, starts, &progress).await?;
    report::write(&root, &measured, arguments)
}
