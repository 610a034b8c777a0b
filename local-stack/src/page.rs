//! The page: the static files of `web/`, told where this stack's API is.

use std::path::Path;

use axum::routing::get;
use axum::{Json, Router};
use http::HeaderValue;
use http::header::CACHE_CONTROL;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tower_http::compression::CompressionLayer;
use tower_http::services::ServeDir;
use tower_http::set_header::SetResponseHeaderLayer;

use crate::keys::OPERATOR_KEY;

pub(crate) fn serve(listener: TcpListener, files: &Path, api_url: &str, inbox_url: &str) -> JoinHandle<()> {
    let config = json!({"apiUrl": api_url, "inboxUrl": inbox_url, "apiKey": OPERATOR_KEY, "rush": "{}@example.com"});
    // A developer who changes a file and reloads wants to see the change.
    let no_cache = SetResponseHeaderLayer::overriding(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    let routes = Router::new()
        .route("/config.json", get(async || Json(config)))
        .fallback_service(ServeDir::new(files))
        .layer(no_cache)
        // As CloudFront does, so that what is measured here is what a phone loads.
        .layer(CompressionLayer::new());
    tokio::spawn(async move {
        axum::serve(listener, routes).await.ok();
    })
}
