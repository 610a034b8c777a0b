//! Parcels together with their invoices: two tables in one call, since an invoice's id follows from its parcel's.

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::KeysAndAttributes;

use super::batch_read::batch_read;
use super::invoice_table::{summaries_wanted, summary};
use super::parcel_table::parcel_of_row;
use super::row::text;
use crate::domain::{InvoiceId, ParcelId};
use crate::ports::{PortError, ShowParcels, ShownParcel};

/// The tables of parcels and of invoices.
#[derive(Clone, Debug)]
pub struct ShownParcels {
    client: Client,
    parcels: String,
    invoices: String,
}

impl ShownParcels {
    /// The two tables of these names.
    #[must_use]
    pub fn new(client: Client, parcels: String, invoices: String) -> Self {
        Self { client, parcels, invoices }
    }
}

#[async_trait]
impl ShowParcels for ShownParcels {
    async fn shown(&self, id: ParcelId) -> Result<Option<ShownParcel>, PortError> {
        let parcel = KeysAndAttributes::builder()
            .keys([("parcelId".to_owned(), text(id))].into())
            .consistent_read(true)
            .build()
            .map_err(|error| PortError::Broken(error.to_string()))?;
        let invoice = summaries_wanted(&[InvoiceId::of_parcel(id)])?;
        let wanted = [(self.parcels.clone(), parcel), (self.invoices.clone(), invoice)].into();
        let mut rows = batch_read(&self.client, wanted).await?;
        let mut row_of = |table| rows.remove(table).and_then(|mut rows: Vec<_>| rows.pop());
        let Some(parcel) = row_of(&self.parcels) else { return Ok(None) };
        let invoice = row_of(&self.invoices).map(summary).transpose()?;
        Ok(Some(ShownParcel { parcel: parcel_of_row(parcel)?, invoice }))
    }
}
