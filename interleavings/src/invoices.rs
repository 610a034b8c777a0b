//! The table of invoices: the conditions and effects of `parceltrack::aws::InvoiceTable`, write by write. That both do the
//! same is checked by `stack-tests`, in `contract.rs`.

mod mailing;

use parceltrack::domain::{
    AddressCorrection, Attempt, Invoice, InvoiceContent, InvoiceId, InvoiceState, InvoiceStatus, LastTicket, Lease,
    LeaseHolder, LinkSecret, Mailing, NewAddress, StoredPdf, Timestamp,
};
use parceltrack::ports::{Claim, DUE_SHARDS, DueInvoice, DueMove, Held, InvoiceCreation, LetGo, NewInvoice};

use crate::mutation::Mutation;

/// An invoice's row.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "named after the attributes of the table")]
pub struct InvoiceRow {
    pub content: InvoiceContent,
    pub status: InvoiceStatus,
    pub due: Option<Timestamp>,
    pub due_moves: u32,
    pub lease: Option<Lease>,
    pub parks: u32,
    pub abandoned: u32,
    pub attempts: Vec<Attempt>,
    pub attempt_count: u32,
    pub pdf: Option<StoredPdf>,
    pub reason: Option<String>,
    pub sent_at: Option<Timestamp>,
    pub mailing: Mailing,
    pub link_secret: LinkSecret,
    pub link_expires: Option<Timestamp>,
    pub updated_at: Timestamp,
}

impl InvoiceRow {
    /// Whether it is `Sent` or `Failed`.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        matches!(self.status, InvoiceStatus::Sent | InvoiceStatus::Failed)
    }

    /// Dead workers as far as they matter: the worker begins to ask at ten.
    #[must_use]
    pub fn deaths(abandoned: u32) -> u32 {
        if abandoned < 5 { 0 } else { abandoned }
    }

    fn write_address(&mut self, address: &NewAddress, at: Timestamp) {
        let (email, by) = (address.email.clone(), Some(address.by.clone()));
        self.mailing.corrections.push(AddressCorrection { at, email, by });
        self.link_secret = address.link_secret;
        self.updated_at = at;
    }

    fn is_held_by(&self, holder: LeaseHolder) -> bool {
        self.lease.is_some_and(|lease| lease.holder == holder)
    }

    /// The invoice that the row holds.
    #[must_use]
    pub fn invoice(&self) -> Invoice {
        let pdf = || self.pdf.clone().expect("the row has a PDF");
        Invoice {
            content: self.content.clone(),
            state: match self.status {
                InvoiceStatus::Pending => InvoiceState::Pending,
                InvoiceStatus::Generated => InvoiceState::Generated { pdf: pdf() },
                InvoiceStatus::Sent => InvoiceState::Sent { pdf: pdf(), at: self.sent_at.expect("a time of sending") },
                InvoiceStatus::Failed => {
                    InvoiceState::Failed { reason: self.reason.clone().unwrap_or_default(), pdf: self.pdf.clone() }
                }
            },
            due: self.due,
            parks: self.parks,
            abandoned: self.abandoned,
            attempts: self.attempts.clone(),
            attempt_count: self.attempt_count,
            link_secret: self.link_secret,
            link_expires: self.link_expires,
            mailing: self.mailing.clone(),
            updated_at: self.updated_at,
        }
    }
}

/// The table, in the order of creation.
#[derive(Debug, Default)]
pub struct Invoices {
    rows: Vec<InvoiceRow>,
    mutation: Option<Mutation>,
}

impl Invoices {
    /// An empty table, which may be broken.
    #[must_use]
    pub fn new(mutation: Option<Mutation>) -> Self {
        Self { rows: vec![], mutation }
    }

    /// All rows.
    #[must_use]
    pub fn rows(&self) -> &[InvoiceRow] {
        &self.rows
    }

    /// One row.
    #[must_use]
    pub fn row(&self, id: InvoiceId) -> Option<&InvoiceRow> {
        self.rows.iter().find(|row| row.content.id == id)
    }

    /// The how-manieth row it is; ids themselves differ from run to run.
    #[must_use]
    pub fn index(&self, id: InvoiceId) -> Option<usize> {
        self.rows.iter().position(|row| row.content.id == id)
    }

    /// The invoice, if there is one.
    #[must_use]
    pub fn invoice(&self, id: InvoiceId) -> Option<Invoice> {
        self.row(id).map(InvoiceRow::invoice)
    }

    fn row_mut(&mut self, id: InvoiceId) -> Option<&mut InvoiceRow> {
        self.rows.iter_mut().find(|row| row.content.id == id)
    }

    fn is_broken(&self, mutation: Mutation) -> bool {
        self.mutation == Some(mutation)
    }

    /// Puts the invoice if there is none.
    pub fn create(&mut self, new: &NewInvoice) -> InvoiceCreation {
        if let Some(existing) = self.row(new.content.id) {
            if existing.link_secret == new.link_secret {
                return InvoiceCreation::Created;
            }
            if !self.is_broken(Mutation::CreationWithoutCondition) {
                return InvoiceCreation::Exists(Box::new(existing.invoice()));
            }
            self.rows.retain(|row| row.content.id != new.content.id);
        }
        if self.is_broken(Mutation::CreationForgotten) {
            return InvoiceCreation::Created;
        }
        let due = (!self.is_broken(Mutation::CreationWithoutDue)).then_some(new.due);
        self.rows.push(InvoiceRow {
            content: new.content.clone(),
            status: InvoiceStatus::Pending,
            due,
            due_moves: 0,
            lease: None,
            parks: 0,
            abandoned: 0,
            attempts: vec![],
            attempt_count: 0,
            pdf: None,
            reason: None,
            sent_at: None,
            mailing: Mailing::default(),
            link_secret: new.link_secret,
            link_expires: None,
            updated_at: new.content.created_at,
        });
        InvoiceCreation::Created
    }

