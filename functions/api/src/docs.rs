//! `GET /openapi.json` and `GET /docs`: what this API is, for programs and for people.
//!
//! Both are files that `cargo xtask openapi` makes from [`crate::openapi`].

use axum::response::IntoResponse;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use sha2::{Digest as _, Sha256};

const DOCUMENT: &str = include_str!("../../../docs/openapi.json");
const PAGE: &str = include_str!("pages/docs.html");
/// The page's style sheet. It stands in the page as it stands here, and the page may have no other.
pub const STYLE: &str = include_str!("pages/docs.css");

/// They change with releases only.
const CACHEABLE: HeaderValue = HeaderValue::from_static("public, max-age=300");

/// This document
#[utoipa::path(
    get, path = "/openapi.json", operation_id = "getDocument", tag = "Service", security(()),
    responses((status = 200, description = "OpenAPI 3.1", body = Object))
)]
pub(crate) async fn openapi() -> impl IntoResponse {
    ([(CACHE_CONTROL, CACHEABLE), (CONTENT_TYPE, HeaderValue::from_static("application/json"))], DOCUMENT)
}

/// This document, as a page
#[utoipa::path(
    get, path = "/docs", operation_id = "getDocumentPage", tag = "Service", security(()),
    responses((status = 200, description = "A page for people", body = String, content_type = "text/html"))
)]
pub(crate) async fn page() -> impl IntoResponse {
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        STANDARD.encode(Sha256::digest(STYLE))
    );
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    ([(CACHE_CONTROL, CACHEABLE), (CONTENT_TYPE, html)], [(CONTENT_SECURITY_POLICY, policy)], PAGE)
}
