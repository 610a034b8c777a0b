//! `cargo xtask invoice`: a sample invoice as a PDF, to look at.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use tokio::process::Command;

use crate::program::{Profile, StatusOk as _, cargo};
use crate::root;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Which, such as one-line, forty-lines or mixed-scripts; an unknown name lists all
    #[arg(long, default_value = "mixed-scripts")]
    pub(crate) sample: String,
    /// Where to write it
    #[arg(short, long, default_value = "invoice.pdf")]
    pub(crate) output: PathBuf,
}

/// By the worker's own example, so that this command need not be built with the PDF engine.
pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    let output = std::path::absolute(&arguments.output)?;
    let root = root()?;
    // With the features of the whole workspace, as the tests build it.
    cargo(&root, &["build", "--quiet", "--workspace", "--example", "sample-invoice"]).status_ok().await?;
    let program = Profile::Debug.directory(&root).join("examples/sample-invoice");
    Command::new(program).arg(&arguments.sample).arg(&output).status_ok().await?;
    println!("Wrote {}", output.display());
    Ok(())
}
