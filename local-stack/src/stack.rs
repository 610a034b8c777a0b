//! The stack as a whole: what is started in which order, and stopped again.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use tokio::task::JoinHandle;

use crate::addresses::StackAddresses;
use crate::emulator::{self, Emulator};
use crate::faults::Faults;
use crate::inbox::Inbox;
use crate::ports::{self, Listeners, Ports};
use crate::{InboxClient, Progress, REGION, deploy, functions, gateway, page, pump, python};

/// How to start a stack.
pub struct Options {
    /// The root of the workspace.
    pub root: PathBuf,
    /// Ports to take.
    pub ports: Ports,
    /// Where the stack keeps tables, queues, files and mails.
    pub state_dir: PathBuf,
    /// Forget what an earlier run kept there.
    pub fresh: bool,
    /// Template parameters other than the local ones.
    pub parameters: BTreeMap<String, String>,
    /// What goes wrong between the functions and AWS, if anything should.
    pub faults: Option<Arc<Faults>>,
    /// Told what is being done.
    pub progress: Progress,
}

/// A stack with the same state directory is up already.
#[derive(Debug)]
pub struct AlreadyRunning {
    /// Where it is, if it is already that far.
    pub addresses: Option<StackAddresses>,
}

impl fmt::Display for AlreadyRunning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a local stack with the same state is already running")
    }
}

impl std::error::Error for AlreadyRunning {}

/// A running stack. Dropping it stops everything it has started.
pub struct LocalStack {
    addresses: StackAddresses,
    emulator: Emulator,
    servers: Servers,
    // Held to the end: the system gives it back even when this process is killed.
    _lock: File,
}

impl LocalStack {
    /// Builds, starts and deploys everything; when this returns, the stack is ready.
    pub async fn start(options: Options) -> Result<Self> {
        let Options { root, ports, state_dir, fresh, parameters, faults, progress } = options;
        fs::create_dir_all(&state_dir).with_context(|| format!("cannot create {}", state_dir.display()))?;
        // Processes are recognized by this path, so there must be one way to write it.
        let state_dir = state_dir.canonicalize()?;
        let lock = lock(&state_dir)?;
        // A killed run leaves its addresses behind, which are nobody's now.
        fs::remove_file(Self::addresses_file(&state_dir)).ok();
        emulator::end_leftover(&state_dir, &progress).await?;
        if fresh {
            progress("Forgetting the state of earlier runs");
            forget(&state_dir)?;
        }
        let listeners = Listeners::bind(ports).await?;

        let (zips, venvs) = tokio::try_join!(functions::build(&root, &progress), async {
            let emulator = python::virtual_environment(&root, "emulator", &progress).await?;
            let deploy = python::virtual_environment(&root, "deploy", &progress).await?;
            Ok((emulator, deploy))
        })?;
        let (emulator_venv, deploy_venv) = venvs;

        let mut addresses = StackAddresses {
            api_url: ports::http(&listeners.api)?,
            page_url: ports::http(&listeners.page)?,
            inbox_url: ports::http(&listeners.inbox)?,
            smtp_url: format!("smtp://{}", listeners.smtp.local_addr()?),
            emulator_url: ports::http(&listeners.emulator)?,
            region: REGION.to_owned(),
            state_dir: state_dir.clone(),
            outputs: BTreeMap::new(),
        };
        // First, since a kept queue may have tickets, whose mails go out as soon as the emulator runs.
        let inbox = Inbox::start(listeners.smtp, &state_dir.join("mails"))?;
        let inbox_page = inbox.serve_page(listeners.inbox);
        let mut servers = Servers { tasks: vec![inbox_page], inbox };
        let functions_endpoint = match faults {
            None => addresses.emulator_url.clone(),
            Some(faults) => {
                let (endpoint, proxy) = faults.stand_before(addresses.emulator_url.clone()).await?;
                servers.tasks.push(proxy);
                endpoint
            }
        };

        progress("Local AWS: starting");
        let emulator_port = listeners.emulator.local_addr()?.port();
        drop(listeners.emulator);
        let emulator = Emulator::start(&emulator_venv, emulator_port, &functions_endpoint, &state_dir).await?;
        let mut all_parameters = local_parameters(&addresses);
        all_parameters.extend(parameters);
        let deployment = deploy::deploy(&root, &deploy_venv, emulator.url(), &zips, &all_parameters, &progress);
        addresses.outputs = tokio::select! {
            outputs = deployment => outputs?,
            crash = emulator.crashed() => bail!(crash),
        };

        Box::pin(crate::keys::issue(&addresses)).await?;
        let api_id = addresses.output("ApiId")?;
        servers.tasks.push(pump::start(emulator.url()));
        servers.tasks.push(gateway::serve(listeners.api, emulator.url(), api_id));
        servers.tasks.push(page::serve(listeners.page, &root.join("web"), &addresses.api_url, &addresses.inbox_url));
        addresses.write(&Self::addresses_file(&state_dir))?;
        Ok(Self { addresses, emulator, servers, _lock: lock })
    }

    /// The file with the addresses of the stack that has this state directory.
    #[must_use]
    pub fn addresses_file(state_dir: &Path) -> PathBuf {
        state_dir.join("stack.json")
    }

    /// Where everything is.
    #[must_use]
    pub fn addresses(&self) -> &StackAddresses {
        &self.addresses
    }

    /// The inbox.
    #[must_use]
    pub fn inbox(&self) -> InboxClient {
        self.addresses.inbox()
    }

    /// Returns only if a part of the stack ends by itself, and says which and why.
    pub async fn crashed(&self) -> String {
        self.emulator.crashed().await
    }

    /// Saves the state and stops everything.
    pub async fn stop(self) {
        drop(self.servers);
        fs::remove_file(Self::addresses_file(&self.addresses.state_dir)).ok();
        self.emulator.stop().await;
    }
}

/// What this process itself serves.
struct Servers {
    tasks: Vec<JoinHandle<()>>,
    inbox: Arc<Inbox>,
}

impl Drop for Servers {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
        // Connections to the page may outlive its task and keep the inbox in memory.
        self.inbox.close();
    }
}

fn lock(state_dir: &Path) -> Result<File> {
    let file = File::create(state_dir.join("lock"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let addresses = StackAddresses::read(&LocalStack::addresses_file(state_dir)).ok();
            bail!(AlreadyRunning { addresses });
        }
        Err(TryLockError::Error(error)) => Err(error).context("cannot lock the state directory"),
    }
}

fn forget(state_dir: &Path) -> Result<()> {
    for kept in ["emulator", "mails"] {
        let kept = state_dir.join(kept);
        if kept.exists() {
            fs::remove_dir_all(&kept).with_context(|| format!("cannot remove {}", kept.display()))?;
        }
    }
    Ok(())
}

fn local_parameters(stack: &StackAddresses) -> BTreeMap<String, String> {
    [
        ("Environment", "local"),
        ("MailProvider", "smtp"),
        ("MailFrom", "invoices@lioncity.example"),
        ("SmtpUrl", &stack.smtp_url),
        ("MailsPerSecond", "20"),
        ("WorkerConcurrency", "2"),
        ("AllowedOrigins", &stack.page_url),
        ("PublicUrl", &stack.api_url),
        ("SimulatorEnabled", "true"),
        // Endpoints of tests, and of whoever tries webhooks here.
        ("WebhookAllowedPrivate", "127.0.0.1"),
        // The tests look through it for what must not be in it, at any level.
        ("LogLevel", "DEBUG"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}
