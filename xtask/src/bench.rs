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
}

pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    interruptible(Box::pin(measure(arguments))).await
}

async fn measure(arguments: &Arguments) -> Result<()> {
    let (root, progress) = (root()?, progress());
    let built = packages::build(&root, &progress).await?;
    let aws = Aws::default();
    let url = bench::serve(aws.clone()).await?;
    bench::caller::issue_key(&aws).await?;
    let contestants = contestants::all(&built, &url, &root);

    progress("Comparing the answers of Rust and Python");
    let compared = equality::check(&aws, &contestants).await?;
    progress(&format!("{compared} answers, and the rows they left, are the same"));

    let prepared = rounds::prepare(&aws, &contestants).await?;
    let measured = rounds::run(&aws, &prepared, &contestants, arguments.starts, &progress).await?;
    report::write(&root, &measured, arguments)
}
