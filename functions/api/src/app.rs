//! What the handlers act on.

use std::sync::Arc;

use parceltrack::domain::{AddressRule, Billing, TrackingNumber};
use parceltrack::ports::{
    AskForConfirmation, ChangeWebhooks, Clock, ConfirmContacts, CreateInvoices, CreateParcels, CreateWebhooks,
    DrawTrackingNumber, ExpectProofs, KeepProofs, LinkToPdf, ListFailedInvoices, ListWebhookDeliveries, ReadAnswers,
    ReadContacts, ReadInvoices, ReadParcels, ReadSuppressions, ReadWebhookDeliveries, ReadWebhooks, ReaddressInvoices,
    RecordEvents, RecordWebhookDeliveries, ReopenInvoices, RetryWebhookDeliveries, SendResendWish, SendTicket,
    SendWebhookTicket, ShowParcels,
};
use uuid::Uuid;

use crate::KeyRing;
use crate::queue::QueueWatch;

/// The ports of the API, and what its invoices have in common.
#[derive(Clone)]
pub struct App {
    /// Knows who is calling.
    pub keys: KeyRing,
    /// Creates parcels.
    pub create_parcels: Arc<dyn CreateParcels>,
    /// Reads parcels.
    pub read_parcels: Arc<dyn ReadParcels>,
    /// Shows parcels with their invoices.
    pub show_parcels: Arc<dyn ShowParcels>,
    /// Moves parcels along.
    pub record_events: Arc<dyn RecordEvents>,
    /// Knows the answers to idempotency keys.
    pub read_answers: Arc<dyn ReadAnswers>,
    /// Notes that a photograph of a delivery may come.
    pub expect_proofs: Arc<dyn ExpectProofs>,
    /// Keeps those photographs.
    pub proofs: Arc<dyn KeepProofs>,
    /// Creates invoices.
    pub create_invoices: Arc<dyn CreateInvoices>,
    /// Reads invoices.
    pub read_invoices: Arc<dyn ReadInvoices>,
    /// Opens finished invoices again.
    pub reopen_invoices: Arc<dyn ReopenInvoices>,
    /// Changes where their mail goes.
    pub readdress_invoices: Arc<dyn ReaddressInvoices>,
    /// Knows who gets no mail any more.
    pub suppressions: Arc<dyn ReadSuppressions>,
    /// Lists failed invoices.
    pub failed_invoices: Arc<dyn ListFailedInvoices>,
    /// Puts tickets on the queue.
    pub tickets: Arc<dyn SendTicket>,
    /// Makes links to PDFs.
    pub pdf_links: Arc<dyn LinkToPdf>,
    /// Draws tracking numbers.
    pub tracking_numbers: Arc<dyn DrawTrackingNumber>,
    /// What merchants' webhooks are kept by.
    pub webhooks: Webhooks,
    /// Measures what is still to be done.
    pub queue: Arc<QueueWatch>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// What all invoices have in common.
    pub billing: Billing,
}

/// The ports of webhooks.
#[derive(Clone)]
pub struct Webhooks {
    /// Registers them.
    pub create: Arc<dyn CreateWebhooks>,
    /// Reads them.
    pub read: Arc<dyn ReadWebhooks>,
    /// Changes them.
    pub change: Arc<dyn ChangeWebhooks>,
    /// Reads their deliveries.
    pub deliveries: Arc<dyn ReadWebhookDeliveries>,
    /// Lists them.
    pub list: Arc<dyn ListWebhookDeliveries>,
    /// Makes those of tests.
    pub record: Arc<dyn RecordWebhookDeliveries>,
    /// Has them tried again.
    pub retry: Arc<dyn RetryWebhookDeliveries>,
    /// Puts their tickets on the queue.
    pub tickets: Arc<dyn SendWebhookTicket>,
    /// Passes on what is wished to be sent again.
    pub wishes: Arc<dyn SendResendWish>,
    /// Knows who has confirmed to be a contact.
    pub contacts: Arc<dyn ReadContacts>,
    /// Takes their yes.
    pub confirm: Arc<dyn ConfirmContacts>,
    /// Has them asked.
    pub ask: Arc<dyn AskForConfirmation>,
    /// Which addresses endpoints may have.
    pub addresses: AddressRule,
}

/// Tracking numbers that nobody can foresee, from the operating system's generator: who knows one reads where a parcel
/// is.
#[derive(Clone, Copy, Debug)]
pub struct RandomTrackingNumbers;

impl DrawTrackingNumber for RandomTrackingNumbers {
    fn draw(&self, attempt: u32) -> TrackingNumber {
        // The lower half of a UUID has 62 random bits.
        TrackingNumber::draw(Uuid::new_v4().as_u64_pair().1, attempt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_number_does_not_follow_from_a_seed_that_may_be_known() {
        let drawn = || {
            fastrand::seed(7);
            RandomTrackingNumbers.draw(1)
        };
        assert_ne!(drawn(), drawn());
    }
}
