//! Everything that runs ParcelTrack on a laptop: a local AWS with the real template on it, a mail inbox,
//! the API's address and the page, all on 127.0.0.1.
//!
//! Guarantee: whatever [`LocalStack::start`] starts is gone when the stack is stopped, dropped, or its
//! process killed; nothing outlives it but the files of its state directory.

mod addresses;
mod aws;
mod deploy;
mod emulator;
mod environment_file;
mod faults;
mod functions;
mod gateway;
mod inbox;
mod keys;
mod page;
mod ports;
mod processes;
mod pump;
mod python;
mod stack;

use std::sync::Arc;

pub use addresses::{STACK_VARIABLE, StackAddresses};
pub use aws::{Alarm, AlarmState, QueueCounts};
pub use environment_file::{NotAlike, environment_file};
pub use faults::{Fault, Faults, Service, Spoiling};
pub use functions::{FUNCTIONS, resource};
pub use inbox::{Header, InboxClient, Mail, MailSummary, OwnInbox, Server, ServerState};
pub use keys::{DRIVER_KEY, MERCHANT_KEY, OPERATOR_KEY, OTHER_MERCHANT_KEY};
pub use ports::Ports;
pub use python::{PythonProblem, find_python, virtual_environment};
pub use stack::{AlreadyRunning, LocalStack, Options};

/// Told, line by line, what is being done; a newcomer's first start takes minutes.
pub type Progress = Arc<dyn Fn(&str) + Send + Sync>;

/// Region of everything local; ParcelTrack is at home in Singapore.
pub const REGION: &str = "ap-southeast-1";
