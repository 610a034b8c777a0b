//! `GET /api/invoices/{id}/pdf`: to the PDF, by a link that is good for minutes.

use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use http::header::LOCATION;
use http::{HeaderMap, StatusCode};
use parceltrack::domain::{Invoice, InvoiceId};
use parceltrack::ports::Disposition;

use super::of_caller;
use crate::App;
use crate::caller::{Allowed, ManageParcels};
use crate::openapi::parameters::{Disposition as DispositionWanted, InvoiceInPath, LinkOrRedirect};
use crate::path_id::PathId;
use crate::problem::Problem;
use crate::query::parameter;
use crate::signed_link::{self, LinkOut};

/// Open the PDF of an invoice
#[utoipa::path(
    get, path = "/api/invoices/{id}/pdf", operation_id = "getInvoicePdf", tag = "Invoices",
    params(InvoiceInPath, DispositionWanted, LinkOrRedirect),
    responses(
        (status = 200, description = "The link, for `Accept: application/json`", body = LinkOut),
        (status = 302, description = "To the PDF", headers(
            ("Location" = String, description = "A link good for a minute"),
        )),
        (status = 404, description = "`not-found`: no such invoice, another's, or no PDF yet"),
    )
)]
pub(crate) async fn pdf(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<ManageParcels>,
    PathId(id): PathId,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let disposition = disposition(&query.unwrap_or_default())?;
    let invoice = of_caller(&app, &caller, InvoiceId(id)).await?;
    Ok(signed_link::answer(link(&app, &invoice, disposition).await?, &headers))
}

/// 302 to the stored PDF; 404 as long as there is none.
pub(crate) async fn redirect(app: &App, invoice: &Invoice, disposition: Disposition) -> Result<Response, Problem> {
    Ok((StatusCode::FOUND, [(LOCATION, link(app, invoice, disposition).await?)]).into_response())
}

async fn link(app: &App, invoice: &Invoice, disposition: Disposition) -> Result<String, Problem> {
    let pdf = invoice.state.pdf().ok_or(Problem::NotFound("PDF yet"))?;
    Ok(app.pdf_links.link(pdf, &format!("{}.pdf", invoice.content.number), disposition).await?)
}

/// Shown, unless `disposition=attachment` asks to save it.
fn disposition(query: &str) -> Result<Disposition, Problem> {
    match parameter(query, "disposition").as_deref() {
        None | Some("inline") => Ok(Disposition::Inline),
        Some("attachment") => Ok(Disposition::Attachment),
        Some(_) => Err(Problem::invalid_parameter("disposition", "must be inline or attachment")),
    }
}
