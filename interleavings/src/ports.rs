//! The ports of the functions, each call of which goes through the gate.

use std::time::Duration;

use async_trait::async_trait;
use invoice_worker::{RenderFailed, RenderPdf, Rendered};
use parceltrack::domain::{
    Attempt, Consequence, EmailAddress, Invoice, InvoiceContent, InvoiceId, Lease, LeaseHolder, MailReport, OwnerId,
    Parcel, ParcelId, ProviderMessageId, StoredPdf, Suppression, Ticket, Timestamp, TrackingNumber,
};
use parceltrack::ports::{
    AddSuppression, Claim, Clock, CreateInvoices, CreateParcels, DeadLetter, DrawTrackingNumber, DueInvoice, DuePage,
    Held, IdempotencyClaim, InvoiceCreation, InvoiceSummary, LetGo, LinkToPdf, Mail, MailError, NewInvoice, PageEnd,
    ParcelCreation, ParcelPage, PortError, PostponeTicket, ReadInvoices, ReadParcels, ReadSuppressions, RecordDelivery,
    RelayInvoices, SendMail, SendTicket, SendTickets, StepTaken, StorePdf, WorkOnInvoices,
};
use sha2::{Digest as _, Sha256};

use crate::gate::{Gate, Op, digest};
use crate::invariant::Invariant;
use crate::invoices::InvoiceRow;
use crate::mutation::Mutation;
use crate::schedule::Outcome;
use crate::witness::SentMail;
use crate::world::World;

