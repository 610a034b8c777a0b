//! `GET /api/invoices/{id}/pdf`: to the PDF, by a link that is good for minutes.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::{ACCEPT, LOCATION, VARY};
use http::{HeaderMap, StatusCode};
use parceltrack::domain::{Invoice, InvoiceId};
use serde::Serialize;

use super::of_caller;
use crate::App;
use crate::caller::{Allowed, ManageParcels};
use crate::path_id::PathId;
use crate::problem::Problem;

/// A browser that follows a redirect cannot be told to leave the caller's key at home, so a page asks for the link.
#[derive(Serialize)]
struct LinkOut {
    url: String,
}

pub(crate) async fn pdf(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<ManageParcels>,
    PathId(id): PathId,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let invoice = of_caller(&app, &caller, InvoiceId(id)).await?;
    let wants_json = headers.get(ACCEPT).is_some_and(|accepted| accepted.as_bytes() == b"application/json");
    let mut response = if wants_json {
        Json(LinkOut { url: link(&app, &invoice).await? }).into_response()
    } else {
        redirect(&app, &invoice).await?
    };
    response.headers_mut().insert(VARY, ACCEPT.into());
    Ok(response)
}

/// 302 to the stored PDF; 404 as long as there is none.
pub(crate) async fn redirect(app: &App, invoice: &Invoice) -> Result<Response, Problem> {
    Ok((StatusCode::FOUND, [(LOCATION, link(app, invoice).await?)]).into_response())
}

async fn link(app: &App, invoice: &Invoice) -> Result<String, Problem> {
    let pdf = invoice.state.pdf().ok_or(Problem::NotFound("PDF yet"))?;
    Ok(app.pdf_links.link(pdf, &format!("{}.pdf", invoice.content.number)).await?)
}
