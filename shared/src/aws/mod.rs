//! The ports on AWS. `AWS_ENDPOINT_URL`, which the SDK itself reads, is all that sets the laptop apart.

mod bucket;
mod clients;
mod dead_letters;
mod failure;
mod invoice_table;
mod parcel_table;
mod row;
mod ses;
mod ticket_queue;

pub use bucket::InvoiceBucket;
pub use clients::Clients;
pub use dead_letters::DeadLetterQueue;
pub use invoice_table::InvoiceTable;
pub use parcel_table::ParcelTable;
pub use ses::Ses;
pub use ticket_queue::TicketQueue;