    /// Gives the lease if the invoice is unfinished and no lease is alive.
    pub fn claim(&mut self, id: InvoiceId, lease: Lease, now: Timestamp) -> Claim {
        let unconditional = self.is_broken(Mutation::ClaimWithoutCondition);
        let Some(row) = self.row_mut(id) else { return Claim::Unknown };
        let free = row.lease.is_none_or(|theirs| theirs.until <= now);
        if unconditional || (!row.is_finished() && free) {
            let before = row.invoice();
            row.lease = Some(lease);
            row.updated_at = now;
            row.due_moves = 0;
            row.abandoned += 1;
            return Claim::Granted(Box::new(before));
        }
        match row.lease {
            _ if row.is_finished() => Claim::Finished(row.status),
            Some(theirs) if theirs.holder == lease.holder => {
                let mut invoice = row.invoice();
                invoice.abandoned = invoice.abandoned.saturating_sub(1);
                Claim::Granted(Box::new(invoice))
            }
            _ => Claim::HeldByAnother,
        }
    }

    /// Records the PDF if the lease is the holder's.
    pub fn generated(&mut self, id: InvoiceId, holder: LeaseHolder, pdf: &StoredPdf, now: Timestamp) -> Held {
        let unconditional = self.is_broken(Mutation::GeneratedWithoutCondition);
        match self.row_mut(id).filter(|row| unconditional || row.is_held_by(holder)) {
            None => Held::Lost,
            Some(row) => {
                row.status = InvoiceStatus::Generated;
                row.pdf = Some(pdf.clone());
                row.updated_at = now;
                Held::Yes
            }
        }
    }

    /// Whether the lease is the holder's until then.
    pub fn about_to_send(&mut self, id: InvoiceId, holder: LeaseHolder, until: Timestamp, link: Timestamp) -> Held {
        let unconditional = self.is_broken(Mutation::RecheckSkipped);
        let held = |row: &InvoiceRow| row.lease.is_some_and(|lease| lease.holder == holder && lease.until > until);
        match self.row_mut(id).filter(|row| unconditional || held(row)) {
            None => Held::Lost,
            Some(row) => {
                row.link_expires = Some(link);
                Held::Yes
            }
        }
    }

    /// Lets go if the lease is the holder's. A repeat of what this very call did is a success.
    pub fn let_go(&mut self, invoice: &Invoice, holder: LeaseHolder, how: &LetGo, attempt: &Attempt) -> Held {
        let mutation = self.mutation;
        if mutation == Some(Mutation::SentNotRecorded) && matches!(how, LetGo::Sent { .. }) {
            return Held::Lost;
        }
        let Some(row) = self.row_mut(invoice.content.id) else { return Held::Lost };
        if !row.is_held_by(holder) {
            let already = row.lease.is_none()
                && match how {
                    LetGo::Sent { message_id } => row.mailing.message_id.as_ref() == Some(message_id),
                    LetGo::Retried => true,
                    LetGo::Parked { due } => row.due == Some(*due),
                    LetGo::Failed { .. } => row.status == InvoiceStatus::Failed,
                };
            return if already { Held::Yes } else { Held::Lost };
        }
        row.updated_at = attempt.at;
        row.attempts = invoice.attempts_with(attempt.clone());
        row.attempt_count = invoice.attempt_count + 1;
        row.abandoned = 0;
        row.lease = None;
        match how {
            LetGo::Sent { message_id } => {
                row.status = InvoiceStatus::Sent;
                row.sent_at = Some(attempt.at);
                row.mailing.message_id = Some(message_id.clone());
                if mutation != Some(Mutation::SentKeepsDue) {
                    row.due = None;
                }
            }
            LetGo::Retried => {}
            LetGo::Parked { due } => {
                row.due = (mutation != Some(Mutation::ParkingRemovesDue)).then_some(*due);
                row.parks = invoice.parks + 1;
            }
            LetGo::Failed { reason } => {
                row.status = InvoiceStatus::Failed;
                row.reason = Some(reason.clone());
                row.due = None;
            }
        }
        Held::Yes
    }

    /// The shard that an invoice's due time stands in. By its index, since ids differ from run to run.
    #[must_use]
    pub fn shard(&self, id: InvoiceId) -> Option<u8> {
        Some(u8::try_from(self.index(id)?).unwrap_or(0) % DUE_SHARDS)
    }

    /// What is due in this shard.
    #[must_use]
    pub fn due(&self, shard: u8, now: Timestamp) -> Vec<DueInvoice> {
        let due = self.rows.iter().filter(|row| self.shard(row.content.id) == Some(shard)).filter_map(|row| {
            let due = row.due.filter(|due| *due <= now)?;
            Some(DueInvoice { id: row.content.id, due, moves: row.due_moves })
        });
        let mut due: Vec<_> = due.collect();
        due.sort_by_key(|invoice| invoice.due);
        due
    }

    /// Moves a due time on if it is what the caller saw.
    pub fn move_due(&mut self, invoice: DueInvoice, to: Timestamp, moves: u32) -> DueMove {
        let row = match self.row_mut(invoice.id) {
            Some(row) if row.due == Some(invoice.due) => {
                row.due = Some(to);
                row.due_moves = moves;
                row
            }
            Some(row) if row.due == Some(to) => row,
            _ => return DueMove::OvertakenByAnother,
        };
        let last = if invoice.moves == 0 && row.parks > 0 { LastTicket::UsedUp } else { LastTicket::Sent };
        DueMove::Moved { owner: row.content.owner.clone(), last }
    }
}
