//! What the documents show, run against a local stack: functions from source, and the operators' command line.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use local_stack::{MERCHANT_KEY, OPERATOR_KEY, StackAddresses};
use serde_json::Value;
use tokio::process::Command;
use tokio::time::sleep;

use crate::api::Api;
use crate::documented_commands::{self, Documented, Runner};
use crate::program::{Profile, StatusOk as _, cargo};
use crate::{root, watch};

/// How long a rejected invoice may take to become a dead letter.
const PATIENCE: Duration = Duration::from_mins(1);

/// The local mail server rejects mail to addresses that begin like this.
const REJECTED: &str = "no-such-mailbox";

/// What stands in the documents for one's own dead letter or invoice.
const LETTERS: [&str; 3] = ["INV-2026-48291057", "3f2a9c1e", "d6119cc5-48cb-563d-93c9-a7fa178caa55"];

/// What stands there for one's own webhook.
const WEBHOOKS: [&str; 2] = ["3f0c2a1e-6a55-4b7e-9a53-2b8c2f3e1a01", "3f0c…"];

/// What is otherwise different here: the address of the API, and what the local mail server says to a mail it rejects.
const PUBLIC_URL: &str = "https://parcels.example.com";
const REASON: (&str, &str) = ("550 5.7.1", "550 5.1.1");

/// Sample events have stopped mail to the first of these, so that nobody can correct an address to it.
const STOPPED: (&str, &str) = ("tan@example.com", "lim@example.com");

/// `parcelctl` says so if there is nothing of the kind, which is right for one command.
const NOTHING_FOUND: i32 = 3;
const FINDS_NOTHING: &str = "--status Failed";

pub(crate) async fn run(stack: &StackAddresses) -> Result<()> {
    let root = root()?;
    let documented = documented_commands::all(&root)?;
    watch::run(stack, &documented).await?;
    // With the features that `cargo lambda watch` has just built with.
    cargo(&root, &["build", "--workspace", "--bin", "parcelctl"]).status_ok().await?;
    let here = Here::prepare(&root, stack).await?;
    for command in documented {
        match command.runner()? {
            Runner::Stack => here.run(&command).await?,
            Runner::Nobody(reason) => println!("not run: {}: {reason}", first_line(&command)),
            Runner::Watch | Runner::Step(_) => {}
        }
    }
    Ok(())
}

fn first_line(command: &Documented) -> &str {
    command.command.lines().next().unwrap_or_default()
}

struct Here<'a> {
    root: &'a Path,
    api: Api,
    api_url: &'a str,
    parcelctl: String,
    webhook: String,
}

impl<'a> Here<'a> {
    async fn prepare(root: &'a Path, stack: &'a StackAddresses) -> Result<Self> {
        let program = Profile::Debug.directory(root).join("parcelctl");
        let parcelctl = format!("{} --env-file {}", program.display(), stack.state_dir.join("env").display());
        let api = Api::new(&stack.api_url, OPERATOR_KEY);
        let mut here = Self { root, api, api_url: &stack.api_url, parcelctl, webhook: String::new() };
        // One of the sample tickets is none, and cannot be tried again.
        here.shell("parcelctl dead-letters drop --all --reason 'of sample events'").status_ok().await?;
        let create = "parcelctl --json webhooks create --owner orchard-books --url https://shop.example.com/webhooks \
                      --contact it@shop.example.com";
        let output = here.shell(create).output().await?;
        let created: Value = serde_json::from_slice(&output.stdout).with_context(|| format!("{output:?}"))?;
        created["id"].as_str().context("a webhook without an id")?.clone_into(&mut here.webhook);
        Ok(here)
    }

    fn shell(&self, command: &str) -> Command {
        let command = command.replace(PUBLIC_URL, self.api_url).replace(REASON.0, REASON.1);
        // By itself cargo would compile its dependencies once more, with other features.
        let operator =
            command.strip_prefix("cargo run -p parcelctl -- ").or_else(|| command.strip_prefix("parcelctl "));
        let command = match operator {
            Some(arguments) => format!("{} {arguments}", self.parcelctl),
            None => command.replace("curl ", "curl --fail-with-body "),
        };
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).current_dir(self.root).env("KEY", MERCHANT_KEY);
        shell.stdin(Stdio::null()).kill_on_drop(true);
        shell
    }

    async fn run(&self, documented: &Documented) -> Result<()> {
        let begin = Instant::now();
        let mut command = documented.command.clone();
        for webhook in WEBHOOKS {
            command = command.replace(webhook, &self.webhook);
        }
        if command.starts_with("parcelctl dead-letters") || command.starts_with("parcelctl invoice") {
            let invoice = self.rejected_invoice().await?;
            for letter in LETTERS {
                command = command.replace(letter, &invoice);
            }
            command = command.replace(STOPPED.0, STOPPED.1);
        }
        let output = self.shell(&command).output().await?;
        let expected =
            output.status.success() || (output.status.code() == Some(NOTHING_FOUND) && command.contains(FINDS_NOTHING));
        let said = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it).into_owned()).concat();
        ensure!(expected, "{}:{}: `{command}` ({}):\n{said}", documented.document, documented.line, output.status);
        println!("{}: {:.1} s", first_line(documented), begin.elapsed().as_secs_f32());
        Ok(())
    }

    /// An invoice whose mail was rejected, with its dead letter.
    async fn rejected_invoice(&self) -> Result<String> {
        let email = format!("{REJECTED}-{:08x}@example.com", fastrand::u32(..));
        let parcel = self.api.create_parcel("Tan Wei Ming", &email).await?.answer;
        let invoice = self.api.request_invoice(&parcel.id).await?.answer.id;
        let begin = Instant::now();
        loop {
            let found = self.shell(&format!("parcelctl dead-letters show {invoice}")).output().await?;
            if found.status.success() {
                return Ok(invoice);
            }
            ensure!(begin.elapsed() < PATIENCE, "{invoice} did not become a dead letter: {found:?}");
            sleep(Duration::from_millis(200)).await;
        }
    }
}
