//! What the handlers act on.

use std::sync::Arc;

use parceltrack::domain::{Billing, TrackingNumber};
use parceltrack::ports::{
    Clock, CreateInvoices, CreateParcels, DrawTrackingNumber, ExpectProofs, KeepProofs, LinkToPdf, ListFailedInvoices,
    ReadAnswers, ReadInvoices, ReadParcels, ReadSuppressions, ReaddressInvoices, RecordEvents, ReopenInvoices,
    SendTicket, ShowParcels,
};

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
    /// Measures what is still to be done.
    pub queue: Arc<QueueWatch>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// What all invoices have in common.
    pub billing: Billing,
}

/// Tracking numbers by chance.
#[derive(Clone, Copy, Debug)]
pub struct RandomTrackingNumbers;

impl DrawTrackingNumber for RandomTrackingNumbers {
    fn draw(&self, attempt: u32) -> TrackingNumber {
        TrackingNumber::draw(fastrand::u64(..), attempt)
    }
}
