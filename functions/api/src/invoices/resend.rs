//! `POST /api/invoices/{id}/resend`: one more mail of a finished invoice, with the same PDF.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use parceltrack::domain::{FIRST_DUE, InvoiceId, Reopened, Reopening, RequestId, Ticket, Wish};
use parceltrack::reopening::reopen;

use super::of_caller;
use super::request::{AcceptedOut, accepted};
use crate::App;
use crate::caller::{Allowed, ManageParcels};
use crate::fields::{Fields, Problems};
use crate::json::OptionalJson;
use crate::openapi::bodies::Nothing;
use crate::openapi::parameters::InvoiceInPath;
use crate::path_id::PathId;
use crate::problem::Problem;

/// Mail an invoice again
///
/// The same PDF and link. One that is on its way already is left alone.
#[utoipa::path(
    post, path = "/api/invoices/{id}/resend", operation_id = "resendInvoice", tag = "Invoices",
    params(InvoiceInPath), request_body = Option<Nothing>,
    responses(
        (status = 202, description = "It is going to be mailed", body = AcceptedOut, headers(
            ("Location" = String, description = "Where the invoice is"),
        )),
        (status = 404, description = "`not-found`: no such invoice, or another's"),
        (status = 409, description = "`address-suppressed`: the address gets no mail any more; `mailed-too-often`"),
        (status = 429, description = "`too-many-requests`: it was mailed within the last minute"),
    )
)]
pub(crate) async fn resend(
    State(app): State<App>,
    Allowed { caller, .. }: Allowed<ManageParcels>,
    PathId(id): PathId,
    Extension(request_id): Extension<RequestId>,
    OptionalJson(body): OptionalJson,
) -> Result<Response, Problem> {
    if let Some(body) = body {
        let mut problems = Problems::default();
        let nothing = Fields::of(body, "", &mut problems).map(|fields| fields.finish(&mut problems));
        problems.into_result(nothing)?;
    }
    let id = InvoiceId(id);
    let invoice = of_caller(&app, &caller, id).await?;
    let now = app.clock.now();
    let reason = format!("another mail was asked for by {caller}");
    let wish = Reopening {
        wish: Wish::AnotherMail,
        letter: None,
        address: None,
        reason,
        correlation_id: Some(request_id.clone()),
        due: now + FIRST_DUE,
        now,
    };
    match reopen(&*app.read_invoices, &*app.suppressions, &*app.reopen_invoices, id, &wish).await? {
        Reopened::Opened => {
            tracing::info!(event = "resend_requested", invoice = %id);
            // Safe already, as when it was first asked for: if the queue refuses, the relay sends the ticket.
            if let Err(error) =
                app.tickets.send(Ticket { invoice_id: id }, &invoice.content.owner, Some(&request_id)).await
            {
                tracing::warn!(event = "ticket_left_to_relay", invoice = %id, %error);
            }
            Ok(accepted(id, invoice.state.status_once_open()))
        }
        Reopened::StillOpen => Ok(accepted(id, invoice.state.status_once_open())),
        Reopened::TooSoon { until } => Err(Problem::TooManyRequests { retry_after: until.since(now) }),
        Reopened::Suppressed => Err(Problem::AddressSuppressed),
        Reopened::TooOften => Err(Problem::MailedTooOften),
        Reopened::Unknown => Err(Problem::NotFound("invoice")),
        // These answer letters, and wishes with another address or for another try.
        unexpected @ (Reopened::Readdressed
        | Reopened::HeldByWorker
        | Reopened::HandledBefore
        | Reopened::Sent
        | Reopened::NeedsAddress) => {
            tracing::error!(event = "strange_answer_to_resend", invoice = %id, ?unexpected);
            Err(Problem::Internal)
        }
    }
}
