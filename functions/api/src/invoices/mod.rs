//! Invoices: ask for one, look at it, open its PDF, have it mailed again or elsewhere.

pub(crate) mod email;
pub(crate) mod failed;
pub(crate) mod get;
pub(crate) mod pdf;
pub(crate) mod request;
pub(crate) mod resend;

pub(crate) use email::set_email;
pub(crate) use failed::list_failed;
pub(crate) use get::get;
pub(crate) use pdf::{pdf, redirect as redirect_to_pdf};
pub(crate) use request::request;
pub(crate) use resend::resend;

use parceltrack::domain::{Invoice, InvoiceId};

use crate::App;
use crate::caller::Caller;
use crate::problem::Problem;

/// The invoice, if it is there and the caller's.
async fn of_caller(app: &App, caller: &Caller, id: InvoiceId) -> Result<Invoice, Problem> {
    let invoice = app.read_invoices.invoice(id).await?;
    invoice.filter(|invoice| caller.sees(&invoice.content.owner)).ok_or(Problem::NotFound("invoice"))
}
