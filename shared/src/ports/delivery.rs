//! What becomes of mails that the provider has accepted, and who gets none any more.

use async_trait::async_trait;

use super::PortError;
use crate::domain::{Consequence, EmailAddress, MailReport, Suppression};

/// Records what the provider tells of an invoice's mail (mail-events). Any report may come late, twice, or before the
/// worker's own record.
#[async_trait]
pub trait RecordDelivery: Send + Sync {
    /// Does to the invoice what [`crate::domain::Invoice::consequence_of`] says, if the invoice is still as it was when
    /// that was asked; `None` if there is no such invoice.
    ///
    /// What makes an invoice `Sent` or `Failed` also removes its lease and due time, so that a worker that is about to
    /// mail it again finds its lease lost.
    async fn record(&self, report: &MailReport) -> Result<Option<Consequence>, PortError>;
}

/// Asks whether an address gets mail (worker, operators).
#[async_trait]
pub trait ReadSuppressions: Send + Sync {
    /// Why this address gets none, if it gets none.
    async fn suppression(&self, email: &EmailAddress) -> Result<Option<Suppression>, PortError>;
}

/// Stops mail to an address (mail-events).
#[async_trait]
pub trait AddSuppression: Send + Sync {
    /// From now on. If it gets none already, the first cause stays.
    async fn add(&self, suppression: &Suppression) -> Result<(), PortError>;
}

/// Allows mail to an address again (operators).
#[async_trait]
pub trait RemoveSuppression: Send + Sync {
    /// Whether there was anything to remove.
    async fn remove(&self, email: &EmailAddress) -> Result<bool, PortError>;
}
