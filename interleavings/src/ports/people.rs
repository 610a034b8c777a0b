//! What an operator has at hand, and what the worker does for one who redrives a letter.

use std::time::Duration;

use async_trait::async_trait;
use parceltrack::domain::{EmailAddress, InvoiceId, NewAddress, Readdressed, Reopened, Reopening, Timestamp};
use parceltrack::ports::{
    BuriedTicket, NoteDrops, PortError, ReaddressInvoices, RemoveSuppression, ReopenInvoices, TakeDeadLetters,
};

use super::{Ports, unavailable};
use crate::gate::{Op, digest};
use crate::world::World;

#[async_trait]
impl ReopenInvoices for Ports {
    /// In DynamoDB a read and a write on the condition that nothing has changed: together as good as one step.
    async fn reopen(&self, id: InvoiceId, wish: &Reopening) -> Result<Reopened, PortError> {
        let effect = |world: &mut World| {
            let answer = world.invoices.reopen(id, wish);
            if answer == Reopened::Opened {
                world.witness.opened(id, wish.letter.clone());
            }
            self.tell(world, "opens the invoice again", &answer);
            answer
        };
        let email = wish.address.as_ref().map(|address| address.email.as_str());
        let about = digest((self.about(id), &wish.letter, email));
        let seen = |answer: &Reopened| digest(std::mem::discriminant(answer));
        self.gate.pass((Op::Reopen, about), &[wish.due, wish.now], effect, seen).await.map_err(unavailable)
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

#[async_trait]
impl TakeDeadLetters for Ports {
    async fn take(&self, _: Duration) -> Result<Vec<BuriedTicket>, PortError> {
        Err(PortError::Broken("in this world the operator has the letter in hand already".to_owned()))
    }

    async fn put_back(&self, _: &BuriedTicket) -> Result<(), PortError> {
        Err(PortError::Broken("in this world a letter is never out of sight".to_owned()))
    }

    async fn remove(&self, ticket: &BuriedTicket) -> Result<(), PortError> {
        let effect = |world: &mut World| {
            world.move_letter(&ticket.letter, false);
            self.tell(world, "removes the letter", &ticket.letter.0);
        };
        let about = (Op::RemoveLetter, digest(&ticket.letter));
        self.gate.pass(about, &[], effect, |()| 0).await.map_err(unavailable)
    }
}

#[async_trait]
impl NoteDrops for Ports {
    async fn note_drop(&self, _: InvoiceId, _: &str, _: Timestamp) -> Result<bool, PortError> {
        Err(PortError::Broken("nobody gives up in this world".to_owned()))
    }
}

#[async_trait]
impl RemoveSuppression for Ports {
    async fn remove(&self, _: &EmailAddress) -> Result<bool, PortError> {
        Err(PortError::Broken("nobody is forgiven in this world".to_owned()))
    }
}
