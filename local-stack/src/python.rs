//! Python for the emulator and the deployment: found, and given virtual environments with pinned packages.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use tokio::process::Command;

use crate::Progress;

/// Why there is no usable Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PythonProblem {
    /// None on the path, or only an older one.
    Missing,
    /// Python is there, the module that makes virtual environments is not.
    NoVenv,
}

const CHECK: &str = "import sys\nif sys.version_info < (3, 10): sys.exit(3)\n\
                     try:\n import ensurepip, venv\nexcept ImportError: sys.exit(4)";

/// A Python of at least 3.10 that can make virtual environments.
pub async fn find_python() -> Result<&'static str, PythonProblem> {
    let mut problem = PythonProblem::Missing;
    for name in ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10"] {
        let mut check = Command::new(name);
        check.args(["-c", CHECK]).stdin(Stdio::null());
        check.stdout(Stdio::null()).stderr(Stdio::null());
        match check.status().await.ok().and_then(|status| status.code()) {
            Some(0) => return Ok(name),
            Some(4) => problem = PythonProblem::NoVenv,
            _ => {}
        }
    }
    Err(problem)
}

impl PythonProblem {
    /// The one line that says what to do.
    #[must_use]
    pub fn advice(self) -> &'static str {
        match self {
            Self::Missing => {
                "Python 3.10 or newer is needed and not there: install it (Debian or Ubuntu: \
                 apt install python3 python3-venv; macOS: brew install python), then run this again"
            }
            Self::NoVenv => {
                "Python's venv module is missing: install it (Debian or Ubuntu: \
                 apt install python3-venv), then run this again"
            }
        }
    }
}

/// The virtual environment `name` with the packages of `local-stack/deploy/requirements-{name}.txt`,
/// made anew only when that file has changed.
pub async fn virtual_environment(root: &Path, name: &str, progress: &Progress) -> Result<PathBuf> {
    let requirements = root.join(format!("local-stack/deploy/requirements-{name}.txt"));
    let wanted = fs::read(&requirements).with_context(|| format!("cannot read {}", requirements.display()))?;
    let wanted = format!("{:x}", Sha256::digest(&wanted));

    let local = root.join(".local");
    fs::create_dir_all(&local)?;
    let directory = local.join(format!("venv-{name}"));
    let stamp = directory.join("requirements.sha256");
    let _one_at_a_time = lock(&local.join(format!("venv-{name}.lock"))).await?;
    // The interpreter may have gone with an upgrade of the system, which leaves a dead link behind.
    let interpreter = directory.join("bin/python");
    if fs::read_to_string(&stamp).is_ok_and(|made| made == wanted) && interpreter.exists() {
        return Ok(directory);
    }

    progress(&format!("Python packages for {name}: installing into {}", relative(root, &directory)));
    let python = match find_python().await {
        Ok(python) => python,
        Err(problem) => bail!(problem.advice()),
    };
    if directory.exists() {
        fs::remove_dir_all(&directory)?;
    }
    run(python, ["-m".as_ref(), "venv".as_ref(), directory.as_os_str()])
        .await
        .context("cannot make a virtual environment")?;
    // The file names every package that comes along; what it does not name, or what has another hash, is not installed.
    let known = ["--no-deps", "--require-hashes", "-r"];
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"];
    let install = install.iter().chain(&known).map(AsRef::as_ref).chain([requirements.as_os_str()]);
    run(&interpreter, install).await.with_context(|| format!("cannot install {}", relative(root, &requirements)))?;
    fs::write(&stamp, wanted)?;
    progress(&format!("Python packages for {name}: ready"));
    Ok(directory)
}

async fn run<'a>(program: impl AsRef<OsStr>, arguments: impl IntoIterator<Item = &'a OsStr>) -> Result<()> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    // A virtual environment that is switched on in the developer's shell is not meant here.
    command.env_remove("PYTHONHOME").env_remove("PYTHONPATH").env_remove("VIRTUAL_ENV");
    let output = command.output().await?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        let last = errors.trim().lines().last().unwrap_or("no message");
        bail!("{last}");
    }
    Ok(())
}

async fn lock(path: &Path) -> Result<File> {
    let file = File::create(path)?;
    let locked = tokio::task::spawn_blocking(move || file.lock().map(|()| file));
    Ok(locked.await??)
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}
