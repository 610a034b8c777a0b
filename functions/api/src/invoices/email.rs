//! `PUT /api/invoices/{id}/email`: another address for the mail. The invoice itself stays as it was issued.

use axum::extract::State;
use parceltrack::domain::{EmailAddress, InvoiceId, LinkSecret, NewAddress, Readdressed};
use uuid::Uuid;

use super::get::InvoiceOut;
use super::of_caller;
use crate::App;
use crate::caller::{Allowed, ManageParcels};
use crate::fields::{Fields, Problems};
use crate::json::Json;
use crate::openapi::bodies::NewAddress as NewAddressBody;
use crate::openapi::parameters::InvoiceInPath;
use crate::path_id::PathId;
use crate::problem::Problem;

fn parse(body: serde_json::Value) -> Result<EmailAddress, Problem> {
    let mut problems = Problems::default();
    let email = Fields::of(body, "", &mut problems).and_then(|mut fields| {
        let email = fields.required("email", &mut problems, |text| text.parse());
        fields.finish(&mut problems);
        email
    });
    problems.into_result(email)
}

/// Change where an invoice is mailed
///
/// The document stays as issued, and links that went to the former address open nothing any more.
#[utoipa::path(
    put, path = "/api/invoices/{id}/email", operation_id = "setInvoiceEmail", tag = "Invoices",
    params(InvoiceInPath), request_body = NewAddressBody,
    responses(
        (status = 200, description = "The invoice", body = InvoiceOut),
        (status = 404, description = "`not-found`: no such invoice, or another's"),
        (status = 409, description = "`invoice-busy`: a worker has it, try again after `Retry-After`; \
                                      `mailed-too-often`", headers(
            ("Retry-After" = u64, description = "Seconds to wait, for `invoice-busy`"),
        )),
    )
)]
pub(crate) async fn set_email(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<ManageParcels>,
    PathId(id): PathId,
    Json(body): Json,
) -> Result<axum::Json<InvoiceOut>, Problem> {
    let email = parse(body)?;
    let id = InvoiceId(id);
    of_caller(&app, &caller, id).await?;
    let address = NewAddress { email, by: caller.to_string(), link_secret: LinkSecret(Uuid::new_v4()) };
    match app.readdress_invoices.readdress(id, &address, app.clock.now()).await? {
        Readdressed::Changed => tracing::info!(event = "invoice_readdressed", invoice = %id),
        Readdressed::Unchanged => {}
        Readdressed::HeldByWorker => return Err(Problem::InvoiceBusy),
        Readdressed::TooOften => return Err(Problem::MailedTooOften),
        Readdressed::Unknown => return Err(Problem::NotFound("invoice")),
    }
    Ok(axum::Json(of_caller(&app, &caller, id).await?.into()))
}
