//! Every crash point, every interleaving: the real functions on a world in memory, where each call of a port can
//! succeed, fail, lose its answer, or be the last that its process makes.
//!
//! A [`Schedule`] says who does what when; [`explore`] goes through all of them within a [`Scenario`]'s bounds and
//! looks whether each [`Invariant`] holds. A [`Mutation`] breaks the world on purpose, to see that this is noticed.

#![allow(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on panics"
)]

pub mod cast;
pub mod explore;
pub mod gate;
pub mod invariant;
pub mod invoices;
pub mod mutation;
pub mod parcels;
pub mod ports;
pub mod queue;
pub mod random;
pub mod run;
pub mod scenario;
pub mod schedule;
pub mod timing;
pub mod witness;
pub mod world;

pub use invariant::{Invariant, Violation};
pub use mutation::Mutation;
pub use run::{Run, Stage};
pub use scenario::{Beginning, Budget, Request, Scenario};
pub use schedule::{Choice, News, Outcome, Schedule, Wish};
pub use timing::Timing;
