//! Other programs that the commands run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use tokio::process::Command;

/// The cargo that runs this.
pub(crate) fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command.args(arguments).current_dir(root);
    command
}

/// How cargo builds programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Quickly.
    Debug,
    /// As they go to AWS.
    Release,
}

impl Profile {
    /// What cargo is told.
    pub(crate) const fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Debug => &[],
            Self::Release => &["--release"],
        }
    }

    /// Where the programs are then.
    pub(crate) fn directory(self, root: &Path) -> PathBuf {
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
        target.join(match self {
            Self::Debug => "debug",
            Self::Release => "release",
        })
    }
}

pub(crate) trait StatusOk {
    /// Runs it with our own output; an error says which program failed, since it has said why itself.
    async fn status_ok(&mut self) -> Result<()>;
}

impl StatusOk for Command {
    async fn status_ok(&mut self) -> Result<()> {
        let program = self.as_std().get_program().to_string_lossy().into_owned();
        self.stdin(Stdio::null()).kill_on_drop(true);
        let status = self.status().await.with_context(|| format!("cannot run {program}"))?;
        ensure!(status.success(), "{program} failed ({status}): see its messages above");
        Ok(())
    }
}
