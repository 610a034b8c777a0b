//! Builds the functions and zips them as Lambda wants them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::UNIX_EPOCH;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use tokio::process::Command;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::Progress;

/// The functions of template.yaml; package, binary and zip have the same name.
pub const FUNCTIONS: [&str; 9] = [
    "api",
    "domain-events",
    "invoice-worker",
    "mail-events",
    "outbox-relay",
    "parcel-simulator",
    "webhook-fan-out",
    "webhook-relay",
    "webhook-worker",
];

/// What template.yaml calls this function.
#[must_use]
pub fn resource(function: &str) -> String {
    let words = function.split('-').map(|word| format!("{}{}", word[..1].to_ascii_uppercase(), &word[1..]));
    words.chain(["Function".to_owned()]).collect()
}

/// Builds all functions and returns the directory with their zips.
pub(crate) async fn build(root: &Path, progress: &Progress) -> Result<PathBuf> {
    progress("Functions: building");
    let binaries = compile(root).await?;
    let zips = root.join(".local/zips");
    fs::create_dir_all(&zips)?;
    for name in FUNCTIONS {
        let binary = binaries.get(name).with_context(|| format!("cargo built no binary called {name}"))?.clone();
        let zip = zips.join(format!("{name}.zip"));
        let stamp = zips.join(format!("{name}.source"));
        let source = fingerprint(&binary)?;
        if zip.exists() && fs::read_to_string(&stamp).is_ok_and(|made_of| made_of == source) {
            continue;
        }
        progress(&format!("Functions: zipping {name}"));
        tokio::task::spawn_blocking(move || pack(&binary, &zip)).await??;
        fs::write(stamp, source)?;
    }
    Ok(zips)
}

/// Runs cargo, whose own progress goes to the terminal, and returns the binaries by name.
async fn compile(root: &Path) -> Result<BTreeMap<String, PathBuf>> {
    #[derive(Deserialize)]
    struct Line {
        target: Option<Target>,
        executable: Option<PathBuf>,
    }
    #[derive(Deserialize)]
    struct Target {
        name: String,
    }

    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).args(["build", "--message-format=json-render-diagnostics"]);
    for name in FUNCTIONS {
        command.args(["--package", name, "--bin", name]);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
    let output = command.spawn().context("cannot run cargo")?.wait_with_output().await?;
    if !output.status.success() {
        bail!("the functions do not build: see cargo's messages above");
    }
    let lines = String::from_utf8(output.stdout)?;
    let lines = lines.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
    Ok(lines.filter_map(|line| Some((line.target?.name, line.executable?))).collect())
}

fn fingerprint(binary: &Path) -> Result<String> {
    let metadata = fs::metadata(binary)?;
    let modified = metadata.modified()?.duration_since(UNIX_EPOCH)?;
    Ok(format!("{} {}", metadata.len(), modified.as_nanos()))
}

fn pack(binary: &Path, zip: &Path) -> Result<()> {
    // Debug information is nine tenths of the binary, and no Lambda reads it. A machine without `strip`
    // gets the binary as it is: slower to start, but it runs.
    let stripped = zip.with_extension("stripped");
    let strip = std::process::Command::new("strip").arg("-o").args([&stripped, binary]).stderr(Stdio::null()).status();
    let program = if strip.is_ok_and(|status| status.success()) { &stripped } else { binary };

    let unfinished = zip.with_extension("part");
    let mut archive = ZipWriter::new(BufWriter::new(File::create(&unfinished)?));
    // Same program, same bytes: no time of day in the archive.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(1))
        .last_modified_time(zip::DateTime::default())
        .unix_permissions(0o755);
    archive.start_file("bootstrap", options)?;
    io::copy(&mut File::open(program)?, &mut archive)?;
    archive.finish()?.into_inner()?.sync_all()?;
    fs::rename(&unfinished, zip)?;
    fs::remove_file(&stripped).ok();
    Ok(())
}
