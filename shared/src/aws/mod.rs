//! The ports on AWS. `AWS_ENDPOINT_URL` is all that sets the laptop apart.

mod api_key_table;
mod batch_read;
mod bucket;
mod clients;
mod dead_letters;
mod event_bus;
mod failure;
mod invoice_table;
mod parcel_table;
mod proof_bucket;
mod queue_depth;
mod row;
mod secret;
mod ses;
mod shown_parcels;
mod suppression_table;
mod table_stream;
mod throughput_table;
mod ticket_queue;

pub use api_key_table::ApiKeyTable;
pub use bucket::InvoiceBucket;
pub use clients::{ATTEMPT_TIMEOUT, CONNECT_TIMEOUT, Clients, OPERATION_TIMEOUT};
pub use dead_letters::{DeadLetterQueue, LETTER_ATTRIBUTE};
pub use event_bus::{EVENT_SOURCE, EventBus};
pub use invoice_table::InvoiceTable;
pub use parcel_table::ParcelTable;
pub use proof_bucket::ProofBucket;
pub use secret::secret_text;
pub use ses::{INVOICE_TAG, Ses};
pub use shown_parcels::ShownParcels;
pub use suppression_table::SuppressionTable;
pub use table_stream::{StreamPosition, UnreadableRecord, events_of, position_of};
pub use throughput_table::ThroughputTable;
pub use ticket_queue::{REQUEST_ATTRIBUTE, TicketQueue};
