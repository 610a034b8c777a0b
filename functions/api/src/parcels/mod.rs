//! Parcels: create one, list and search them, look at one, move it along, prove its delivery.

pub(crate) mod cancel;
pub(crate) mod create;
pub(crate) mod get;
mod idempotency;
pub(crate) mod list;
mod out;
mod path_parcel;
pub(crate) mod proof;
pub(crate) mod report_event;
mod step;
pub(crate) mod upload_proof;

pub(crate) use cancel::cancel;
pub(crate) use create::create;
pub(crate) use get::{get, of_caller as get_of_caller};
pub(crate) use idempotency::{IDEMPOTENCY_KEY, IDEMPOTENT_REPLAYED, KeyUse};
pub(crate) use list::list;
pub(crate) use path_parcel::PathParcel;
pub(crate) use proof::proof;
pub(crate) use report_event::report_event;
pub(crate) use upload_proof::upload_proof;
