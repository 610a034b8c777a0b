//! What the functions of ParcelTrack share.
//!
//! [`domain`] is pure: no AWS type, no clock, no I/O. [`ports`] are the small traits through which a function
//! reaches the world, one per capability that its IAM role grants. [`aws`] and [`smtp`] implement them.

pub mod aws;
pub mod clock;
pub mod domain;
pub mod invocation;
pub mod mime;
pub mod ports;
pub mod reopening;
pub mod settings;
pub mod smtp;
pub mod telemetry;
