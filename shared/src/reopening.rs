//! The one way in which people open an invoice again, be it a customer by the API or an operator by `parcelctl`.

use crate::domain::{InvoiceId, Reopened, Reopening};
use crate::ports::{PortError, ReadInvoices, ReadSuppressions, ReopenInvoices};

/// Opens an invoice again if it can succeed: not for an address that gets no mail any more, where it would fail at once.
/// The worker asks once more, right before the mail.
///
/// Whoever calls this sends the ticket; without one the relay does, since what is open has a due time.
pub async fn reopen(
    invoices: &dyn ReadInvoices,
    suppressions: &dyn ReadSuppressions,
    reopening: &dyn ReopenInvoices,
    id: InvoiceId,
    wish: &Reopening,
) -> Result<Reopened, PortError> {
    let Some(invoice) = invoices.invoice(id).await? else { return Ok(Reopened::Unknown) };
    if matches!(invoice.reopened_by(wish), Reopened::Opened | Reopened::Readdressed) {
        let to = wish.address.as_ref().map_or(invoice.email(), |address| &address.email);
        if suppressions.suppression(to).await?.is_some() {
            return Ok(Reopened::Suppressed);
        }
    }
    reopening.reopen(id, wish).await
}
