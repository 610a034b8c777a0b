//! The README's section *One function at a time*, as it stands, and every function with every sample event in the same way.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use futures::future::try_join_all;
use local_stack::{FUNCTIONS, OPERATOR_KEY, StackAddresses, virtual_environment};
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use crate::documented_commands::{Documented, Runner};
use crate::sample_events::{self, SampleEvent};
use crate::{progress, root};

/// How long `cargo lambda watch` may take to stop.
const PATIENCE: Duration = Duration::from_mins(1);

/// What stands for the port and the file of `up` in the documents.
const WATCH: &str = "cargo lambda watch";
const ADDRESS: &str = "--invoke-address 127.0.0.1";
const URL: &str = "http://127.0.0.1:9000";
const FILE: &str = ".local/env";
const EXAMPLE: &str = "cargo lambda invoke api --invoke-address 127.0.0.1 --data-file events/api-health.json";

/// Runs `watch` and whatever the documents show beside it, on ports of its own, so that a running `up` is left alone.
pub(crate) async fn run(stack: &StackAddresses, documented: &[Documented]) -> Result<()> {
    let root = root()?;
    let events = sample_events::all(&root)?;
    let file = stack.state_dir.join("env");
    stack.write_environment_file(&file).await?;
    let port = TcpListener::bind(("127.0.0.1", 0)).await?.local_addr()?.port();
    let tools = virtual_environment(&root, "checks", &progress()).await?.join("bin");
    let here = Here { root: &root, tools: &tools, file: file.to_str().context("a path that is no text")?, port };

    let mut commands = Vec::new();
    for command in documented {
        if command.runner()? == Runner::Watch {
            commands.push(command.command.as_str());
        }
    }
    let (watches, others): (Vec<&str>, Vec<&str>) = commands.into_iter().partition(|it| it.starts_with(WATCH));
    let watch = watches.first().context("the README shows no `cargo lambda watch`")?;
    ensure!(watches.iter().all(|other| other == watch), "the documents differ: {}", watches.join("\n"));
    println!("{watch}");
    let mut watching = here.shell(&format!("exec {watch}")).spawn()?;
    let result = tokio::select! {
        result = everything(&here, &others, &events) => result,
        ended = watching.wait() => Err(anyhow::anyhow!("`{watch}` has ended: {}", ended?)),
    };
    stop(watching).await?;
    result
}

/// While it watches. The first request of each function is answered when cargo has compiled it.
async fn everything(here: &Here<'_>, documented: &[&str], events: &[SampleEvent]) -> Result<()> {
    while TcpStream::connect(("127.0.0.1", here.port)).await.is_err() {
        sleep(Duration::from_millis(100)).await;
    }
    for command in documented {
        let begin = Instant::now();
        let answer = here.answer(command).await?;
        let event = events.iter().find(|event| command.contains(&format!("events/{}.json", event.name)));
        let told = if let Some(event) = event {
            event.check(&answer)?
        } else {
            ensure!(answer["parcels"].is_array(), "`{command}` answers {answer}");
            "parcels".to_owned()
        };
        println!("{command}\n  {told}, {:.1} s", begin.elapsed().as_secs_f32());
    }
    // The simulator works for most of a minute.
    try_join_all(FUNCTIONS.map(async |function| {
        for event in events.iter().filter(|event| event.function == function) {
            let begin = Instant::now();
            let command =
                EXAMPLE.replace("invoke api", &format!("invoke {function}")).replace("api-health", &event.name);
            let told = event.check(&here.answer(&command).await?)?;
            println!("  {:<32} {told:<44} {:>5.1} s", event.name, begin.elapsed().as_secs_f32());
        }
        anyhow::Ok(())
    }))
    .await?;
    println!("\nAll {} events were answered as they should be.", events.len());
    Ok(())
}

/// What is put in the place of what the documents say.
struct Here<'a> {
    root: &'a Path,
    tools: &'a Path,
    file: &'a str,
    port: u16,
}

impl Here<'_> {
    fn shell(&self, command: &str) -> Command {
        let command = command.replace(FILE, self.file).replace(URL, &format!("http://127.0.0.1:{}", self.port));
        let command = command.replace(ADDRESS, &format!("{ADDRESS} --invoke-port {}", self.port));
        let path = std::env::var("PATH").unwrap_or_default();
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).current_dir(self.root).stdin(Stdio::null()).kill_on_drop(true);
        shell.env("PATH", format!("{}:{path}", self.tools.display())).env("KEY", OPERATOR_KEY);
        shell
    }

    /// The JSON that a command prints.
    async fn answer(&self, command: &str) -> Result<Value> {
        let output = self.shell(command).output().await?;
        let Ok(answer) = serde_json::from_slice(&output.stdout) else {
            let [out, error] = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
            bail!("`{command}` ({}) prints no JSON: {out}{error}", output.status);
        };
        Ok(answer)
    }
}

/// As Ctrl-C does, so that it ends its functions.
async fn stop(mut watching: Child) -> Result<()> {
    let Some(id) = watching.id() else { return Ok(()) };
    Command::new("kill").args(["-INT", &id.to_string()]).status().await?;
    timeout(PATIENCE, watching.wait()).await.context("`cargo lambda watch` does not stop")??;
    Ok(())
}
