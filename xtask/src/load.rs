//! `cargo xtask load`: what the functions take, as they go to AWS, and what binds them.

mod orders;
mod relay;
mod scale;
mod soak;
mod surroundings;
mod worker;

use std::path::PathBuf;

use anyhow::Result;
use clap::Subcommand;

use crate::interrupt::interruptible;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// How many invoices a second one worker makes and mails if the mail provider sets no limit
    Worker(worker::Arguments),
    /// The same requests on tables of any size; fails if one asks for more where there is more
    Scale(scale::Arguments),
    /// How many tickets the relay sends when everything is due at once
    Relay(relay::Arguments),
    /// A steady rate for some time; fails if memory, latency or open descriptors grow
    Soak(soak::Arguments),
}

pub(crate) async fn run(command: &Command) -> Result<()> {
    match command {
        Command::Worker(arguments) => interruptible(Box::pin(worker::run(arguments))).await,
        Command::Scale(arguments) => interruptible(Box::pin(scale::run(arguments))).await,
        Command::Relay(arguments) => interruptible(Box::pin(relay::run(arguments))).await,
        Command::Soak(arguments) => interruptible(Box::pin(soak::run(arguments))).await,
    }
}

/// What takes seconds, with the programs of this directory: whether it works, not how much it takes.
pub(crate) async fn smallest(directory: PathBuf) -> Result<()> {
    let programs = || surroundings::Programs::of(directory.clone());
    Box::pin(worker::run(&worker::Arguments::smallest(programs()))).await?;
    Box::pin(relay::run(&relay::Arguments::smallest(programs()))).await?;
    Box::pin(soak::smallest(&programs())).await?;
    Box::pin(scale::run(&scale::Arguments::smallest(programs()))).await
}
