//! Invoices, as the API creates, the worker works on and the relay moves them.

use async_trait::async_trait;
use parceltrack::domain::{
    Attempt, Invoice, InvoiceId, InvoiceStatus, LastTicket, Lease, LeaseHolder, Mailing, StoredPdf, Timestamp,
};
use parceltrack::ports::{
    Claim, CreateInvoices, DueInvoice, DueMove, DuePage, FailedInvoice, FailedPage, FailedPageEnd, Held,
    InvoiceCreation, InvoiceSummary, LetGo, ListFailedInvoices, NewInvoice, PortError, ReadInvoices, RelayInvoices,
    WorkOnInvoices,
};

use super::{Ports, unavailable};
use crate::gate::{Op, digest};
use crate::invariant::Invariant;
use crate::invoices::InvoiceRow;
use crate::world::{World, invoice_id};

#[async_trait]
impl CreateInvoices for Ports {
    async fn create(&self, new: &NewInvoice) -> Result<InvoiceCreation, PortError> {
        let effect = |world: &mut World| {
            let before = world.invoices.row(new.content.id).map(|row| row.link_secret);
            let answer = world.invoices.create(new);
            if world.invoices.row(new.content.id).map(|row| row.link_secret) != before {
                world.witness.invoice_created(new);
            }
            let word = if matches!(answer, InvoiceCreation::Created) { "created" } else { "exists" };
            self.tell(world, "creates an invoice", &word);
            answer
        };
        let seen = |answer: &InvoiceCreation| digest(std::mem::discriminant(answer));
        self.gate.pass((Op::CreateInvoice, 0), &[new.due], effect, seen).await.map_err(unavailable)
    }
}

#[async_trait]
impl ReadInvoices for Ports {
    async fn invoice(&self, id: InvoiceId) -> Result<Option<Invoice>, PortError> {
        let read = |world: &mut World| world.invoices.invoice(id);
        let seen = |invoice: &Option<Invoice>| digest(invoice.as_ref().map(what_counts));
        self.gate.pass((Op::ReadInvoice, self.about(id)), &[], read, seen).await.map_err(unavailable)
    }

    async fn summaries(&self, ids: &[InvoiceId]) -> Result<Vec<InvoiceSummary>, PortError> {
        let world = self.gate.world();
        let rows = ids.iter().filter_map(|id| world.invoices.row(*id));
        let summary = |row: &crate::invoices::InvoiceRow| InvoiceSummary {
            id: row.content.id,
            status: row.status,
            reason: row.reason.clone(),
        };
        Ok(rows.map(summary).collect())
    }
}

#[async_trait]
impl ListFailedInvoices for Ports {
    async fn failed(&self, limit: u16, _: Option<FailedPageEnd>) -> Result<FailedPage, PortError> {
        let world = self.gate.world();
        let failed = world.invoices.rows().iter().filter(|row| row.status == InvoiceStatus::Failed);
        let invoices = failed
            .filter_map(|row| {
                let invoice = world.invoices.invoice(row.content.id)?;
                Some(FailedInvoice { failed_at: invoice.updated_at, invoice })
            })
            .take(limit.into());
        Ok(FailedPage { invoices: invoices.collect(), end: None })
    }
}

#[async_trait]
impl WorkOnInvoices for Ports {
    async fn claim(&self, id: InvoiceId, lease: Lease, now: Timestamp) -> Result<Claim, PortError> {
        self.gate.world().witness.holders.push((lease.holder, self.gate.process()));
        let effect = |world: &mut World| {
            let held = world.invoices.row(id).and_then(|row| row.lease);
            let answer = world.invoices.claim(id, lease, now);
            let word = match &answer {
                Claim::Granted(_) => "granted",
                Claim::Finished(_) => "finished",
                Claim::HeldByAnother => "held by another",
                Claim::Unknown => "unknown",
            };
            self.tell(world, "claims", &word);
            match (&answer, held) {
                (Claim::Granted(_), _) => world.witness.granted(id, lease.holder),
                (Claim::HeldByAnother, Some(held)) => self.look_for_the_dead(world, id, held),
                _ => {}
            }
            answer
        };
        let seen = |answer: &Claim| match answer {
            Claim::Granted(invoice) => {
                digest((invoice.parks, InvoiceRow::deaths(invoice.abandoned), what_counts(invoice)))
            }
            Claim::Finished(status) => digest(*status as u8),
            Claim::HeldByAnother => 2,
            Claim::Unknown => 3,
        };
        self.gate.pass((Op::Claim, self.about(id)), &[lease.until, now], effect, seen).await.map_err(unavailable)
    }

    async fn generated(
        &self,
        id: InvoiceId,
        holder: LeaseHolder,
        pdf: &StoredPdf,
        now: Timestamp,
    ) -> Result<Held, PortError> {
        let effect = |world: &mut World| {
            let answer = world.invoices.generated(id, holder, pdf, now);
            self.tell(world, "records the PDF", &answer);
            if answer == Held::Yes {
                world.witness.wrote(id, holder, "the PDF");
            }
            answer
        };
        self.gate.pass((Op::Generated, self.about(id)), &[], effect, held).await.map_err(unavailable)
    }

