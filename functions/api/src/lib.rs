//! The HTTP API. It does only what is fast: conditional writes, and a ticket on the queue for everything else.
//!
//! One module per resource; a handler parses, acts on the ports of [`App`], and answers. What goes wrong is a
//! [`problem::Problem`], turned into HTTP in one place.

mod app;
mod caller;
mod cursor;
mod docs;
mod edge;
mod event;
mod fields;
mod health;
mod invoices;
mod json;
mod key_ring;
mod links;
mod me;
mod openapi;
mod origin;
mod parcels;
mod path_id;
mod problem;
mod query;
mod queue;
mod settings;
mod signed_link;
mod tracking;
mod webhooks;
mod wiring;

pub use app::{App, RandomTrackingNumbers, Webhooks};
pub use docs::STYLE as DOCS_STYLE;
pub use edge::{only_named_writes, router};
pub use event::{handle, serve};
pub use key_ring::KeyRing;
pub use openapi::openapi;
pub use origin::only_by_cloudfront;
pub use queue::{Latest, QueueWatch};
pub use settings::{CalledBy, Settings};
