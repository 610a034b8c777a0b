//! The pump: measures of the queues what AWS measures by itself, and makes metrics of the functions' log lines, as
//! `CloudWatch` does; so the template's alarms go off on the laptop, too. The emulator does neither. What it measures of
//! the functions, it does by itself.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use anyhow::Result;
use serde::Deserialize;
use serde_json::Value;
use time::OffsetDateTime;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use crate::aws::{self, Datum, Dimension, LogLine, QueuedMessage};

/// AWS measures queues once a minute; here nobody wants to wait so long.
const EVERY: Duration = Duration::from_secs(2);

/// So far back lines are looked for that were not there the last time: an invocation's lines appear a little after the
/// time that stands on them.
const LATE_LINES: Duration = Duration::from_secs(30);

/// SQS no longer looks at the age of a message that was received more often.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html>
const RECEIVES_THAT_AGE: u64 = 3;

/// What `PutMetricData` takes in one call.
const DATA_AT_ONCE: usize = 1000;

/// Pumps until the task is aborted.
pub(crate) fn start(emulator: &str) -> JoinHandle<()> {
    let emulator = emulator.to_owned();
    tokio::spawn(async move {
        let mut lines = Lines::default();
        let mut rounds = interval(EVERY);
        rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            rounds.tick().await;
            // If the emulator did not answer, the next round makes up for it.
            round(&emulator, &mut lines).await.ok();
        }
    })
}

async fn round(emulator: &str, lines: &mut Lines) -> Result<()> {
    let now = OffsetDateTime::now_utc();
    let mut invocations = HashSet::new();
    let mut metrics: BTreeMap<String, Vec<Datum>> = BTreeMap::new();
    for group in aws::log_groups(emulator).await? {
        for line in aws::log_lines(emulator, &group, "CloudWatchMetrics", lines.from(now)).await? {
            if !lines.seen.contains(&line.log_stream_name) {
                for (namespace, datum) in embedded(&line) {
                    metrics.entry(namespace).or_default().push(datum);
                }
            }
            invocations.insert(line.log_stream_name);
        }
    }
    let seconds = unix_seconds(now);
    let queues = aws::queued_messages(emulator).await?;
    let queues = queues.iter().flat_map(|(name, messages)| of_queue(name, messages, seconds));
    metrics.entry("AWS/SQS".to_owned()).or_default().extend(queues);
    for (namespace, data) in metrics {
        for data in data.chunks(DATA_AT_ONCE) {
            aws::put_metric_data(emulator, &namespace, data).await?;
        }
    }
    *lines = Lines { seen: invocations, until: Some(now) };
    Ok(())
}

/// What of the logs has become metrics.
#[derive(Default)]
struct Lines {
    /// The invocations of the last round's lines; the emulator writes all lines of one at once.
    seen: HashSet<String>,
    until: Option<OffsetDateTime>,
}

impl Lines {
    /// From when on lines are to be read, in milliseconds of the Unix epoch.
    fn from(&self, now: OffsetDateTime) -> i64 {
        let from = self.until.unwrap_or(now) - LATE_LINES;
        from.unix_timestamp() * 1000
    }
}

fn of_queue(name: &str, messages: &[QueuedMessage], now: f64) -> Vec<Datum> {
    let visible = messages.iter().filter(|message| message.visible).count();
    let delayed = messages.iter().filter(|message| !message.visible && message.receives == 0).count();
    let aging = messages.iter().filter(|message| message.receives <= RECEIVES_THAT_AGE);
    let age = aging.map(|message| now - message.sent).fold(0.0, f64::max);
    let counts = [
        ("ApproximateNumberOfMessagesVisible", visible),
        ("ApproximateNumberOfMessagesNotVisible", messages.len() - visible - delayed),
        ("ApproximateNumberOfMessagesDelayed", delayed),
    ];
    #[allow(clippy::cast_precision_loss, reason = "no queue here has so many messages")]
    let counts = counts.map(|(metric, count)| (metric, count as f64, "Count"));
    let values = counts.into_iter().chain([("ApproximateAgeOfOldestMessage", age, "Seconds")]);
    let queue = Dimension { name: "QueueName".to_owned(), value: name.to_owned() };
    values
        .map(|(metric, value, unit)| Datum {
            metric_name: metric.to_owned(),
            dimensions: vec![queue.clone()],
            timestamp: now,
            value,
            unit: unit.to_owned(),
        })
        .collect()
}

