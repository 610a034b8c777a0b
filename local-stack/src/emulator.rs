//! The local AWS: ministack, a Python program, in a process group of its own together with the functions
//! it runs.
//!
//! Guarantee: the group ends when the stack stops, is dropped, or its process is killed in any way, because
//! the emulator reads a pipe that only this process holds open.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::aws::CREDENTIALS;
use crate::{Progress, REGION, processes};

const HEALTHY_WITHIN: Duration = Duration::from_mins(1);
// A little more than run.py gives itself to save the state.
const GONE_WITHIN: Duration = Duration::from_secs(25);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

pub(crate) struct Emulator {
    url: String,
    process: u32,
    files: Files,
    lifeline: Option<ChildStdin>,
    exit: watch::Receiver<Option<String>>,
}

impl Emulator {
    /// Starts the emulator and waits until it answers.
    ///
    /// The functions find AWS at `functions_endpoint`: at the emulator, or at a proxy before it.
    pub(crate) async fn start(venv: &Path, port: u16, functions_endpoint: &str, state_dir: &Path) -> Result<Self> {
        let files = Files::of(state_dir);
        // Unpacked functions of earlier versions would pile up.
        if files.temporary.exists() {
            fs::remove_dir_all(&files.temporary)?;
        }
        fs::create_dir_all(&files.temporary)?;
        fs::write(&files.program, include_str!("emulator/run.py"))?;
        fs::write(files.program.with_file_name("alarms.py"), include_str!("emulator/alarms.py"))?;
        fs::write(files.program.with_file_name("streams.py"), include_str!("emulator/streams.py"))?;
        if files.log.exists() {
            fs::rename(&files.log, files.log.with_extension("previous.log"))?;
        }
        let log = File::create(&files.log)?;
        let url = format!("http://127.0.0.1:{port}");

        let mut command = Command::new(venv.join("bin/python"));
        command.arg(&files.program);
        // Nothing of the developer's shell goes in: the functions inherit this environment, and a proxy or
        // an AWS profile would lead them away from the emulator.
        command.env_clear().envs(CREDENTIALS).envs(settings(functions_endpoint, port, &files));
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command.current_dir(&files.directory).process_group(0);
        command.stdin(Stdio::piped()).stdout(log.try_clone()?).stderr(log);
        let mut child = command.spawn().context("cannot start the local AWS")?;

        let process = child.id();
        fs::write(&files.pid, process.to_string())?;
        let lifeline = child.stdin.take();
        let mut emulator = Self { url, process, files, lifeline, exit: watch_exit(child) };
        emulator.wait_until_healthy().await?;
        Ok(emulator)
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Waits until the emulator ends by itself, which it never should, and says so.
    pub(crate) async fn crashed(&self) -> String {
        let mut exit = self.exit.clone();
        let status = match exit.wait_for(Option::is_some).await {
            Ok(status) => status.clone().unwrap_or_default(),
            Err(_) => "lost".to_owned(),
        };
        format!("the local AWS stopped by itself ({status}); its last words are in {}", self.files.log.display())
    }

    /// Lets the emulator save its state and end, with all functions.
    pub(crate) async fn stop(mut self) {
        drop(self.lifeline.take());
        let mut exit = self.exit.clone();
        tokio::time::timeout(GONE_WITHIN, exit.wait_for(Option::is_some)).await.ok();
        // What is left is cleared up by `drop`.
    }

    async fn wait_until_healthy(&mut self) -> Result<()> {
        let health = format!("{}/_ministack/health", self.url);
        let client = reqwest::Client::new();
        let end = Instant::now() + HEALTHY_WITHIN;
        while Instant::now() < end {
            let answer = client.get(&health).timeout(Duration::from_secs(5)).send().await;
            if answer.is_ok_and(|answer| answer.status().is_success()) {
                return Ok(());
            }
            if self.exit.borrow().is_some() {
                bail!(self.crashed().await);
            }
            sleep(LOOK_AGAIN).await;
        }
        bail!("the local AWS does not answer after {} s; see {}", HEALTHY_WITHIN.as_secs(), self.files.log.display());
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        drop(self.lifeline.take());
        let end = Instant::now() + GONE_WITHIN;
        while self.exit.borrow().is_none() && Instant::now() < end {
            thread::sleep(LOOK_AGAIN);
        }
        // Also after a crash of the emulator alone: its functions are still in the group.
        processes::kill_group(self.process);
        fs::remove_file(&self.files.pid).ok();
        fs::remove_dir_all(&self.files.temporary).ok();
    }
}

/// Ends what an earlier run left behind that could not stop it, because it was killed.
pub(crate) async fn end_leftover(state_dir: &Path, progress: &Progress) -> Result<()> {
    let files = Files::of(state_dir);
    if let Ok(process) = fs::read_to_string(&files.pid) {
        let process = process.trim().parse().unwrap_or_default();
        let ours = || processes::has_argument(process, &files.program);
        if ours()? {
            progress("An earlier run was killed: its local AWS is saving its state");
            let end = Instant::now() + GONE_WITHIN;
            while ours()? && Instant::now() < end {
                sleep(LOOK_AGAIN).await;
            }
            if ours()? {
                processes::kill_group(process);
            }
        }
        fs::remove_file(&files.pid).ok();
    }
    for function in processes::of_any_function(state_dir)? {
        processes::kill(function);
    }
    Ok(())
}

struct Files {
    directory: PathBuf,
    program: PathBuf,
    pid: PathBuf,
    log: PathBuf,
    temporary: PathBuf,
}

impl Files {
    fn of(state_dir: &Path) -> Self {
        let directory = state_dir.join("emulator");
        Self {
            program: directory.join("run.py"),
            pid: directory.join("pid"),
            log: directory.join("emulator.log"),
            temporary: directory.join("tmp"),
            directory,
        }
    }
}

fn settings(endpoint: &str, port: u16, files: &Files) -> Vec<(&'static str, String)> {
    let path = |path: &Path| path.display().to_string();
    vec![
        ("BIND_HOST", "127.0.0.1".to_owned()),
        // It stands in queue addresses, where `localhost` could mean the IPv6 one.
        ("MINISTACK_HOST", "127.0.0.1".to_owned()),
        ("GATEWAY_PORT", port.to_string()),
        ("AWS_ENDPOINT_URL", endpoint.to_owned()),
        ("MINISTACK_REGION", REGION.to_owned()),
        ("PERSIST_STATE", "1".to_owned()),
        ("STATE_DIR", path(&files.directory.join("state"))),
        ("S3_PERSIST", "1".to_owned()),
        ("S3_DATA_DIR", path(&files.directory.join("s3"))),
        ("LAMBDA_EXECUTOR", "local".to_owned()),
        ("IOT_MTLS_ENABLED", "0".to_owned()),
        ("SFTP_ENABLED", "0".to_owned()),
        // It must not tidy up the containers of a developer who has Docker.
        ("DOCKER_HOST", "unix:///nowhere".to_owned()),
        ("HOME", path(&files.directory)),
        ("TMPDIR", path(&files.temporary)),
        ("LANG", "C.UTF-8".to_owned()),
        ("PYTHONUNBUFFERED", "1".to_owned()),
    ]
}

/// A thread waits for the process: it works without a runtime, which `drop` may not have.
fn watch_exit(mut child: Child) -> watch::Receiver<Option<String>> {
    let (sender, receiver) = watch::channel(None);
    thread::spawn(move || {
        let status = child.wait();
        sender.send(Some(in_words(status))).ok();
    });
    receiver
}

fn in_words(status: io::Result<ExitStatus>) -> String {
    match status {
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    }
}
