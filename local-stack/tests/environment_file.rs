//! That every program that reads `.local/env` reads what was written, whatever it is.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use local_stack::{NotAlike, environment_file, virtual_environment};
use proptest::prelude::*;
use tempfile::TempDir;
use tokio::net::TcpListener;

/// The beginning of the variables' names, by which they are told from others of the environment.
const MARK: &str = "PARCELTRACK_VALUE_";

/// Values of every kind that can be written.
const VALUES: [&str; 26] = [
    "",
    "plain",
    "http://127.0.0.1:4566/000000000000/tickets",
    "arn:aws:sqs:ap-southeast-1:000000000000:tickets",
    "8 Changi South Street 1, Singapore 486111",
    " blanks around ",
    "a\ttab",
    "it's",
    "\"quoted\"",
    "'",
    "\"",
    "$HOME and ${HOME} and $(id)",
    "`id`",
    "C:\\temp",
    "\\",
    "#beginning",
    "in the # middle",
    "a#b",
    "key=value=more",
    "=",
    "export",
    "export A=b",
    "~/home:~/home",
    "* ? [a-z] {a,b} ! ; & | < > ( )",
    "陈伟明 / Siti Nurhaliza, Grüße",
    "பொதி\u{00a0}விநியோகம்",
];

/// Values that some reader takes for something else, however they are written.
const REFUSED: [&str; 5] = ["two\nlines", "two\r\nlines", "C:\\new", "it's $5", "it's \"quoted\""];

fn variables<'a>(values: impl IntoIterator<Item = &'a str>) -> BTreeMap<String, String> {
    let named = |(number, value): (usize, &str)| (format!("{MARK}{number:02}"), value.to_owned());
    values.into_iter().enumerate().map(named).collect()
}

/// What `env -0` printed, or a program that prints the same.
fn printed(environment: &[u8]) -> BTreeMap<String, String> {
    let lines = environment.split(|byte| *byte == 0).filter_map(|line| str::from_utf8(line).ok());
    let variables = lines.filter_map(|line| line.split_once('=')).filter(|(name, _)| name.starts_with(MARK));
    variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn by_shell(file: &Path) -> BTreeMap<String, String> {
    let mut shell = Command::new("sh");
    let output = shell.args(["-c", "set -a; . \"$0\"; env -0"]).arg(file).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    printed(&output.stdout)
}

fn by_parcelctl(file: &Path) -> BTreeMap<String, String> {
    parcelctl::read_settings(file).unwrap()
}

/// A program without dependencies stands for the function: it leaves what it was given.
async fn by_cargo_lambda(directory: &Path, file: &Path) -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    // The environment that packages are built with has it.
    let tools = virtual_environment(&root, "checks", &(Arc::new(|_: &str| {}) as _)).await.unwrap().join("bin");
    let manifest = "[package]\nname = \"reader\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
    let program = "fn main() {\n    let mut all = Vec::new();\n    for (name, value) in std::env::vars_os() {\n        \
        all.extend([name.as_encoded_bytes(), b\"=\", value.as_encoded_bytes(), b\"\\0\"].concat());\n    }\n    \
        std::fs::write(\"part\", all).unwrap();\n    std::fs::rename(\"part\", \"seen\").unwrap();\n}\n";
    fs::write(directory.join("Cargo.toml"), manifest).unwrap();
    fs::create_dir(directory.join("src")).unwrap();
    fs::write(directory.join("src/main.rs"), program).unwrap();
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let mut watch = tokio::process::Command::new(tools.join("cargo-lambda"));
    watch.args(["lambda", "watch", "--ignore-changes", "--invoke-address", "127.0.0.1", "--env-file"]).arg(file);
    watch.args(["--invoke-port", &port.to_string()]).current_dir(directory).env_remove("CARGO_TARGET_DIR");
    let mut watch = watch.stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true).spawn().unwrap();
    let begin = Instant::now();
    while !directory.join("seen").exists() {
        assert_eq!(watch.try_wait().unwrap(), None, "cargo lambda watch has ended");
        assert!(begin.elapsed() < Duration::from_mins(3), "the function was never started");
        // It waits for an answer, which this function never gives.
        let request =
            reqwest::Client::new().post(format!("http://127.0.0.1:{port}/2015-03-31/functions/reader/invocations"));
        request.body("{}").timeout(Duration::from_millis(500)).send().await.ok();
    }
    printed(&fs::read(directory.join("seen")).unwrap())
}

/// Docker's, if it is here: what a container would be given.
fn by_docker(file: &Path) -> Option<BTreeMap<String, String>> {
    let docker = |arguments: &[&str]| {
        let output = Command::new("docker").args(arguments).stdin(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap().trim().to_owned())
    };
    docker(&["info"])?;
    let empty = file.with_extension("tar");
    fs::write(&empty, [0; 1024]).unwrap();
    let image = docker(&["import", empty.to_str()?]).unwrap();
    let container = docker(&["create", "--env-file", file.to_str()?, &image, "nothing"]).unwrap();
    let given = docker(&["inspect", "--format", "{{json .Config.Env}}", &container]).unwrap();
    docker(&["rm", &container]);
    docker(&["rmi", &image]);
    let given: Vec<String> = serde_json::from_str(&given).unwrap();
    Some(printed(given.join("\0").as_bytes()))
}

#[tokio::test]
async fn every_kind_of_value_is_read_alike_by_every_program_that_reads_the_file() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("env");
    let written = variables(VALUES);
    fs::write(&file, environment_file(&written).unwrap()).unwrap();
    assert_eq!(by_parcelctl(&file), written, "parcelctl");
    assert_eq!(by_shell(&file), written, "sh");
    assert_eq!(by_cargo_lambda(directory.path(), &file).await, written, "cargo-lambda");
}

#[test]
fn docker_reads_what_needs_no_quotes() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("env");
    let written = variables(VALUES.into_iter().filter(|value| {
        let text = environment_file(&variables([*value])).unwrap();
        text.ends_with(&format!("={value}\n"))
    }));
    assert!(written.len() >= 4, "{written:?}");
    fs::write(&file, environment_file(&written).unwrap()).unwrap();
    if let Some(read) = by_docker(&file) {
        assert_eq!(read, written);
    }
}

#[test]
fn what_they_would_read_differently_is_not_written() {
    for value in REFUSED {
        assert_eq!(environment_file(&variables([value])), Err(NotAlike(format!("{MARK}00"))), "{value:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_shell_and_parcelctl_read_whatever_is_written(values in prop::collection::vec(".{0,12}", 1..20)) {
        let written = variables(values.iter().map(String::as_str).filter(|value| environment_file(&variables([*value])).is_ok()));
        let directory = TempDir::new().unwrap();
        let file = directory.path().join("env");
        fs::write(&file, environment_file(&written).unwrap()).unwrap();
        prop_assert_eq!(by_parcelctl(&file), written.clone());
        prop_assert_eq!(by_shell(&file), written);
    }
}
