//! The worker: brings each invoice whose ticket arrives to its end, with everything that is slow or likely to fail.
//!
//! A ticket may arrive twice, late, or while another worker has the invoice. The table's lease decides who works; the
//! invoice's due time brings back what was not finished. See `docs/architecture.md`.

mod batch;
mod breaker;
mod deadline;
mod delivery;
mod mail;
mod pace;
pub mod pdf;
mod render;
mod settings;
mod tally;
mod work;

pub use batch::handle;
pub use deadline::Deadline;
pub use render::{RenderFailed, RenderPdf, Rendered};
pub use settings::{Rules, Settings};
pub use work::{MAIL_TIMEOUT, Worker};
