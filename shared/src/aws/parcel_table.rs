//! Parcels in DynamoDB, with the tables that keep tracking numbers and idempotency keys unique.

mod creation;
mod reading;
mod recording;
mod rows;

use aws_sdk_dynamodb::Client;

pub(super) use reading::parcel_of_row;
pub(super) use rows::ParcelStoryRow;

/// The names of the three tables that a parcel's creation writes to.
#[derive(Clone, Debug)]
pub struct ParcelTable {
    client: Client,
    parcels: String,
    tracking_numbers: String,
    idempotency_keys: String,
}

impl ParcelTable {
    /// The three tables of these names.
    #[must_use]
    pub fn new(client: Client, parcels: String, tracking_numbers: String, idempotency_keys: String) -> Self {
        Self { client, parcels, tracking_numbers, idempotency_keys }
    }

    /// The table of parcels alone, for who creates none.
    #[must_use]
    pub fn for_moving(client: Client, parcels: String) -> Self {
        Self::new(client, parcels, String::new(), String::new())
    }
}
