//! Parcels: create one, list them, look at one.

mod create;
mod cursor;
mod get;
mod list;
mod out;

pub(crate) use create::{IDEMPOTENCY_KEY, IDEMPOTENT_REPLAYED, create};
pub(crate) use get::{get, of_caller as get_of_caller};
pub(crate) use list::list;
