//! A function's process, started as Lambda starts it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::Value;
use tokio::process::{Child, Command};

use crate::{Invocation, RuntimeApi};

/// A running function. Ends with this value.
pub struct Process {
    runtime: RuntimeApi,
    child: Child,
    started_in: Duration,
}

/// How much memory a process has in RAM, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Now.
    pub resident: u64,
    /// The most it ever had.
    pub peak: u64,
}

impl Process {
    /// Starts a program and waits until it asks for its first event. It sees these variables and `PATH`, and nothing
    /// else of the environment; for each event it may take as long as it is told.
    pub async fn start<A: AsRef<OsStr>>(
        program: impl AsRef<OsStr>,
        arguments: &[A],
        variables: &BTreeMap<String, String>,
        time_limit: Duration,
    ) -> Result<Self> {
        let runtime = RuntimeApi::start(time_limit).await?;
        let mut command = Command::new(&program);
        command.args(arguments).env_clear().envs(variables);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("AWS_LAMBDA_RUNTIME_API", runtime.address());
        command.stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true);
        let begin = Instant::now();
        let mut child =
            command.spawn().with_context(|| format!("cannot start {}", program.as_ref().to_string_lossy()))?;
        let ready = tokio::select! {
            ready = runtime.ready() => ready?,
            status = child.wait() => anyhow::bail!("ended before its first event: {}", status?),
        };
        Ok(Self { runtime, child, started_in: ready.duration_since(begin) })
    }

    /// From the start of the process to its asking for the first event.
    pub fn started_in(&self) -> Duration {
        self.started_in
    }

    /// Hands it an event and waits for the answer.
    ///
    /// # Errors
    /// If the function answers with an error, or not at all.
    pub async fn invoke(&self, event: &Value) -> Result<Invocation> {
        self.runtime.invoke(event).await
    }

    /// What it has in RAM, as Linux tells it.
    pub fn memory(&self) -> Result<Memory> {
        let id = self.child.id().context("the process has ended")?;
        let status = fs::read_to_string(format!("/proc/{id}/status")).context("memory is read from Linux's /proc")?;
        let bytes = |name: &str| -> Result<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).context("no such line")?;
            let kibibytes: u64 = line.trim_start_matches(':').trim().trim_end_matches(" kB").parse()?;
            Ok(kibibytes * 1024)
        };
        Ok(Memory { resident: bytes("VmRSS")?, peak: bytes("VmHWM")? })
    }

    /// How many files and connections it has open.
    pub fn descriptors(&self) -> Result<usize> {
        let id = self.child.id().context("the process has ended")?;
        let open = fs::read_dir(format!("/proc/{id}/fd")).context("descriptors are counted in Linux's /proc")?;
        Ok(open.count())
    }

    /// For how long it has had a processor since its start, all threads together. Unlike the time on the clock, that does
    /// not grow with what else the machine does.
    pub fn processor_time(&self) -> Result<Duration> {
        let id = self.child.id().context("the process has ended")?;
        let threads = fs::read_dir(format!("/proc/{id}/task")).context("times are read from Linux's /proc")?;
        let mut sum = Duration::ZERO;
        for thread in threads {
            // A thread may end meanwhile.
            let Ok(statistics) = fs::read_to_string(thread?.path().join("schedstat")) else { continue };
            let running = statistics.split(' ').next().context("an empty schedstat")?;
            sum += Duration::from_nanos(running.parse()?);
        }
        Ok(sum)
    }

    /// Ends it.
    pub async fn stop(mut self) -> Result<()> {
        self.child.kill().await.context("the process does not end")
    }
}
