//! Invoices: what they bill, what they come to, and how far they have come.

mod content;
mod identity;
mod state;

pub use content::{Billing, InvalidLine, InvoiceContent, Line, MAX_LINES, MAX_QUANTITY, Seller, TaxSummary, Totals};
pub use identity::{InvoiceId, InvoiceNumber};
pub use state::{Attempt, AttemptOutcome, Invoice, InvoiceState, InvoiceStatus, ProviderMessageId, StoredPdf};
