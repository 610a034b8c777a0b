//! The failed invoices, by an index whose key is the status itself: what is opened again leaves it with the same write.

use async_trait::async_trait;

use super::{InvoiceRow, InvoiceTable};
use crate::aws::failure::port_error;
use crate::aws::row::{Row, attribute, from_row, number, text};
use crate::domain::InvoiceStatus;
use crate::ports::{FailedInvoice, FailedPage, FailedPageEnd, ListFailedInvoices, PortError};

const BY_FAILURE: &str = "by-failure";

#[async_trait]
impl ListFailedInvoices for InvoiceTable {
    async fn failed(&self, limit: u16, after: Option<FailedPageEnd>) -> Result<FailedPage, PortError> {
        let failed = attribute(InvoiceStatus::Failed)?;
        let start = after.map(|end| -> Row {
            [
                ("status".to_owned(), failed.clone()),
                ("failedAt".to_owned(), number(end.failed_at.millis())),
                ("invoiceId".to_owned(), text(end.invoice_id)),
            ]
            .into()
        });
        let answer = self
            .client
            .query()
            .table_name(&self.name)
            .index_name(BY_FAILURE)
            .key_condition_expression("#status = :failed")
            .expression_attribute_names("#status", "status")
            .expression_attribute_values(":failed", failed)
            .scan_index_forward(false)
            .limit(limit.into())
            .set_exclusive_start_key(start)
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        let more = answer.last_evaluated_key.is_some_and(|key| !key.is_empty());
        let invoices =
            answer.items.unwrap_or_default().into_iter().map(failed_invoice).collect::<Result<Vec<_>, _>>()?;
        let end = invoices
            .last()
            .filter(|_| more)
            .map(|last| FailedPageEnd { failed_at: last.failed_at, invoice_id: last.invoice.content.id });
        Ok(FailedPage { invoices, end })
    }
}

fn failed_invoice(row: Row) -> Result<FailedInvoice, PortError> {
    let row: InvoiceRow = from_row(row)?;
    let failed_at =
        row.failed_at.ok_or_else(|| PortError::Broken(format!("invoice {} failed at no time", row.content.id)))?;
    Ok(FailedInvoice { invoice: row.into_invoice()?, failed_at })
}
