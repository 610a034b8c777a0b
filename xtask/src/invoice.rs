//! `cargo xtask invoice`: a sample invoice as a PDF, to look at.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use tokio::process::Command;

use crate::root;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Which, such as one-line, forty-lines or mixed-scripts; an unknown name lists all
    #[arg(long, default_value = "mixed-scripts")]
    sample: String,
    /// Where to write it
    #[arg(short, long, default_value = "invoice.pdf")]
    output: PathBuf,
}

/// By the worker's own example, so that this command need not be built with the PDF engine.
pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    let output = std::path::absolute(&arguments.output)?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command
        .args(["run", "--quiet", "--package", "invoice-worker", "--example", "sample-invoice", "--"])
        .arg(&arguments.sample)
        .arg(&output)
        .current_dir(root()?);
    let status = command.status().await.context("cannot run cargo")?;
    ensure!(status.success(), "no invoice was written: see the message above");
    println!("Wrote {}", output.display());
    Ok(())
}
