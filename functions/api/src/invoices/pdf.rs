//! `GET /api/invoices/{id}/pdf`: to the PDF, by a link that is good for minutes.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::LOCATION;
use parceltrack::domain::{Invoice, InvoiceId};

use super::of_caller;
use crate::App;
use crate::caller::Caller;
use crate::path_id::PathId;
use crate::problem::Problem;

pub(crate) async fn pdf(State(app): State<App>, caller: Caller, PathId(id): PathId) -> Result<Response, Problem> {
    let invoice = of_caller(&app, &caller, InvoiceId(id)).await?;
    redirect(&app, &invoice).await
}

/// 302 to the stored PDF; 404 as long as there is none.
pub(crate) async fn redirect(app: &App, invoice: &Invoice) -> Result<Response, Problem> {
    let pdf = invoice.state.pdf().ok_or(Problem::NotFound("PDF yet"))?;
    let link = app.pdf_links.link(pdf, &format!("{}.pdf", invoice.content.number)).await?;
    Ok((StatusCode::FOUND, [(LOCATION, link)]).into_response())
}