/// The metrics in a line in the embedded metric format, with their namespaces; none if it is not one.
/// <https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html>
fn embedded(line: &LogLine) -> Vec<(String, Datum)> {
    #[derive(Deserialize)]
    struct Embedded {
        #[serde(rename = "_aws")]
        metadata: Metadata,
        #[serde(flatten)]
        members: BTreeMap<String, Value>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Metadata {
        /// In milliseconds of the Unix epoch.
        timestamp: f64,
        cloud_watch_metrics: Vec<Directive>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Directive {
        namespace: String,
        dimensions: Vec<Vec<String>>,
        metrics: Vec<Definition>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Definition {
        name: String,
        #[serde(default = "no_unit")]
        unit: String,
    }
    fn no_unit() -> String {
        "None".to_owned()
    }

    let Ok(Embedded { metadata, members }) = serde_json::from_str(&line.message) else {
        return Vec::new();
    };
    let mut data = Vec::new();
    for Directive { namespace, dimensions, metrics } in metadata.cloud_watch_metrics {
        for names in &dimensions {
            let dimensions = names.iter().filter_map(|name| {
                let value = members.get(name)?.as_str()?.to_owned();
                Some(Dimension { name: name.clone(), value })
            });
            let dimensions: Vec<_> = dimensions.collect();
            for Definition { name, unit } in &metrics {
                if let Some(value) = members.get(name).and_then(Value::as_f64) {
                    let datum = Datum {
                        metric_name: name.clone(),
                        dimensions: dimensions.clone(),
                        timestamp: metadata.timestamp / 1000.0,
                        value,
                        unit: unit.clone(),
                    };
                    data.push((namespace.clone(), datum));
                }
            }
        }
    }
    data
}

#[allow(clippy::cast_precision_loss, reason = "milliseconds are exact enough")]
fn unix_seconds(time: OffsetDateTime) -> f64 {
    (time.unix_timestamp_nanos() / 1_000_000) as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: f64 = 1_790_000_000.0;

    fn value(data: &[Datum], metric: &str) -> f64 {
        data.iter().find(|datum| datum.metric_name == metric).unwrap().value
    }

    fn message(age: f64, receives: u64, visible: bool) -> QueuedMessage {
        QueuedMessage { sent: NOW - age, receives, visible }
    }

    #[test]
    fn each_message_of_a_queue_is_counted_once_and_the_oldest_tells_its_age() {
        let messages = [message(5.0, 0, true), message(20.0, 1, false), message(9.0, 2, false), message(3.0, 0, false)];
        let data = of_queue("tickets", &messages, NOW);
        let counts = ["Visible", "NotVisible", "Delayed"];
        let counts = counts.map(|kind| value(&data, &format!("ApproximateNumberOfMessages{kind}")).to_string());
        assert_eq!(counts, ["1", "2", "1"]);
        assert_eq!(value(&data, "ApproximateAgeOfOldestMessage").to_string(), "20");
        assert!(data.iter().all(|datum| datum.dimensions[0].value == "tickets"));
    }

    #[test]
    fn a_message_that_comes_back_again_and_again_no_longer_ages_the_queue_and_an_empty_one_has_no_age() {
        let data = of_queue("tickets", &[message(900.0, 4, true), message(2.0, 1, true)], NOW);
        assert_eq!(value(&data, "ApproximateAgeOfOldestMessage").to_string(), "2");
        assert_eq!(value(&of_queue("tickets", &[], NOW), "ApproximateAgeOfOldestMessage").to_string(), "0");
    }

    #[test]
    fn a_line_becomes_a_datum_for_each_metric_and_each_set_of_dimensions() {
        let message = r#"{"_aws":{"Timestamp":1790000000000,"CloudWatchMetrics":[{"Namespace":"ParcelTrack",
            "Dimensions":[["Stack"],["Stack","Reason"]],"Metrics":[{"Name":"InvoicesFailed","Unit":"Count"}]}]},
            "Stack":"parceltrack","Reason":"Rejected","InvoicesFailed":1}"#;
        let line = LogLine { log_stream_name: "one".to_owned(), message: message.to_owned() };
        let data = embedded(&line);
        let names: Vec<Vec<_>> = data
            .iter()
            .map(|(_, datum)| datum.dimensions.iter().map(|dimension| dimension.value.as_str()).collect())
            .collect();
        assert_eq!(names, [vec!["parceltrack"], vec!["parceltrack", "Rejected"]]);
        let (namespace, datum) = &data[0];
        assert_eq!((namespace.as_str(), datum.metric_name.as_str()), ("ParcelTrack", "InvoicesFailed"));
        assert_eq!((datum.value.to_string(), datum.timestamp.to_string()), ("1".to_owned(), NOW.to_string()));
        let other = LogLine { log_stream_name: "one".to_owned(), message: "REPORT CloudWatchMetrics".to_owned() };
        assert_eq!(embedded(&other), []);
    }
}
