//! The developer's commands: `cargo xtask up`, `smoke`, `drill`, `chaos`, `rush`, `sam-local`, `bench`, `load`, `test`.

#![allow(clippy::print_stdout, reason = "a command line speaks through its output")]

mod api;
mod bench;
mod chaos;
mod checks;
mod commands;
mod documented_commands;
mod drill;
mod glibc;
mod instructions;
mod interrupt;
mod invoice;
mod load;
mod openapi;
mod program;
mod rush;
mod sam_local;
mod sample_events;
mod samples;
mod smoke;
mod target;
mod template;
mod up;
mod watch;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// `ParcelTrack` for developers.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run all of ParcelTrack on this machine, until Ctrl-C
    Up(up::Arguments),
    /// One parcel from its creation to the PDF behind the link in the mail
    Smoke(target::Arguments),
    /// The 11.11 drill: orders while the mail server is down, every mail once when it is back
    Drill(target::Arguments),
    /// Everything that can go wrong at once: nothing is lost, and what comes twice is explained
    Chaos(chaos::Arguments),
    /// The 11.11 rush: more orders than the mail provider takes; answers stay fast, and the backlog drains on time
    Rush(rush::Arguments),
    /// Every function with every event of events/, by `sam local invoke`; needs Docker
    SamLocal(target::Arguments),
    /// A sample invoice as a PDF
    Invoice(invoice::Arguments),
    /// Write the API's `OpenAPI` document and its page
    Openapi,
    /// What users feel and pay for, measured beside what they would use instead; writes docs/performance.md
    Bench(bench::Arguments),
    /// What it takes: the worker at full speed, tables of any size, the relay after an outage, half an hour at a steady rate
    #[command(subcommand)]
    Load(load::Command),
    /// How many instructions the busiest paths take, against what was accepted; Linux only
    Instructions(instructions::Arguments),
    /// Every test there is
    Test(checks::Arguments),
}

#[tokio::main]
async fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Up(arguments) => up::run(arguments).await,
        Command::Smoke(arguments) => smoke::run(&arguments).await,
        Command::Drill(arguments) => drill::run(&arguments).await,
        Command::Chaos(arguments) => chaos::run(&arguments).await,
        Command::Rush(arguments) => rush::run(&arguments).await,
        Command::SamLocal(arguments) => sam_local::run(&arguments).await,
        Command::Invoice(arguments) => invoice::run(&arguments).await,
        Command::Openapi => openapi::run(),
        Command::Bench(arguments) => bench::run(&arguments).await,
        Command::Load(command) => load::run(&command).await,
        Command::Instructions(arguments) => instructions::run(&arguments).await,
        Command::Test(arguments) => checks::run(&arguments).await,
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the workspace this command was built from.
fn root() -> Result<PathBuf> {
    Ok(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?)
}

/// Prints what is being done, with the seconds since the command began.
fn progress() -> local_stack::Progress {
    let begin = std::time::Instant::now();
    std::sync::Arc::new(move |line| {
        println!("{:>6.1} s  {line}", begin.elapsed().as_secs_f32());
    })
}
