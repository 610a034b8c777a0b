//! `GET /i/{token}`: the link in the mail. Whoever holds it may open the PDF, for a day.

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY};
use parceltrack::domain::LinkToken;
use parceltrack::ports::Disposition;

use crate::App;
use crate::invoices::redirect_to_pdf;
use crate::openapi::parameters::TokenInPath;
use crate::problem::Problem;

const EXPIRED: &str = include_str!("pages/link_expired.html");
const UNKNOWN: &str = include_str!("pages/link_unknown.html");

/// Open the link in a mail
///
/// Whoever holds it may, for 24 h after the mail.
#[utoipa::path(
    get, path = "/i/{token}", operation_id = "openMailedLink", tag = "Invoices", security(()),
    params(TokenInPath),
    responses(
        (status = 302, description = "To the PDF", headers(
            ("Location" = String, description = "A link good for a minute"),
        )),
        (status = 404, description = "No such link: a page", body = String, content_type = "text/html"),
        (status = 410, description = "It is over: a page", body = String, content_type = "text/html"),
    )
)]
pub(crate) async fn open(State(app): State<App>, Path(token): Path<String>) -> Result<Response, Problem> {
    // A customer reads these answers in a browser, so they are pages, not problem details.
    let Ok(token) = token.parse::<LinkToken>() else { return Ok(page(StatusCode::NOT_FOUND, UNKNOWN)) };
    let Some(invoice) = app.read_invoices.invoice(token.invoice).await? else {
        return Ok(page(StatusCode::NOT_FOUND, UNKNOWN));
    };
    if invoice.link_secret != token.secret {
        return Ok(page(StatusCode::NOT_FOUND, UNKNOWN));
    }
    match invoice.link_expires {
        Some(expires) if app.clock.now() < expires => redirect_to_pdf(&app, &invoice, Disposition::Inline).await,
        Some(_) => Ok(page(StatusCode::GONE, EXPIRED)),
        None => Ok(page(StatusCode::NOT_FOUND, UNKNOWN)),
    }
}

fn page(status: StatusCode, html: &'static str) -> Response {
    let headers: [(HeaderName, &str); 3] = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
        (REFERRER_POLICY, "no-referrer"),
    ];
    (status, headers, html).into_response()
}
