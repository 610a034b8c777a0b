//! Invoices that have failed and that nobody has opened again.

use async_trait::async_trait;

use super::PortError;
use crate::domain::{Invoice, InvoiceId, Timestamp};

/// An invoice that has failed.
#[derive(Clone, Debug)]
pub struct FailedInvoice {
    /// The invoice.
    pub invoice: Invoice,
    /// Since when.
    pub failed_at: Timestamp,
}

/// Where a page of failed invoices ends, and the next begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedPageEnd {
    /// When the page's last invoice failed.
    pub failed_at: Timestamp,
    /// That invoice.
    pub invoice_id: InvoiceId,
}

/// Failed invoices, the latest first.
#[derive(Clone, Debug)]
pub struct FailedPage {
    /// The invoices of this page.
    pub invoices: Vec<FailedInvoice>,
    /// Where to go on; `None` on the last page.
    pub end: Option<FailedPageEnd>,
}

/// Lists failed invoices (API).
#[async_trait]
pub trait ListFailedInvoices: Send + Sync {
    /// Everybody's failed invoices, the latest first, at most `limit`, those after `after`. One that failed or was opened
    /// in this very moment may be missing or still there.
    async fn failed(&self, limit: u16, after: Option<FailedPageEnd>) -> Result<FailedPage, PortError>;
}
