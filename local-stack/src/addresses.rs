//! Where a running stack is to be found, for other processes: tests, smoke, drill.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use serde::{Deserialize, Serialize};

use crate::aws::{self, Alarm, QueueCounts};
use crate::environment_file;
use crate::inbox::InboxClient;
use crate::processes;

/// Environment variable with the path of the file that [`StackAddresses::from_env`] reads.
pub const STACK_VARIABLE: &str = "PARCELTRACK_LOCAL_STACK";

/// Addresses and names of one running stack.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StackAddresses {
    /// The API, such as `http://127.0.0.1:8080`.
    pub api_url: String,
    /// The page.
    pub page_url: String,
    /// The inbox's page and JSON API.
    pub inbox_url: String,
    /// The mail server, such as `smtp://127.0.0.1:1025`.
    pub smtp_url: String,
    /// The local AWS: the value for `AWS_ENDPOINT_URL`.
    pub emulator_url: String,
    /// Its region.
    pub region: String,
    /// Where the stack keeps its state.
    pub state_dir: PathBuf,
    /// Outputs of the deployed template.
    pub outputs: BTreeMap<String, String>,
}

impl StackAddresses {
    /// The stack that `cargo xtask test` has started for the tests.
    pub fn from_env() -> Result<Self> {
        let path = std::env::var_os(STACK_VARIABLE).ok_or_else(|| {
            anyhow!("{STACK_VARIABLE} is not set: these tests need a local stack, run `cargo xtask test`")
        })?;
        Self::read(Path::new(&path))
    }

    /// The stack described in the file at `path`.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path)
            .with_context(|| format!("no local stack at {}: run `cargo xtask test`", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is broken", path.display()))
    }

    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        fs::write(path, serde_json::to_vec_pretty(self)?)?;
        Ok(())
    }

    /// One output of the deployed template, such as `InvoicesTableName`.
    pub fn output(&self, name: &str) -> Result<&str> {
        let value = self.outputs.get(name);
        value.map(String::as_str).with_context(|| format!("the deployed template has no output {name}"))
    }

    /// The stack's inbox.
    #[must_use]
    pub fn inbox(&self) -> InboxClient {
        InboxClient::new(&self.inbox_url)
    }

    /// Processes that run the function with this template output, such as `InvoiceWorkerFunctionName`.
    pub fn function_processes(&self, name_output: &str) -> Result<Vec<u32>> {
        let function = self.output(name_output)?;
        processes::of_function(&self.state_dir, function)
    }

    /// Kills these processes like a crash would: at once, with no word to them.
    pub fn kill(&self, processes: &[u32]) {
        for process in processes {
            processes::kill(*process);
        }
    }

    /// Messages on the queue of this template output, such as `DeadLetterQueueUrl`.
    pub async fn queue_counts(&self, url_output: &str) -> Result<QueueCounts> {
        aws::queue_counts(&self.emulator_url, self.output(url_output)?).await
    }

    /// The template's alarms, as they are now.
    pub async fn alarms(&self) -> Result<Vec<Alarm>> {
        aws::alarms(&self.emulator_url).await
    }

    /// Writes the settings that `cargo lambda watch` and `parcelctl` need, by `--env-file`, to work with this stack.
    pub async fn write_environment_file(&self, file: &Path) -> Result<()> {
        environment_file::write(file, self).await
    }

    /// Environment variables of the function with this template output, such as `InvoiceWorkerFunctionName`.
    pub async fn function_variables(&self, name_output: &str) -> Result<BTreeMap<String, String>> {
        aws::function_variables(&self.emulator_url, self.output(name_output)?).await
    }
}
