//! Settings for `cargo lambda watch`, so that it runs the functions against this stack's tables and queue.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::addresses::StackAddresses;
use crate::aws::{CREDENTIALS, function_variables};

const NAME_OUTPUTS: [&str; 9] = [
    "ApiFunctionName",
    "DomainEventsFunctionName",
    "InvoiceWorkerFunctionName",
    "MailEventsFunctionName",
    "OutboxRelayFunctionName",
    "ParcelSimulatorFunctionName",
    "WebhookFanOutFunctionName",
    "WebhookRelayFunctionName",
    "WebhookWorkerFunctionName",
];

/// Writes an environment file with the settings of all deployed functions.
pub(crate) async fn write_environment(file: &Path, stack: &StackAddresses) -> Result<()> {
    let mut variables = BTreeMap::new();
    for output in NAME_OUTPUTS {
        let function = stack.output(output)?;
        variables.extend(function_variables(&stack.emulator_url, function).await?);
    }
    for (name, value) in CREDENTIALS {
        variables.insert(name.to_owned(), value.to_owned());
    }
    variables.insert("AWS_ENDPOINT_URL".to_owned(), stack.emulator_url.clone());

    let mut text = String::from("# Written by `cargo xtask up` for `cargo lambda watch --env-file .local/env`.\n");
    for (name, value) in variables {
        writeln!(text, "{name}={value}")?;
    }
    fs::write(file, text)?;
    Ok(())
}
