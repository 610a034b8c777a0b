//! Structured logs and metrics, one JSON object a line, for `CloudWatch`.
//!
//! Never logged, at any level: e-mail addresses, names, links and keys. Our own types hide them in their `Debug`; other
//! people's crates, which at their debug level would print whole requests, do not reach the log at all.

mod metrics;

use std::fmt::Display;
use std::panic::Location;
use std::process::ExitCode;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

pub use metrics::{FailureReason, Metric, WebhookFailure, record};

/// Whose lines are written: this workspace's crates, by the names under which `tracing` knows them.
const OUR_CRATES: [&str; 10] = [
    "api",
    "domain_events",
    "invoice_worker",
    "mail_events",
    "outbox_relay",
    "parcel_simulator",
    "parceltrack",
    "webhook_fan_out",
    "webhook_relay",
    "webhook_worker",
];

/// Not a line of it, but the span with Lambda's own id of the invocation.
const INVOCATION_SPAN: &str = "lambda_runtime::layers::trace";

/// Begins logging and measuring, panics included. Lambda says the level, as its configuration has it; `info` without that.
/// <https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html>
pub fn init() {
    let level = std::env::var("AWS_LAMBDA_LOG_LEVEL").ok().and_then(|level| level.parse().ok());
    tracing_subscriber::registry()
        .with(targets(level.unwrap_or(LevelFilter::INFO)))
        .with(
            tracing_subscriber::fmt::layer()
                .json()
                .flatten_event(true)
                .with_current_span(true)
                .with_span_list(false)
                .with_ansi(false),
        )
        .init();
    metrics::begin();
    std::panic::set_hook(Box::new(|panic| {
        // Where, and not the message, which may quote what it panicked over.
        let place = panic.location().map(Location::to_string);
        tracing::error!(event = "panicked", place);
    }));
}

fn targets(level: LevelFilter) -> Targets {
    Targets::new()
        .with_targets(OUR_CRATES.map(|name| (name, level)))
        .with_target(INVOCATION_SPAN, LevelFilter::INFO)
        .with_default(LevelFilter::OFF)
}

/// Ends a function's `main`: why it ended goes to the log like everything else.
pub fn ended<E: Display>(result: Result<(), E>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(event = "function_ended", %error);
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn only_our_own_crates_are_heard_at_whatever_level() {
        for level in [LevelFilter::INFO, LevelFilter::DEBUG, LevelFilter::TRACE] {
            let targets = targets(level);
            for name in OUR_CRATES {
                assert!(targets.would_enable(&format!("{name}::module"), &Level::INFO), "{name}");
                assert_eq!(targets.would_enable(name, &Level::DEBUG), level >= LevelFilter::DEBUG);
            }
            for other in
                ["hyper", "aws_smithy_runtime", "aws_config", "lambda_runtime", "lambda_http", "lettre", "rustls"]
            {
                assert!(!targets.would_enable(other, &Level::ERROR), "{other}");
            }
        }
    }
}
