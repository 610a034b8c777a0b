//! Invoices: ask for one, look at it, open its PDF, have it mailed again or elsewhere.

mod email;
mod failed;
mod get;
mod pdf;
mod request;
mod resend;

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
