//! DynamoDB on this machine: dynoxide keeps tables in `SQLite`, so that an index is one, also of a million rows.
//! <https://github.com/nubo-db/dynoxide>

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bench::settings;
use reqwest::Client;
use serde_json::{Map, Value, json};
use tokio::process::{Child, Command};

use crate::program::{StatusOk as _, cargo};
use crate::template::properties;

/// Released on 2026-10-23; MIT or Apache-2.0. A tool, not a dependency: nothing that goes to AWS knows of it.
const VERSION: &str = "3.2.0";

/// How long it may take to answer for the first time.
const PATIENCE: Duration = Duration::from_secs(20);

/// What DynamoDB must be told of a table; all of it stands in template.yaml.
const DEFINITION: [&str; 4] = ["BillingMode", "AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes"];

/// dynoxide wants to see one, and does not check it.
const UNCHECKED_SIGNATURE: &str = "AWS4-HMAC-SHA256 Credential=bench/20260101/ap-southeast-1/dynamodb/aws4_request, \
     SignedHeaders=host;x-amz-date, Signature=0";

/// All tables of template.yaml, empty at first, and in memory. They end with this value.
pub(super) struct Tables {
    url: String,
    http: Client,
    _server: Child,
}

impl Tables {
    pub(super) async fn start(root: &Path) -> Result<Self> {
        let program = installed(root).await?;
        let port = TcpListener::bind(("127.0.0.1", 0)).context("no free port")?.local_addr()?.port();
        let mut command = Command::new(program);
        command.args(["--host", "127.0.0.1", "--log", "quiet", "--port", &port.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true);
        let server = command.spawn().context("dynoxide does not start")?;
        let tables = Self { url: format!("http://127.0.0.1:{port}"), http: Client::new(), _server: server };
        tables.ready().await?;
        for (variable, name) in settings::tables() {
            tables.call("CreateTable", &definition(name, &properties(root, &resource(variable))?)?).await?;
        }
        Ok(tables)
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// By plain HTTP: the SDK would take longer for a row than the table.
    pub(super) async fn call(&self, operation: &str, input: &Value) -> Result<Value> {
        let answer = self.send(operation, input).await?;
        let (status, answer) = (answer.status(), answer.text().await?);
        ensure!(status.is_success(), "{operation}: {status}: {answer}");
        Ok(serde_json::from_str(&answer)?)
    }

    async fn send(&self, operation: &str, input: &Value) -> Result<reqwest::Response> {
        let request = self.http.post(&self.url).body(input.to_string());
        let request = request
            .header("x-amz-target", format!("DynamoDB_20120810.{operation}"))
            .header("content-type", "application/x-amz-json-1.0")
            .header("x-amz-date", "20260101T000000Z")
            .header("authorization", UNCHECKED_SIGNATURE);
        Ok(request.send().await?)
    }

    async fn ready(&self) -> Result<()> {
        let begin = Instant::now();
        while let Err(error) = self.send("ListTables", &json!({})).await {
            ensure!(begin.elapsed() < PATIENCE, "dynoxide does not answer: {error:#}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }
}

/// Builds it where it is not there yet, which takes some minutes.
async fn installed(root: &Path) -> Result<PathBuf> {
    let place = root.join(".local/tools");
    let version = format!("dynoxide-rs@{VERSION}");
    let mut install = cargo(root, &["install", "--locked", "--quiet", &version, "--root"]);
    install.arg(&place).args(["--no-default-features", "--features", "native-sqlite,http-server,cli"]);
    install.status_ok().await?;
    Ok(place.join("bin/dynoxide"))
}

/// The table that a variable names: of `API_KEYS_TABLE`, `ApiKeysTable`.
fn resource(variable: &str) -> String {
    let words = variable.split('_').flat_map(|word| [word[..1].to_owned(), word[1..].to_lowercase()]);
    words.collect()
}

fn definition(name: &str, properties: &serde_yaml_ng::Value) -> Result<Value> {
    let mut definition = Map::from_iter([("TableName".to_owned(), json!(name))]);
    for part in DEFINITION {
        if let Some(value) = properties.get(part) {
            definition.insert(part.to_owned(), serde_json::to_value(value)?);
        }
    }
    Ok(definition.into())
}
