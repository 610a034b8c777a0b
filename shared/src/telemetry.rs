//! Structured logs, one JSON object a line, for `CloudWatch` Logs.
//!
//! Never logged: e-mail addresses, names, links and keys.

use tracing_subscriber::EnvFilter;

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