    async fn about_to_send(
        &self,
        id: InvoiceId,
        holder: LeaseHolder,
        until: Timestamp,
        link_expires: Timestamp,
    ) -> Result<Held, PortError> {
        let effect = |world: &mut World| {
            let answer = world.invoices.about_to_send(id, holder, until, link_expires);
            self.tell(world, "asks for its lease", &answer);
            if answer == Held::Yes {
                world.witness.wrote(id, holder, "the link's lifetime");
                world.witness.begins_mail(self.gate.process(), id);
                if world.invoices.row(id).is_some_and(InvoiceRow::is_finished) {
                    world.witness.object(Invariant::OneMail, "a mail is begun for an invoice that is finished");
                }
            }
            answer
        };
        self.gate.pass((Op::AboutToSend, self.about(id)), &[until], effect, held).await.map_err(unavailable)
    }

    async fn let_go(
        &self,
        invoice: &Invoice,
        holder: LeaseHolder,
        how: &LetGo,
        attempt: Attempt,
    ) -> Result<Held, PortError> {
        let id = invoice.content.id;
        let effect = |world: &mut World| {
            let before = world.invoices.row(id).and_then(|row| row.lease);
            let answer = world.invoices.let_go(invoice, holder, how, &attempt);
            self.tell(world, &format!("lets go, {how:?}"), &answer);
            if world.invoices.row(id).and_then(|row| row.lease) != before {
                world.witness.wrote(id, holder, "the end of an attempt");
            }
            if let (Held::Yes, LetGo::Sent { .. }) = (answer, how) {
                world.witness.recorded(id, self.gate.process());
            }
            answer
        };
        let kind = match how {
            LetGo::Sent { .. } => 0,
            LetGo::Retried => 1,
            LetGo::Parked { .. } => 2,
            LetGo::Failed { .. } => 3,
        };
        let due: &[Timestamp] = if let LetGo::Parked { due } = how { &[*due] } else { &[] };
        self.gate.pass((Op::LetGo, digest((self.about(id), kind))), due, effect, held).await.map_err(unavailable)
    }
}

/// What a process that has read an invoice goes by.
fn what_counts(invoice: &Invoice) -> u64 {
    let Mailing { message_id, report, retired, handled_letters, .. } = &invoice.mailing;
    let mails: Vec<_> = message_id.iter().chain(retired).map(|message| &message.0).collect();
    let delivery = report.as_ref().map(|report| report.delivery as u8);
    let to = invoice.email().as_str();
    digest((invoice.state.status() as u8, invoice.state.pdf().is_some(), mails, delivery, handled_letters, to))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the gate wants it so")]
fn held(answer: &Held) -> u64 {
    u64::from(*answer == Held::Yes)
}

impl Ports {
    /// A ticket came back from a dead worker, whose lease must be over by then.
    fn look_for_the_dead(&self, world: &mut World, id: InvoiceId, lease: Lease) {
        let Some(holder) = world.witness.process_of(lease.holder) else { return };
        let came_back = world.inhabitants[self.gate.process()]
            .messages
            .iter()
            .any(|message| message.came_back_from == Some(holder) && invoice_id(message) == Some(id));
        if came_back && world.inhabitants[holder].killed {
            world
                .witness
                .object(Invariant::LeaseEndsBeforeReturn, "a ticket came back before its dead worker's lease was over");
        }
    }
}

#[async_trait]
impl RelayInvoices for Ports {
    async fn due_page(&self, shard: u8, now: Timestamp, _: Option<DueInvoice>) -> Result<DuePage, PortError> {
        // Most shards are always empty here, and to look into them is not worth a choice.
        let inhabited = usize::from(shard) < self.gate.world().invoices.rows().len();
        if !inhabited {
            return Ok(DuePage { invoices: vec![], more: false });
        }
        let effect = |world: &mut World| {
            let invoices = world.invoices.due(shard, now);
            self.tell(world, "looks for what is due", &invoices.len());
            DuePage { invoices, more: false }
        };
        let seen = |page: &DuePage| digest(page.invoices.iter().map(|invoice| invoice.moves).collect::<Vec<_>>());
        self.gate.pass((Op::DuePage, 0), &[now], effect, seen).await.map_err(unavailable)
    }

    async fn move_due(&self, invoice: DueInvoice, to: Timestamp, moves: u32) -> Result<DueMove, PortError> {
        let effect = |world: &mut World| {
            let answer = world.invoices.move_due(invoice, to, moves);
            self.tell(world, "moves the due time on", &answer);
            answer
        };
        let seen = |answer: &DueMove| match answer {
            DueMove::OvertakenByAnother => 0,
            DueMove::Moved { last: LastTicket::Sent, .. } => 1,
            DueMove::Moved { last: LastTicket::UsedUp, .. } => 2,
        };
        let about = digest((self.about(invoice.id), invoice.moves));
        self.gate.pass((Op::MoveDue, about), &[invoice.due, to], effect, seen).await.map_err(unavailable)
    }
}
