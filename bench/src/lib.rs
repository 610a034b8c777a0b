//! What measuring needs of the world: Lambda's side of a function ([`RuntimeApi`], [`Process`]), and AWS in memory
//! ([`Aws`]), which answers in microseconds and counts what it is asked, a mail server and a webhook's endpoint that take
//! everything ([`MailSink`], [`Endpoint`]), and a proxy before other tables that says how much they were asked for
//! ([`CountedTables`]).
//!
//! `cargo xtask bench` measures with it, and the tests count calls with it. Everything is on 127.0.0.1.

mod aws;
pub mod caller;
mod counted;
mod endpoint;
pub mod events;
mod mail_sink;
mod process;
mod runtime_api;
pub mod settings;

pub use aws::{Answer, Aws, Call, clients, serve};
pub use counted::{CountedTables, Work};
pub use endpoint::Endpoint;
pub use mail_sink::{MailSink, TakenMail};
pub use process::{Memory, Process};
pub use runtime_api::{Invocation, RuntimeApi, TRACE};
