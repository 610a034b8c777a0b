//! The queue of tickets and the dead letters.

use std::time::Duration;

use async_trait::async_trait;
use parceltrack::domain::{OwnerId, RequestId, Ticket};
use parceltrack::ports::{DeadLetter, PortError, PostponeTicket, SendTicket, SendTickets};

use super::{Ports, unavailable};
use crate::gate::Op;
use crate::world::World;

#[async_trait]
impl SendTicket for Ports {
    async fn send(&self, ticket: Ticket, _: &OwnerId, _: Option<&RequestId>) -> Result<(), PortError> {
        let effect = |world: &mut World| {
            let now = world.now;
            world.queue.send(ticket.to_body(), now);
            self.tell(world, "sends a ticket", &());
        };
        self.gate.pass((Op::SendTicket, self.about(ticket.invoice_id)), &[], effect, |()| 0).await.map_err(unavailable)
    }
}

#[async_trait]
impl SendTickets for Ports {
    async fn send_batch(&self, tickets: &[(Ticket, OwnerId)]) -> Result<Vec<Ticket>, PortError> {
        let effect = |world: &mut World| {
            let now = world.now;
            for (ticket, _) in tickets {
                world.queue.send(ticket.to_body(), now);
            }
            self.tell(world, "sends tickets", &tickets.len());
            vec![]
        };
        let about = tickets.first().map_or(0, |(ticket, _)| self.about(ticket.invoice_id));
        self.gate.pass((Op::SendBatch, about), &[], effect, |_| 0).await.map_err(unavailable)
    }

    async fn waiting(&self) -> Result<u64, PortError> {
        // Few enough are here that each that is due gets one.
        Ok(0)
    }
}

#[async_trait]
impl PostponeTicket for Ports {
    async fn postpone(&self, receipt_handle: &str, delay: Duration) -> Result<(), PortError> {
        let effect = |world: &mut World| {
            let now = world.now;
            world.queue.postpone(receipt_handle, delay, now);
            self.tell(world, "postpones its ticket", &delay);
        };
        self.gate.pass((Op::Postpone, delay.as_secs()), &[], effect, |()| 0).await.map_err(unavailable)
    }
}

#[async_trait]
impl DeadLetter for Ports {
    async fn bury(&self, body: &str, reason: &str) -> Result<(), PortError> {
        let effect = |world: &mut World| {
            world.bury(self.gate.process(), body, reason);
            self.tell(world, "buries", &reason);
        };
        self.gate.pass((Op::Bury, 0), &[], effect, |()| 0).await.map_err(|outcome| {
            self.gate.world().inhabitants[self.gate.process()].could_not_bury = true;
            unavailable(outcome)
        })
    }
}

impl Ports {
    /// What Lambda does once a batch is answered: the queue deletes what did not fail.
    pub async fn acknowledge(&self, ids: &[String]) {
        let effect = |world: &mut World| {
            for id in ids {
                if let Some(message) = world.queue.delete(id) {
                    world.ticket_gone(&message);
                }
            }
            self.tell(world, "acknowledges", &ids);
        };
        // An acknowledgement that fails is a ticket that comes back.
        let _ = self.gate.pass((Op::Acknowledge, 0), &[], effect, |()| 0).await;
    }
}
