//! The invoices that are there from the start, as far as the scenario says.

use std::time::Duration;

use parceltrack::domain::{
    Attempt, AttemptOutcome, FIRST_DUE, Lease, LeaseHolder, ProviderMessageId, StoredPdf, Ticket, Timestamp,
};
use parceltrack::ports::{LetGo, NewInvoice};
use uuid::Uuid;

use super::{Role, Run};
use crate::cast;
use crate::scenario::Beginning;
use crate::witness::SentMail;
use crate::world::World;

impl Run {
    pub(super) fn begin_invoices(&mut self) {
        let begins = self.scenario.begins;
        for index in 0..self.scenario.invoices {
            let now = self.world().now;
            let invoice = cast::invoice(&cast::parcel(100 + index, now), now + FIRST_DUE, now);
            {
                let mut world = self.world();
                world.invoices.create(&invoice);
                world.witness.invoice_created(&invoice);
            }
            let body = Ticket { invoice_id: invoice.content.id }.to_body();
            if begins == Beginning::Asked {
                self.world().queue.send(body, now);
                continue;
            }
            // A worker that is no more has brought it so far.
            let process = self.enter(Role::Worker(0), "worker", self.scenario.timing.worker_limit);
            let mut world = self.world();
            if begins == Beginning::Failed {
                let reason = "rejected by the mail provider".to_owned();
                world.bury(process, &body, &reason);
                end(&mut world, &invoice, &LetGo::Failed { reason }, now);
            } else {
                if begins == Beginning::SentAfterAll {
                    world.bury(process, &body, "the worker panicked");
                }
                send(&mut world, &invoice, process, now);
            }
            world.ended(process, false);
        }
    }
}

fn lease(now: Timestamp) -> Lease {
    Lease { holder: LeaseHolder(Uuid::nil()), until: now + Duration::from_secs(1) }
}

fn end(world: &mut World, new: &NewInvoice, how: &LetGo, now: Timestamp) {
    let (id, lease) = (new.content.id, lease(now));
    world.invoices.claim(id, lease, now);
    let invoice = world.invoices.invoice(id).expect("it was just created");
    let attempt = Attempt { at: now, outcome: AttemptOutcome::Failed, reason: None };
    world.invoices.let_go(&invoice, lease.holder, how, &attempt);
}

fn send(world: &mut World, new: &NewInvoice, process: usize, now: Timestamp) {
    let (id, lease) = (new.content.id, lease(now));
    let pdf = StoredPdf { key: format!("invoices/{id}.pdf"), sha256: "0".repeat(64) };
    world.invoices.claim(id, lease, now);
    world.invoices.generated(id, lease.holder, &pdf, now);
    world.bucket.insert(pdf.key, pdf.sha256.clone());
    let message_id = format!("mail {}", world.witness.mails.len());
    world.witness.mailed(SentMail {
        invoice: id,
        message_id: message_id.clone(),
        to: new.content.email.clone(),
        at: now,
        told: vec![],
        came_back: None,
        process,
        opening: 0,
        sha256: pdf.sha256,
        recorded: true,
        in_the_gap: false,
    });
    let invoice = world.invoices.invoice(id).expect("it was just created");
    let attempt = Attempt { at: now, outcome: AttemptOutcome::Sent, reason: None };
    let how = LetGo::Sent { message_id: ProviderMessageId(message_id) };
    world.invoices.let_go(&invoice, lease.holder, &how, &attempt);
}
