//! `cargo xtask up`.

use anyhow::{Result, bail};
use clap::Args;
use local_stack::{AlreadyRunning, LocalStack, OPERATOR_KEY, Options, Ports, StackAddresses};

use crate::interrupt::Interrupt;
use crate::{progress, root};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Forget the parcels, invoices and mails of earlier runs
    #[arg(long)]
    fresh: bool,
    /// Port of the page
    #[arg(long, default_value_t = Ports::default().page)]
    page_port: u16,
    /// Port of the API
    #[arg(long, default_value_t = Ports::default().api)]
    api_port: u16,
    /// Port of the inbox's page
    #[arg(long, default_value_t = Ports::default().inbox)]
    inbox_port: u16,
    /// Port of the mail server
    #[arg(long, default_value_t = Ports::default().smtp)]
    smtp_port: u16,
    /// Port of the local AWS
    #[arg(long, default_value_t = Ports::default().emulator)]
    emulator_port: u16,
}

pub(crate) async fn run(arguments: Arguments) -> Result<()> {
    let root = root()?;
    let options = Options {
        ports: Ports {
            page: arguments.page_port,
            api: arguments.api_port,
            inbox: arguments.inbox_port,
            smtp: arguments.smtp_port,
            emulator: arguments.emulator_port,
        },
        state_dir: root.join(".local/state"),
        fresh: arguments.fresh,
        parameters: [].into(),
        faults: None,
        progress: progress(),
        root: root.clone(),
    };
    let mut interrupt = Interrupt::new()?;
    let started = tokio::select! {
        started = LocalStack::start(options) => started,
        () = interrupt.wait() => {
            println!("\nStopped before everything was up.");
            return Ok(());
        }
    };
    let stack = match started {
        Ok(stack) => stack,
        Err(error) => return already_running(error, arguments.fresh),
    };
    stack.addresses().write_environment_file(&root.join(".local/env")).await?;

    println!("\nParcelTrack is up:\n");
    print_addresses(stack.addresses());
    println!("\nCtrl-C stops everything and keeps the data; `cargo xtask up --fresh` forgets it.");

    tokio::select! {
        () = interrupt.wait() => {}
        crash = stack.crashed() => bail!(crash),
    }
    println!("\nStopping, and saving the data …");
    tokio::select! {
        () = stack.stop() => println!("Stopped."),
        // Whoever asks twice does not want to wait; the emulator still saves, and then ends by itself.
        () = interrupt.wait() => std::process::exit(1),
    }
    Ok(())
}

fn already_running(error: anyhow::Error, fresh: bool) -> Result<()> {
    let Some(AlreadyRunning { addresses }) = error.downcast_ref() else {
        return Err(error);
    };
    if fresh {
        bail!("ParcelTrack is up already: stop it with Ctrl-C where it runs, then forget its data");
    }
    match addresses {
        Some(addresses) => {
            println!("ParcelTrack is up already (Ctrl-C where it runs stops it):\n");
            print_addresses(addresses);
            Ok(())
        }
        None => bail!("another `cargo xtask up` is just starting or stopping here: wait for it"),
    }
}

fn print_addresses(stack: &StackAddresses) {
    println!("  page       {}", stack.page_url);
    println!("  API        {}", stack.api_url);
    println!("  inbox      {}   (mail server: {})", stack.inbox_url, stack.smtp_url);
    println!("  local AWS  {}", stack.emulator_url);
    println!("  key        {OPERATOR_KEY}   (an operator's; the page has it already)");
}
