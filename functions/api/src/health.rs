//! Whether the function is alive. Asks nobody else, so that a table's trouble does not take it out of service.

pub(crate) async fn health() -> &'static str {
    "Healthy"
}
