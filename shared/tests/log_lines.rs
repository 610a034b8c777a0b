//! The log of a whole process, standard error included: what others' crates and panics leave in it.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that is a program of its own")]

use std::process::{Command, ExitCode};

use parceltrack::telemetry;
use serde_json::Value;

const SECRET: &str = "tan@example.com";
const CHILD: &str = "LOG_LINES_CHILD";

fn main() -> ExitCode {
    if std::env::var_os(CHILD).is_some() { child() } else { parent() }
}

/// A function that logs, panics and ends with an error.
fn child() -> ExitCode {
    telemetry::init();
    tracing::error!(target: "hyper::proto", "{SECRET}");
    tracing::debug!(target: "aws_smithy_runtime", "{SECRET}");
    let span = tracing::info_span!(target: "lettre", "smtp", to = SECRET);
    let _entered = span.enter();
    tracing::debug!(target: "api", event = "ours");
    let panicked = std::thread::spawn(|| std::panic::panic_any(format!("no mailbox {SECRET}"))).join();
    assert!(panicked.is_err());
    telemetry::ended(Err("a setting is\nmissing"))
}

fn parent() -> ExitCode {
    let mut child = Command::new(std::env::current_exe().unwrap());
    let child = child.env_clear().env(CHILD, "1").env("AWS_LAMBDA_LOG_LEVEL", "TRACE").output().unwrap();
    assert!(!child.status.success());
    let log = String::from_utf8([child.stdout, child.stderr].concat()).unwrap();
    assert!(!log.contains(SECRET), "{log}");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let events: Vec<&str> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["ours", "panicked", "function_ended"]);
    assert!(lines[1]["place"].as_str().unwrap().contains("log_lines.rs"));
    println!("a process's log is one JSON object a line, and only our own words: ok");
    ExitCode::SUCCESS
}
