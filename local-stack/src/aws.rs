//! The few calls to the local AWS that the stack itself makes. By plain HTTP: the SDK would add minutes
//! to the first build of every developer.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use reqwest::{Client, RequestBuilder};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::REGION;

/// How many messages a queue holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// Ready to be received.
    pub visible: u64,
    /// Received, and not yet deleted or back.
    pub in_flight: u64,
    /// Sent, but not yet to be received.
    pub delayed: u64,
}

impl QueueCounts {
    /// All of them.
    #[must_use]
    pub fn total(self) -> u64 {
        self.visible + self.in_flight + self.delayed
    }
}

/// What this stack's processes say they are; the emulator believes anyone.
pub(crate) const CREDENTIALS: [(&str, &str); 4] = [
    ("AWS_ACCESS_KEY_ID", "test"),
    ("AWS_SECRET_ACCESS_KEY", "test"),
    ("AWS_REGION", REGION),
    ("AWS_DEFAULT_REGION", REGION),
];

pub(crate) async fn queue_counts(emulator: &str, queue_url: &str) -> Result<QueueCounts> {
    let call = Client::new()
        .post(emulator)
        .header("x-amz-target", "AmazonSQS.GetQueueAttributes")
        .header("content-type", "application/x-amz-json-1.0")
        .body(json!({"QueueUrl": queue_url, "AttributeNames": ["All"]}).to_string());
    let answer = send(call, "sqs").await?;
    let count = |name: &str| -> Result<u64> {
        let value = answer["Attributes"][name].as_str();
        let value = value.with_context(|| format!("no {name} of {queue_url}"))?;
        Ok(value.parse()?)
    };
    Ok(QueueCounts {
        visible: count("ApproximateNumberOfMessages")?,
        in_flight: count("ApproximateNumberOfMessagesNotVisible")?,
        delayed: count("ApproximateNumberOfMessagesDelayed")?,
    })
}

/// Environment variables of a deployed function, as its configuration has them.
pub(crate) async fn function_variables(emulator: &str, function: &str) -> Result<BTreeMap<String, String>> {
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "PascalCase", default)]
    struct Environment {
        variables: BTreeMap<String, String>,
    }

    let url = format!("{emulator}/2015-03-31/functions/{function}/configuration");
    let mut answer = send(Client::new().get(url), "lambda").await?;
    let environment = answer["Environment"].take();
    let environment: Option<Environment> = serde_json::from_value(environment)?;
    Ok(environment.unwrap_or_default().variables)
}

async fn send(call: RequestBuilder, service: &str) -> Result<Value> {
    // The emulator takes service and region from the header, and does not check the signature.
    let signature = format!(
        "AWS4-HMAC-SHA256 Credential=test/20260101/{REGION}/{service}/aws4_request, \
         SignedHeaders=host, Signature=none"
    );
    let answer = call.header("authorization", signature).send().await?;
    let status = answer.status();
    let text = answer.text().await?;
    if !status.is_success() {
        bail!("the local AWS answers {status} to a call of {service}: {text}");
    }
    Ok(serde_json::from_str(&text)?)
}
