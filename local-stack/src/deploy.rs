//! Deploys template.yaml on the emulator.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::Command;

use crate::Progress;
use crate::aws::CREDENTIALS;

/// Deploys, and returns the outputs of the stack.
pub(crate) async fn deploy(
    root: &Path,
    venv: &Path,
    emulator: &str,
    zips: &Path,
    parameters: &BTreeMap<String, String>,
    progress: &Progress,
) -> Result<BTreeMap<String, String>> {
    let mut command = Command::new(venv.join("bin/python"));
    command.arg(root.join("local-stack/deploy/deploy.py"));
    command.arg("--template").arg(root.join("template.yaml"));
    command.args(["--endpoint", emulator, "--stack", "parceltrack", "--zips"]).arg(zips);
    for (name, value) in parameters {
        command.arg("--parameter").arg(format!("{name}={value}"));
    }
    command.envs(CREDENTIALS).env("AWS_EC2_METADATA_DISABLED", "true");
    command.env("PYTHONUNBUFFERED", "1").env("PYTHONDONTWRITEBYTECODE", "1");
    command.env_remove("AWS_PROFILE").env_remove("AWS_SESSION_TOKEN");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);

    let mut child = command.spawn().context("cannot run the deployment")?;
    let mut stdout = child.stdout.take().context("the deployment has no output")?;
    let stderr = child.stderr.take().context("the deployment has no error output")?;
    let mut outputs = String::new();
    let mut lines = BufReader::new(stderr).lines();
    let mut last_line = String::new();
    let read_outputs = stdout.read_to_string(&mut outputs);
    let read_progress = async {
        while let Some(line) = lines.next_line().await? {
            if !line.trim().is_empty() {
                progress(&format!("Deployment: {}", line.trim_end()));
                last_line = line;
            }
        }
        anyhow::Ok(())
    };
    let (read_outputs, read_progress) = tokio::join!(read_outputs, read_progress);
    read_outputs?;
    read_progress?;
    if !child.wait().await?.success() {
        bail!("the deployment of template.yaml failed: {}", last_line.trim());
    }
    serde_json::from_str(&outputs).context("the deployment printed no outputs")
}