/// All ports, as one process has them.
#[derive(Clone)]
pub struct Ports {
    /// The way to the world.
    pub gate: Gate,
    /// Which release of our code runs: another one makes another PDF.
    pub release: u32,
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

impl DrawTrackingNumber for Ports {
    /// The first try always gives the same number, so that all parcels but one must draw again.
    fn draw(&self, attempt: u32) -> TrackingNumber {
        let mut taken = 0;
        let world = self.gate.world();
        loop {
            let number = TrackingNumber::draw(taken, attempt);
            if attempt == 0 || world.parcels.by_number(&number).is_none() {
                return number;
            }
            taken += 1;
        }
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
impl CreateParcels for Ports {
    async fn create(
        &self,
        parcel: &Parcel,
        claim: Option<&IdempotencyClaim>,
        now: Timestamp,
    ) -> Result<ParcelCreation, PortError> {
        let apart = self.gate.world().mutation == Some(Mutation::KeyRecordApart);
        let effect = |world: &mut World| {
            let before = world.parcels.rows().len();
            let answer = if apart {
                // Asked for first, and written later.
                match world.parcels.known(claim, now) {
                    Some((_, known)) => known,
                    None => world.parcels.create(parcel, None, now),
                }
            } else {
                world.parcels.create(parcel, claim, now)
            };
            if world.parcels.rows().len() > before {
                world.witness.parcel_created(parcel.id, claim.map(|claim| (&*claim.key, claim.expires)), now);
            }
            let word = match answer {
                ParcelCreation::Created => "created",
                ParcelCreation::Replayed { .. } => "replayed",
                ParcelCreation::KeyUsedForOtherContent => "other content",
                ParcelCreation::TrackingNumberTaken => "number taken",
            };
            self.tell(world, "creates a parcel", &word);
            answer
        };
        let seen = |answer: &ParcelCreation| digest(std::mem::discriminant(answer));
        let answer = self.gate.pass((Op::CreateParcel, 0), &[], effect, seen).await.map_err(unavailable)?;
        if let (true, Some(claim), ParcelCreation::Created) = (apart, claim, &answer) {
            let effect = |world: &mut World| {
                world.parcels.record_key(parcel.id, claim);
                self.tell(world, "records the key", &());
            };
            self.gate.pass((Op::RecordKey, 0), &[], effect, |()| 0).await.map_err(unavailable)?;
        }
        Ok(answer)
    }
}

#[async_trait]
impl ReadParcels for Ports {
    async fn parcel(&self, id: ParcelId) -> Result<Option<Parcel>, PortError> {
        let read = |world: &mut World| world.parcels.parcel(id).cloned();
        self.gate.pass((Op::ReadParcel, 0), &[], read, |parcel| u64::from(parcel.is_some())).await.map_err(unavailable)
    }

    async fn parcels_of(&self, _: &OwnerId, _: u16, _: Option<&PageEnd>) -> Result<ParcelPage, PortError> {
        Ok(ParcelPage { parcels: self.gate.world().parcels.rows().to_vec(), end: None })
    }
}

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
        let seen = |invoice: &Option<Invoice>| u64::from(invoice.is_some());
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
impl LinkToPdf for Ports {
    async fn link(&self, pdf: &StoredPdf, _: &str) -> Result<String, PortError> {
        Ok(format!("https://bucket.example/{}", pdf.key))
    }
}

#[async_trait]
impl SendTicket for Ports {
    async fn send(&self, ticket: Ticket) -> Result<(), PortError> {
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
    async fn send_batch(&self, tickets: &[Ticket]) -> Result<Vec<Ticket>, PortError> {
        let effect = |world: &mut World| {
            let now = world.now;
            for ticket in tickets {
                world.queue.send(ticket.to_body(), now);
            }
            self.tell(world, "sends tickets", &tickets.len());
            vec![]
        };
        let about = tickets.first().map_or(0, |ticket| self.about(ticket.invoice_id));
        self.gate.pass((Op::SendBatch, about), &[], effect, |_| 0).await.map_err(unavailable)
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
                digest((invoice.parks, InvoiceRow::deaths(invoice.abandoned), invoice.state.pdf().is_some()))
            }
            Claim::Finished(_) => 1,
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
            .any(|message| message.came_back_from == Some(holder) && crate::world::invoice_id(message) == Some(id));
        if came_back && world.inhabitants[holder].killed {
            world
                .witness
                .object(Invariant::LeaseEndsBeforeReturn, "a ticket came back before its dead worker's lease was over");
        }
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

#[async_trait]
impl SendMail for Ports {
    async fn send(&self, mail: &Mail) -> Result<ProviderMessageId, MailError> {
        let effect = |world: &mut World| {
            let row = world.invoices.row(mail.invoice);
            let pdf = row.and_then(|row| row.pdf.as_ref()).and_then(|pdf| world.bucket.get(&pdf.key));
            let sha256 = pdf.cloned().unwrap_or_default();
            let message_id = format!("mail {}", world.witness.mails.len());
            let at = world.now;
            world.witness.mailed(SentMail {
                invoice: mail.invoice,
                message_id: message_id.clone(),
                to: mail.to.as_str().to_owned(),
                at,
                told: false,
                process: self.gate.process(),
                sha256,
                recorded: false,
                in_the_gap: false,
            });
            self.tell(world, "sends the mail", &message_id);
            ProviderMessageId(message_id)
        };
        let answer = self.gate.pass((Op::SendMail, self.about(mail.invoice)), &[], effect, |_| 0).await;
        answer.map_err(|outcome| {
            let words = format!("{outcome:?} <{}>", mail.to.as_str());
            match outcome {
                Outcome::PutOff => MailError::PutOff(words),
                Outcome::Rejected => MailError::Rejected(words),
                Outcome::AnswerLost => {
                    self.gate.world().witness.lost(self.gate.process());
                    MailError::AnswerLost(words)
                }
                _ => MailError::Unavailable(words),
            }
        })
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
            world.dead_letters.push((body.to_owned(), reason.to_owned()));
            self.tell(world, "buries", &reason);
        };
        self.gate.pass((Op::Bury, 0), &[], effect, |()| 0).await.map_err(|outcome| {
            self.gate.world().inhabitants[self.gate.process()].could_not_bury = true;
            unavailable(outcome)
        })
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

    async fn move_due(&self, invoice: DueInvoice, to: Timestamp) -> Result<StepTaken, PortError> {
        let effect = |world: &mut World| {
            let answer = world.invoices.move_due(invoice, to);
            self.tell(world, "moves the due time on", &answer);
            answer
        };
        let seen = |answer: &StepTaken| u64::from(*answer == StepTaken::Moved);
        let about = digest((self.about(invoice.id), invoice.moves));
        self.gate.pass((Op::MoveDue, about), &[invoice.due, to], effect, seen).await.map_err(unavailable)
    }
}

#[async_trait]
impl ReadSuppressions for Ports {
    async fn suppression(&self, _: &EmailAddress) -> Result<Option<Suppression>, PortError> {
        self.gate.pass((Op::ReadSuppression, 0), &[], |_| None, |_| 0).await.map_err(unavailable)
    }
}

#[async_trait]
impl AddSuppression for Ports {
    async fn add(&self, _: &Suppression) -> Result<(), PortError> {
        Err(PortError::Broken("no mail bounces in this world".to_owned()))
    }
}

#[async_trait]
impl RecordDelivery for Ports {
    /// In DynamoDB a read and a write on the condition that nothing has changed: together as good as one step.
    async fn record(&self, report: &MailReport) -> Result<Option<Consequence>, PortError> {
        let effect = |world: &mut World| {
            let answer = world.invoices.record(report);
            if answer == Some(Consequence::Sends) {
                world.witness.recorded_by_word(&report.message_id.0);
            }
            self.tell(world, "records the provider's word", &answer);
            answer
        };
        let about = (Op::RecordDelivery, self.about(report.invoice));
        self.gate.pass(about, &[], effect, |_| 0).await.map_err(unavailable)
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
