//! `cargo xtask instructions`: how many instructions the busiest paths take, by valgrind. Unlike a time, that number is the
//! same on a busy machine, so it can have a bound.
//!
//! What is counted is the unoptimized program that the tests build anyway: it finds work that was added, which is what
//! regressions are, and waits for no release build.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail, ensure};
use bench::settings;
use clap::Args;
use tokio::process::Command;

use crate::interrupt::interruptible;
use crate::program::{StatusOk as _, cargo};
use crate::root;

/// What each path took when somebody last accepted it.
const ACCEPTED: &str = "bench/hot-paths/instructions.json";

/// How much more, or less, a path may take than was accepted, in per cent.
const TOLERANCE: u64 = 20;

/// The paths of the program `hot-paths`, with how often each is gone: the difference of two runs is what counts, so that
/// the start of the program does not.
const PATHS: [(&str, u64, u64); 5] = [
    ("create-parcel", 10, 50),
    ("request-invoice", 10, 50),
    ("get-parcel", 10, 50),
    ("list-parcels", 10, 50),
    ("render-one-line", 1, 4),
];

#[derive(Args)]
pub(crate) struct Arguments {
    /// Accept what is counted now, and write it down
    #[arg(long)]
    accept: bool,
}

pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    interruptible(Box::pin(async {
        let root = root()?;
        if arguments.accept { accept(&root).await } else { check(&root).await }
    }))
    .await
}

/// Fails if a path takes much more than was accepted.
pub(crate) async fn check(root: &Path) -> Result<()> {
    if !cfg!(target_os = "linux") {
        println!("Valgrind counts on Linux only, so nothing was counted.");
        return Ok(());
    }
    let accepted: BTreeMap<String, u64> = serde_json::from_slice(&fs::read(root.join(ACCEPTED))?)?;
    let mut too_many = Vec::new();
    for (path, counted) in count(root).await? {
        let accepted = *accepted.get(path).with_context(|| format!("{path} is not in {ACCEPTED}"))?;
        let verdict = Verdict::of(counted, accepted);
        println!("{path:<16} {counted:>12} instructions, {accepted:>12} accepted: {}", verdict.words());
        if verdict == Verdict::TooMany {
            too_many.push(path);
        }
    }
    ensure!(
        too_many.is_empty(),
        "{} took over {TOLERANCE} % more instructions than accepted; if that is what it costs, \
         `cargo xtask instructions --accept`, and say why in the commit",
        too_many.join(", ")
    );
    Ok(())
}

async fn accept(root: &Path) -> Result<()> {
    let counted = count(root).await?;
    fs::write(root.join(ACCEPTED), format!("{}\n", serde_json::to_string_pretty(&counted)?))?;
    println!("{ACCEPTED}");
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    TooMany,
    AsAccepted,
    Fewer,
}

impl Verdict {
    fn of(counted: u64, accepted: u64) -> Self {
        if counted * 100 > accepted * (100 + TOLERANCE) {
            Self::TooMany
        } else if counted * 100 < accepted * (100 - TOLERANCE) {
            Self::Fewer
        } else {
            Self::AsAccepted
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::TooMany => "too many",
            Self::AsAccepted => "fine",
            Self::Fewer => "fewer, which `cargo xtask instructions --accept` would keep",
        }
    }
}

/// The instructions of each path, once.
async fn count(root: &Path) -> Result<BTreeMap<&'static str, u64>> {
    // With the features of the whole workspace, as the tests build it.
    cargo(root, &["build", "--workspace", "--bin", "hot-paths"]).status_ok().await?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let program = target.join("debug/hot-paths");
    let mut counted = BTreeMap::new();
    for (path, few, many) in PATHS {
        let difference = of_program(&program, path, many).await? - of_program(&program, path, few).await?;
        counted.insert(path, difference / (many - few));
    }
    Ok(counted)
}

async fn of_program(program: &Path, path: &str, times: u64) -> Result<u64> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    valgrind.arg(program).args([path, &times.to_string()]);
    // No call goes there: AWS is in the program.
    valgrind.envs(settings::variables("http://127.0.0.1:9")).env_remove("AWS_ENDPOINT_URL");
    valgrind.stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true);
    let output = valgrind.output().await.context("valgrind is needed: `cargo xtask test --only tools` installs it")?;
    let words = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{path} failed: {words}");
    match words.lines().find_map(instructions) {
        Some(instructions) => Ok(instructions),
        None => bail!("valgrind did not say how many instructions: {words}"),
    }
}

/// Reads `==17== I   refs:      4,306,144`; newer versions leave out the spaces.
fn instructions(line: &str) -> Option<u64> {
    let (_, line) = line.split_once("== I")?;
    let (_, number) = line.split_once("refs:")?;
    number.replace(',', "").trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_take_a_fifth_more_and_not_a_quarter() {
        assert_eq!(Verdict::of(1200, 1000), Verdict::AsAccepted);
        assert_eq!(Verdict::of(1201, 1000), Verdict::TooMany);
        assert_eq!(Verdict::of(800, 1000), Verdict::AsAccepted);
        assert_eq!(Verdict::of(799, 1000), Verdict::Fewer);
    }

    #[test]
    fn the_count_is_read_in_old_and_new_words() {
        assert_eq!(instructions("==17== I   refs:      4,306,144"), Some(4_306_144));
        assert_eq!(instructions("==17== I refs:        9,999"), Some(9_999));
        assert_eq!(instructions("==17== Command: ./hot-paths"), None);
    }
}
