//! The ports of the functions, each call of which goes through the gate.

mod api_keys;
mod invoices;
mod mail;
mod parcels;
mod people;
mod throughput;
mod tickets;
pub(crate) mod webhooks;

pub use api_keys::clients_key;

use async_trait::async_trait;
use invoice_worker::{RenderFailed, RenderPdf, Rendered};
use parceltrack::domain::{InvoiceContent, InvoiceId, Role, StoredPdf, Timestamp};
use parceltrack::ports::{Clock, Disposition, LinkToPdf, PortError, StorePdf};
use sha2::{Digest as _, Sha256};

use crate::gate::{Gate, Op, digest};
use crate::schedule::Outcome;
use crate::world::World;

/// All ports, as one process has them.
#[derive(Clone)]
pub struct Ports {
    /// The way to the world.
    pub gate: Gate,
    /// Which release of our code runs: another one makes another PDF.
    pub release: u32,
    /// What clients may do.
    pub clients: Role,
}

fn unavailable(outcome: Outcome) -> PortError {
    PortError::Unavailable(format!("{outcome:?}"))
}

impl Ports {
    /// A call about an invoice, as a line of the history tells it.
    fn about(&self, id: InvoiceId) -> u64 {
        self.gate.world().invoices.index(id).map_or(u64::MAX, |index| index as u64)
    }

    fn tell<T: std::fmt::Debug>(&self, world: &mut World, what: &str, answer: &T) {
        let process = self.gate.process();
        world.note(|world| format!("{:<10} {what} → {answer:?}", world.inhabitants[process].name));
    }
}

impl Clock for Ports {
    fn now(&self) -> Timestamp {
        self.gate.world().now
    }
}

#[async_trait]
impl RenderPdf for Ports {
    async fn render(&self, content: InvoiceContent) -> Result<Rendered, RenderFailed> {
        // Not its id, which differs from run to run.
        let InvoiceContent { number, recipient, lines, .. } = content;
        let bytes = format!("release {}: {number} {recipient} {lines:?}", self.release).into_bytes();
        Ok(Rendered { sha256: sha256(&bytes), bytes, missing_glyphs: 0 })
    }
}

fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

#[async_trait]
impl LinkToPdf for Ports {
    async fn link(&self, pdf: &StoredPdf, _: &str, _: Disposition) -> Result<String, PortError> {
        Ok(format!("https://bucket.example/{}", pdf.key))
    }
}

#[async_trait]
impl StorePdf for Ports {
    async fn store(&self, key: &str, pdf: Vec<u8>) -> Result<(), PortError> {
        let sha256 = sha256(&pdf);
        let effect = |world: &mut World| {
            world.bucket.insert(key.to_owned(), sha256.clone());
            self.tell(world, "stores the PDF", &&sha256[..8]);
        };
        self.gate.pass((Op::StorePdf, digest(self.release)), &[], effect, |()| 0).await.map_err(unavailable)
    }
}
