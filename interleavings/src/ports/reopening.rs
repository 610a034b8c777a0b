//! Invoices that are opened again, or readdressed.

use async_trait::async_trait;
use parceltrack::domain::{InvoiceId, NewAddress, Readdressed, Reopened, Reopening, Timestamp};
use parceltrack::ports::{PortError, ReaddressInvoices, ReopenInvoices};

use super::{Ports, unavailable};
use crate::gate::{Op, digest};
use crate::world::World;

#[async_trait]
impl ReopenInvoices for Ports {
    async fn reopen(&self, id: InvoiceId, reopening: &Reopening) -> Result<Reopened, PortError> {
        let effect = |world: &mut World| {
            let answer = world.invoices.reopen(id, reopening);
            self.tell(world, "opens the invoice again", &answer);
            answer
        };
        let seen = |answer: &Reopened| digest(std::mem::discriminant(answer));
        let times = [reopening.due, reopening.now];
        self.gate.pass((Op::Reopen, self.about(id)), &times, effect, seen).await.map_err(unavailable)
    }
}

#[async_trait]
impl ReaddressInvoices for Ports {
    async fn readdress(&self, id: InvoiceId, address: &NewAddress, now: Timestamp) -> Result<Readdressed, PortError> {
        let effect = |world: &mut World| {
            let answer = world.invoices.readdress(id, address, now);
            self.tell(world, "changes the address", &answer);
            answer
        };
        let seen = |answer: &Readdressed| digest(std::mem::discriminant(answer));
        self.gate.pass((Op::Readdress, self.about(id)), &[now], effect, seen).await.map_err(unavailable)
    }
}
