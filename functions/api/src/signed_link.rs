//! The way to a stored file: by a link that its store has signed, good for minutes.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::header::{ACCEPT, LOCATION, VARY};
use http::{HeaderMap, StatusCode};
use serde::Serialize;
use utoipa::ToSchema;

/// A browser that follows a redirect cannot be told to leave the caller's key at home, so a page asks for the link.
#[derive(Serialize, ToSchema)]
#[schema(as = Link)]
pub(crate) struct LinkOut {
    url: String,
}

/// 302 to the file; 200 with the link for `Accept: application/json`.
pub(crate) fn answer(url: String, headers: &HeaderMap) -> Response {
    let wants_json = headers.get(ACCEPT).is_some_and(|accepted| accepted.as_bytes() == b"application/json");
    let mut response = if wants_json {
        Json(LinkOut { url }).into_response()
    } else {
        (StatusCode::FOUND, [(LOCATION, url)]).into_response()
    };
    response.headers_mut().insert(VARY, ACCEPT.into());
    response
}
