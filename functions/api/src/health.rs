//! Whether the function is alive. Asks nobody else, so that a table's trouble does not take it out of service.

/// See whether the service answers
#[utoipa::path(
    get, path = "/health", operation_id = "getHealth", tag = "Service", security(()),
    responses((status = 200, description = "The word `Healthy`", body = String, content_type = "text/plain"))
)]
pub(crate) async fn health() -> &'static str {
    "Healthy"
}
