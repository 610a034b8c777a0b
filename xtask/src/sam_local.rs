//! `cargo xtask sam-local`: every function with every sample event, by `sam local invoke`, against a local stack.

use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use local_stack::{REGION, StackAddresses, virtual_environment};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio::task::AbortHandle;

use crate::interrupt::interruptible;
use crate::target::{self, Target};
use crate::{progress, root};

/// The functions by their names in template.yaml, with the beginning of their events' names.
const FUNCTIONS: [(&str, &str); 9] = [
    ("ApiFunction", "api"),
    ("DomainEventsFunction", "domain-events"),
    ("InvoiceWorkerFunction", "invoice-worker"),
    ("MailEventsFunction", "mail-events"),
    ("OutboxRelayFunction", "outbox-relay"),
    ("ParcelSimulatorFunction", "parcel-simulator"),
    ("WebhookFanOutFunction", "webhook-fan-out"),
    ("WebhookRelayFunction", "webhook-relay"),
    ("WebhookWorkerFunction", "webhook-worker"),
];

/// Where a function finds AWS.
const ENDPOINT: &str = "AWS_ENDPOINT_URL";

/// The file, beside the template, with what is different for containers.
const OVERRIDES: &str = "variables.json";

/// What comes out of an event, on a stack that has just been started. `events/README.md` says it in words.
enum Expected {
    /// An HTTP answer with this status.
    Status(u16),
    /// Just this.
    Answer(Value),
    /// A report with these members, whatever their numbers.
    Report(&'static [&'static str]),
}

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
    let mut events = fs::read_dir(root.join("events"))?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    events.retain(|event| event.extension().is_some_and(|extension| extension == "json"));
    events.sort();
    for event in &events {
        let name = event.file_stem().and_then(|name| name.to_str()).context("an event's name is no text")?;
        let function = FUNCTIONS.iter().find(|(_, beginning)| name.starts_with(beginning));
        let (function, _) = function.with_context(|| format!("{name} is for no function"))?;
        let begin = Instant::now();
        let answer = invoke(&root, &tools, function, event).await?;
        let told =
            check(&expected(name)?, &answer).with_context(|| format!("{function} answers {name} with {answer}"))?;
        println!("  {name:<32} {told:<44} {:>5.1} s", begin.elapsed().as_secs_f32());
    }
    println!("\nAll {} events were answered as they should be.", events.len());
    Ok(())
}

fn expected(event: &str) -> Result<Expected> {
    Ok(match event {
        "api-health" | "api-list-parcels" | "api-queue" => Expected::Status(200),
        "api-create-parcel" => Expected::Status(201),
        "api-request-invoice" | "api-track" | "api-report-event" | "api-cancel-parcel" | "api-upload-proof" => {
            Expected::Status(404)
        }
        "invoice-worker-tickets" => Expected::Answer(json!({"batchItemFailures": [
            {"itemIdentifier": "0d1f6c1e-4a0b-4f7e-9d0a-5b8c2f3e1a01"},
            {"itemIdentifier": "0d1f6c1e-4a0b-4f7e-9d0a-5b8c2f3e1a03"},
        ]})),
        "domain-events-parcel" | "domain-events-invoice" | "webhook-fan-out-events" | "webhook-worker-tickets" => {
            Expected::Answer(json!({"batchItemFailures": []}))
        }
        "outbox-relay-schedule" | "webhook-relay-schedule" => {
            Expected::Report(&["sent", "refused", "overtaken", "failed"])
        }
        "parcel-simulator-schedule" => Expected::Report(&["moved"]),
        mail if mail.starts_with("mail-events-") => Expected::Answer(json!("Nothing")),
        _ => bail!("nothing is known of what comes out of {event}: say it in {} and in events/README.md", file!()),
    })
}

/// Compares, and says in few words what came.
fn check(expected: &Expected, answer: &Value) -> Result<String> {
    match expected {
        Expected::Status(status) => {
            ensure!(answer["statusCode"] == *status, "{status} was expected");
            Ok(status.to_string())
        }
        Expected::Answer(wanted) => {
            ensure!(answer == wanted, "{wanted} was expected");
            Ok(match answer["batchItemFailures"].as_array() {
                Some(failures) => format!("{} records come back", failures.len()),
                None => answer.to_string(),
            })
        }
        Expected::Report(members) => {
            let numbers = members.iter().all(|member| answer[member].is_u64());
            ensure!(numbers, "numbers called {} were expected", members.join(", "));
            Ok(answer.to_string())
        }
    }
}

/// Provides image, template and code; returns the address under which containers see this machine.
async fn prepare(root: &Path, tools: &Path, stack: &StackAddresses) -> Result<String> {
    let mut settings = Map::new();
    for (function, _) in FUNCTIONS {
        let mut variables = stack.function_variables(&format!("{function}Name")).await?;
        // SAM gives a function only such variables as its template has.
        variables.insert(ENDPOINT.to_owned(), stack.emulator_url.clone());
        settings.insert(function.to_owned(), json!(variables));
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
