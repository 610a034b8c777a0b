//! `GET /api/invoices/{id}/pdf`: to the PDF, by a link that is good for minutes.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::LOCATION;
use http::{HeaderMap, StatusCode};
use parceltrack::domain::{Invoice, InvoiceId};

use super::of_caller;
use crate::App;
use crate::caller::{Allowed, ManageParcels};
use crate::path_id::PathId;
use crate::problem::Problem;
use crate::signed_link;

pub(crate) async fn pdf(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<ManageParcels>,
    PathId(id): PathId,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let invoice = of_caller(&app, &caller, InvoiceId(id)).await?;
    Ok(signed_link::answer(link(&app, &invoice).await?, &headers))
}

/// 302 to the stored PDF; 404 as long as there is none.
pub(crate) async fn redirect(app: &App, invoice: &Invoice) -> Result<Response, Problem> {
    Ok((StatusCode::FOUND, [(LOCATION, link(app, invoice).await?)]).into_response())
}

async fn link(app: &App, invoice: &Invoice) -> Result<String, Problem> {
    let pdf = invoice.state.pdf().ok_or(Problem::NotFound("PDF yet"))?;
    Ok(app.pdf_links.link(pdf, &format!("{}.pdf", invoice.content.number)).await?)
}
