//! Webhooks: by the deployed functions from the bus to an endpoint of the test's own, and by the same code in this process
//! where a clock is moved.

mod addresses;
mod delivery;
mod failing;
mod isolation;
mod managing;
mod moved;
mod samples;

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use stack_tests::webhooks::Received;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Runs a program on this input; what it wrote.
async fn output(mut command: Command, input: &str) -> String {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).await.unwrap();
    drop(stdin);
    let output = child.wait_with_output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What Python's `standardwebhooks` says against each request with this secret; `None` if nothing.
async fn checked_by_python(requests: &[Received], secret: &str) -> Vec<Option<String>> {
    let requests: Vec<Value> = requests
        .iter()
        .map(|request| json!({"secret": secret, "headers": request.headers, "body": request.body}))
        .collect();
    // Made when the stack was started that the tests run against.
    let mut python = Command::new(root().join(".local/venv-deploy/bin/python"));
    python.arg(root().join("stack-tests/tests/stack/webhooks/verify.py")).env("PYTHONDONTWRITEBYTECODE", "1");
    serde_json::from_str(&output(python, &Value::from(requests).to_string()).await).unwrap()
}
