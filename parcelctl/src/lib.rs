//! `parcelctl`: what operators do when something has not gone by itself.
//!
//! Everything it changes is one conditional write per invoice, so two operators at once, or one who asks twice, do no
//! more than one who asks once.
//!
//! A library only so that `interleavings` can play an operator, and that tests can read settings as it does.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line speaks through its output")]

mod arguments;
mod dead_letters;
mod desk;
mod invoice;
mod keys;
mod select;
mod suppression;
mod webhooks;
mod words;

use std::process::ExitCode;

use clap::Parser as _;

use arguments::{Arguments, Command, DeadLetters, InvoiceCommand, KeysCommand, SuppressionCommand};
use desk::Settings;
use parceltrack::clock::SystemClock;

pub use dead_letters::retry_letter;
pub use desk::{Desk, read_settings};
pub use invoice::Handled;

/// How a command ended, as scripts see it. Wrong usage, which clap tells, is 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Everything that was asked for.
    Done,
    /// Something was left undone, and the output says what.
    Incomplete,
    /// What was asked for cannot be meant.
    Usage,
    /// There is nothing of the kind.
    NothingFound,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(match outcome {
            Outcome::Done => 0,
            Outcome::Incomplete => 1,
            Outcome::Usage => 2,
            Outcome::NothingFound => 3,
        })
    }
}

/// Does what the command line asks for.
pub async fn command_line() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(outcome) => outcome.into(),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let settings = Settings::read(arguments.env_file.as_deref())?;
    let json = arguments.json;
    let desk = async || Desk::open(&settings).await;
    match arguments.command {
        Command::DeadLetters(DeadLetters::List { group }) => {
            dead_letters::list(&desk().await?, group.as_deref(), json).await
        }
        Command::DeadLetters(DeadLetters::Show { which }) => dead_letters::show(&desk().await?, which, json).await,
        Command::DeadLetters(DeadLetters::Retry { selection, rate, set_email }) => {
            dead_letters::retry(&desk().await?, &selection.into(), rate, set_email, json).await
        }
        Command::DeadLetters(DeadLetters::Drop { selection, reason }) => {
            dead_letters::drop(&desk().await?, &selection.into(), &reason, json).await
        }
        Command::Invoice(InvoiceCommand::Show { id }) => invoice::show(&desk().await?, id, json).await,
        Command::Invoice(InvoiceCommand::Retry { id, set_email }) => {
            invoice::retry(&desk().await?, id, set_email, json).await
        }
        Command::Suppression(SuppressionCommand::Show { address }) => {
            suppression::show(&desk().await?, &address, json).await
        }
        Command::Suppression(SuppressionCommand::Remove { address }) => {
            suppression::remove(&desk().await?, &address, json).await
        }
        Command::Keys(command) => keys(&settings, command, json).await,
        Command::Webhooks(command) => webhooks::run(&desk::WebhookDesk::open(&settings).await?, command, json).await,
    }
}

async fn keys(settings: &Settings, command: KeysCommand, json: bool) -> anyhow::Result<Outcome> {
    let (table, clock) = (desk::api_keys(settings).await?, SystemClock);
    match command {
        KeysCommand::Create { role, owner, label, expires_in } => {
            keys::create(&table, &clock, keys::Wanted { role: role.into(), owner, label, expires_in }, json).await
        }
        KeysCommand::List { owner } => keys::list(&table, &clock, owner.as_ref(), json).await,
        KeysCommand::Revoke { id } => keys::revoke(&table, &clock, &id, json).await,
    }
}
