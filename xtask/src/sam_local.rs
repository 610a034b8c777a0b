//! `cargo xtask sam-local`: every function with every sample event, by `sam local invoke`, against a local stack.

use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use local_stack::{FUNCTIONS, REGION, StackAddresses, resource, virtual_environment};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio::task::AbortHandle;

use crate::interrupt::interruptible;
use crate::target::{self, Target};
use crate::{progress, root, sample_events};

/// Where a function finds AWS.
const ENDPOINT: &str = "AWS_ENDPOINT_URL";

/// The file, beside the template, with what is different for containers.
const OVERRIDES: &str = "variables.json";

pub(crate) async fn run(arguments: &target::Arguments) -> Result<()> {
    interruptible(async {
        let target = Target::open(arguments, "sam-local", [].into()).await?;
        let result = match &target.addresses {
            Some(addresses) => every_event(addresses).await,
            None => Err(anyhow::anyhow!("{} is not a stack of this machine", target.api.url())),
        };
        target.close().await;
        result
    })
    .await
}

async fn every_event(stack: &StackAddresses) -> Result<()> {
    let root = root()?;
    let tools = virtual_environment(&root, "checks", &progress()).await?.join("bin");
    let way = Way::open(&prepare(&root, &tools, stack).await?, stack).await?;
    let endpoint = json!({"Parameters": {ENDPOINT: way.endpoint}});
    fs::write(directory(&root).join(OVERRIDES), endpoint.to_string())?;
    println!("\nsam local invoke");
    let events = sample_events::all(&root)?;
    for event in &events {
        let (begin, function) = (Instant::now(), resource(event.function));
        let answer = invoke(&root, &tools, &function, &event.file).await?;
        let told = event.check(&answer)?;
        println!("  {:<32} {told:<44} {:>5.1} s", event.name, begin.elapsed().as_secs_f32());
    }
    println!("\nAll {} events were answered as they should be.", events.len());
    Ok(())
}

/// Provides image, template and code; returns the address under which containers see this machine.
async fn prepare(root: &Path, tools: &Path, stack: &StackAddresses) -> Result<String> {
    let mut settings = Map::new();
    for function in FUNCTIONS.map(resource) {
        let mut variables = stack.function_variables(&format!("{function}Name")).await?;
        // SAM gives a function only such variables as its template has.
        variables.insert(ENDPOINT.to_owned(), stack.emulator_url.clone());
        settings.insert(function, json!(variables));
    }
    let mut command = Command::new(tools.join("python"));
    command.args(["local-stack/deploy/sam_local.py", "--template", "template.yaml", "--zips", ".local/zips"]);
    command.arg("--directory").arg(directory(root)).current_dir(root).env("PYTHONDONTWRITEBYTECODE", "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().context("cannot run sam_local.py")?;
    let mut stdin = child.stdin.take().context("sam_local.py has no input")?;
    stdin.write_all(Value::Object(settings).to_string().as_bytes()).await?;
    drop(stdin);
    let output = child.wait_with_output().await?;
    ensure!(output.status.success(), "sam local cannot be prepared: see above");
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

fn directory(root: &Path) -> PathBuf {
    root.join(".local/sam")
}

async fn invoke(root: &Path, tools: &Path, function: &str, event: &Path) -> Result<Value> {
    let mut command = Command::new(tools.join("sam"));
    command.args(["local", "invoke", function, "--skip-pull-image", "--region", REGION, "--event"]).arg(event);
    command.arg("--template").arg(directory(root).join("template.json"));
    command.arg("--env-vars").arg(directory(root).join(OVERRIDES)).current_dir(root);
    command.env("SAM_CLI_TELEMETRY", "0").env_remove("AWS_PROFILE");
    // SAM hands them on; the emulator believes anyone.
    command.env("AWS_ACCESS_KEY_ID", "test").env("AWS_SECRET_ACCESS_KEY", "test");
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await.context("cannot run sam")?;
    let answer = serde_json::from_slice(&output.stdout).ok().filter(|_| output.status.success());
    answer.with_context(|| format!("{function} gives no answer:\n{}", String::from_utf8_lossy(&output.stderr).trim()))
}

/// How containers reach the emulator, which listens on 127.0.0.1 only, where a container finds itself.
struct Way {
    endpoint: String,
    forwarding: Option<AbortHandle>,
}

impl Way {
    /// On Linux a port of this machine's end of Docker's bridge, for as long as it is needed; with Docker Desktop the
    /// bridge is in a virtual machine, from which there is a way already.
    async fn open(gateway: &str, stack: &StackAddresses) -> Result<Self> {
        let emulator = stack.emulator_url.trim_start_matches("http://").to_owned();
        let gateway: Ipv4Addr = gateway.parse().with_context(|| format!("{gateway:?} is no address"))?;
        let Ok(listener) = TcpListener::bind((gateway, 0)).await else {
            let port = emulator.rsplit(':').next().unwrap_or_default();
            return Ok(Self { endpoint: format!("http://host.docker.internal:{port}"), forwarding: None });
        };
        let endpoint = format!("http://{}", listener.local_addr()?);
        let forwarding = tokio::spawn(async move {
            while let Ok((mut container, _)) = listener.accept().await {
                let emulator = emulator.clone();
                tokio::spawn(async move {
                    if let Ok(mut emulator) = TcpStream::connect(emulator).await {
                        // Whoever closes first ends it.
                        copy_bidirectional(&mut container, &mut emulator).await.ok();
                    }
                });
            }
        });
        Ok(Self { endpoint, forwarding: Some(forwarding.abort_handle()) })
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        if let Some(forwarding) = &self.forwarding {
            forwarding.abort();
        }
    }
}
