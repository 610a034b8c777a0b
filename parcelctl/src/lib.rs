//! `parcelctl`: what operators do when something has not gone by itself.
//!
//! Everything it changes is one conditional write per invoice, so two operators at once, or one who asks twice, do no
//! more than one who asks once.

//!
//! A library only so that `interleavings` can play an operator.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line speaks through its output")]

mod arguments;
mod dead_letters;
mod desk;
mod invoice;
mod select;
mod suppression;
mod words;

use std::process::ExitCode;

use clap::Parser as _;

use arguments::{Arguments, Command, DeadLetters, InvoiceCommand, SuppressionCommand};

pub use dead_letters::retry_letter;
pub use desk::Desk;
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
    let desk = Desk::open(arguments.env_file.as_deref()).await?;
    let json = arguments.json;
    match arguments.command {
        Command::DeadLetters(DeadLetters::List { group }) => dead_letters::list(&desk, group.as_deref(), json).await,
        Command::DeadLetters(DeadLetters::Show { which }) => dead_letters::show(&desk, which, json).await,
        Command::DeadLetters(DeadLetters::Retry { selection, rate, set_email }) => {
            dead_letters::retry(&desk, &selection.into(), rate, set_email, json).await
        }
        Command::DeadLetters(DeadLetters::Drop { selection, reason }) => {
            dead_letters::drop(&desk, &selection.into(), &reason, json).await
        }
        Command::Invoice(InvoiceCommand::Show { id }) => invoice::show(&desk, id, json).await,
        Command::Invoice(InvoiceCommand::Retry { id, set_email }) => invoice::retry(&desk, id, set_email, json).await,
        Command::Suppression(SuppressionCommand::Show { address }) => suppression::show(&desk, &address, json).await,
        Command::Suppression(SuppressionCommand::Remove { address }) => {
            suppression::remove(&desk, &address, json).await
        }
    }
}
