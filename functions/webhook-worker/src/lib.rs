//! The worker of webhooks: brings each delivery whose ticket arrives to its endpoint, or notes why not.
//!
//! A ticket may arrive twice, late, or while another worker has the delivery. The table's lease decides who works; the
//! delivery's due time brings back what was not finished. See `docs/architecture.md`.

mod batch;
mod call;
mod confirmation;
mod notice;
mod resolve;
mod settings;
mod switched_off;
mod work;

pub use batch::handle;
pub use call::{CALL_TIMEOUT, CallEndpoint, EndpointCall, Endpoints, NoRoots};
pub use resolve::{ResolveName, SystemResolver};
pub use settings::{Rules, Settings};
pub use work::WebhookWorker;
