//! The few calls to the local AWS that the stack itself makes. By plain HTTP: the SDK would add minutes
//! to the first build of every developer.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context, Result, bail};
use reqwest::{Client, RequestBuilder};
use serde::{Deserialize, Serialize};
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

/// A message on a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct QueuedMessage {
    /// When it was sent, in seconds of the Unix epoch.
    pub(crate) sent: f64,
    /// How often it has been received.
    pub(crate) receives: u64,
    /// Whether it can be received now.
    pub(crate) visible: bool,
}

/// A value of a metric, as `PutMetricData` takes it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Datum {
    pub(crate) metric_name: String,
    pub(crate) dimensions: Vec<Dimension>,
    /// In seconds of the Unix epoch.
    pub(crate) timestamp: f64,
    pub(crate) value: f64,
    pub(crate) unit: String,
}

/// What a metric is told apart by.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Dimension {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// A line of a function's log.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LogLine {
    /// The invocation's own: the emulator makes one for each.
    pub(crate) log_stream_name: String,
    pub(crate) message: String,
}

/// An alarm as it is now.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Alarm {
    /// The stack's name, the id that the template gives it, and some letters.
    #[serde(rename = "AlarmName")]
    pub name: String,
    /// What it says.
    #[serde(rename = "StateValue")]
    pub state: AlarmState,
}

/// What an alarm says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AlarmState {
    /// All is well.
    Ok,
    /// It rings.
    Alarm,
    /// Nothing was measured yet.
    InsufficientData,
}

impl fmt::Display for AlarmState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ok => "OK",
            Self::Alarm => "ALARM",
            Self::InsufficientData => "INSUFFICIENT_DATA",
        })
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
    let request = json!({"QueueUrl": queue_url, "AttributeNames": ["All"]});
    let answer = call(emulator, "sqs", "AmazonSQS.GetQueueAttributes", &request).await?;
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

/// All messages of all queues, by the queue's name.
pub(crate) async fn queued_messages(emulator: &str) -> Result<BTreeMap<String, Vec<QueuedMessage>>> {
    #[derive(Deserialize)]
    struct Answer {
        messages: BTreeMap<String, BTreeMap<String, BTreeMap<String, Vec<Message>>>>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Message {
        sent_timestamp: f64,
        receive_count: u64,
        is_visible: bool,
    }

    let answer = send(Client::new().get(format!("{emulator}/_ministack/sqs/messages")), "sqs").await?;
    let answer: Answer = serde_json::from_value(answer)?;
    // By account, region and address; a stack has one account and one region.
    let queues = answer.messages.into_values().flat_map(BTreeMap::into_values).flatten();
    Ok(queues
        .map(|(url, messages)| {
            let name = url.rsplit('/').next().unwrap_or_default().to_owned();
            let messages = messages.into_iter().map(|message| QueuedMessage {
                sent: message.sent_timestamp,
                receives: message.receive_count,
                visible: message.is_visible,
            });
            (name, messages.collect())
        })
        .collect())
}

/// The names of all log groups.
pub(crate) async fn log_groups(emulator: &str) -> Result<Vec<String>> {
    let mut answer = call(emulator, "logs", "Logs_20140328.DescribeLogGroups", &json!({})).await?;
    let groups: Vec<Value> = serde_json::from_value(answer["logGroups"].take())?;
    Ok(groups.iter().filter_map(|group| Some(group["logGroupName"].as_str()?.to_owned())).collect())
}

/// Lines of a log group with these words, from a moment on, in milliseconds of the Unix epoch.
pub(crate) async fn log_lines(emulator: &str, group: &str, words: &str, from_millis: i64) -> Result<Vec<LogLine>> {
    let request = json!({"logGroupName": group, "filterPattern": words, "startTime": from_millis});
    let mut answer = call(emulator, "logs", "Logs_20140328.FilterLogEvents", &request).await?;
    Ok(serde_json::from_value(answer["events"].take())?)
}

/// Adds to metrics of one namespace; the emulator then looks at all alarms.
pub(crate) async fn put_metric_data(emulator: &str, namespace: &str, data: &[Datum]) -> Result<()> {
    let request = json!({"Namespace": namespace, "MetricData": data});
    call(emulator, "monitoring", "GraniteServiceVersion20100801.PutMetricData", &request).await?;
    Ok(())
}

/// All alarms.
pub(crate) async fn alarms(emulator: &str) -> Result<Vec<Alarm>> {
    let request = json!({"MaxRecords": 100});
    let mut answer = call(emulator, "monitoring", "GraniteServiceVersion20100801.DescribeAlarms", &request).await?;
    Ok(serde_json::from_value(answer["MetricAlarms"].take())?)
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

async fn call(emulator: &str, service: &str, target: &str, request: &Value) -> Result<Value> {
    let call = Client::new()
        .post(emulator)
        .header("x-amz-target", target)
        .header("content-type", "application/x-amz-json-1.1")
        .body(request.to_string());
    send(call, service).await
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
