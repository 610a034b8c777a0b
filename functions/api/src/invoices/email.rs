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
