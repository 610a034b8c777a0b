//! Structured logs and metrics, one JSON object a line, for `CloudWatch`.
//!
//! Never logged: e-mail addresses, names, links and keys.

use std::io::Write as _;

use serde_json::{Value, json};

use tracing_subscriber::EnvFilter;

use crate::domain::Timestamp;

/// Begins logging. Level by `RUST_LOG`, `info` without it.
pub fn init() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(true)
        .with_span_list(false)
        .with_env_filter(filter)
        .with_ansi(false)
        .init();
}

/// Adds to a metric of ours, by a line of the log that `CloudWatch` makes it from (embedded metric format).
/// <https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html>
pub fn count(metric: &str, by: usize, now: Timestamp) {
    // A log that cannot be written is no reason to fail.
    writeln!(std::io::stdout(), "{}", metric_line(metric, by, now)).ok();
}

fn metric_line(metric: &str, by: usize, now: Timestamp) -> Value {
    json!({
        "_aws": {
            "Timestamp": now.millis(),
            "CloudWatchMetrics": [{
                "Namespace": "ParcelTrack",
                "Dimensions": [[]],
                "Metrics": [{"Name": metric, "Unit": "Count"}]
            }]
        },
        metric: by
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_line_names_its_metric_and_has_its_value_beside() {
        let line = metric_line("MissingGlyphs", 3, Timestamp::from_millis(1_790_000_000_000));
        assert_eq!(line["_aws"]["CloudWatchMetrics"][0]["Metrics"][0]["Name"], "MissingGlyphs");
        assert_eq!(line["_aws"]["Timestamp"], 1_790_000_000_000_i64);
        assert_eq!(line["MissingGlyphs"], 3);
    }
}
