//! What was seen to happen, apart from what the tables say of it.

use std::collections::BTreeMap;

use parceltrack::domain::{EmailAddress, InvoiceId, LeaseHolder, LetterId, ParcelId, Timestamp};
use parceltrack::ports::NewInvoice;

use crate::invariant::{Invariant, Violation};
use crate::schedule::News;

/// A mail that the provider accepted.
#[derive(Clone, Debug)]
pub struct SentMail {
    /// Whose.
    pub invoice: InvoiceId,
    /// What the provider calls it.
    pub message_id: String,
    /// To whom.
    pub to: EmailAddress,
    /// When.
    pub at: Timestamp,
    /// What the provider has told of it.
    pub told: Vec<News>,
    /// In which way it came back, if it did.
    pub came_back: Option<News>,
    /// Who handed it over.
    pub process: usize,
    /// How often its invoice had been opened again when the mail was begun.
    pub opening: usize,
    /// What the PDF behind its link hashed to.
    pub sha256: String,
    /// Whether `Sent` was written for it.
    pub recorded: bool,
    /// Whether its answer was lost, or its worker died before it could write `Sent`: then one more mail may follow.
    pub in_the_gap: bool,
}

/// Everything seen.
#[derive(Debug, Default)]
pub struct Witness {
    /// All mails, in order.
    pub mails: Vec<SentMail>,
    /// Who asked for which lease.
    pub holders: Vec<(LeaseHolder, usize)>,
    /// Who was granted the lease last.
    last_granted: BTreeMap<String, LeaseHolder>,
    /// The numbers under which invoices of a parcel came into being.
    creations: BTreeMap<String, Vec<String>>,
    /// The parcels that a key made.
    parcels_of_keys: Vec<(String, ParcelId, Timestamp)>,
    /// Invoices that were opened again, with the letter by which.
    pub openings: Vec<(InvoiceId, Option<LetterId>)>,
    /// Invoices of which it was recorded that the mail to this address came back, and how many processes had begun before.
    pub bounces: Vec<(InvoiceId, EmailAddress, usize)>,
    /// How often an invoice had been opened when this process began a mail of it.
    begun: BTreeMap<(usize, String), usize>,
    /// What was broken on the way.
    pub violations: Vec<Violation>,
}

impl Witness {
    /// Notes what must not be.
    pub fn object(&mut self, invariant: Invariant, seen: impl Into<String>) {
        self.violations.push(Violation { invariant, seen: seen.into() });
    }

    /// The process that asked for a lease.
    #[must_use]
    pub fn process_of(&self, holder: LeaseHolder) -> Option<usize> {
        self.holders.iter().find(|(known, _)| *known == holder).map(|(_, process)| *process)
    }

    /// A parcel came into being.
    pub fn parcel_created(&mut self, id: ParcelId, key: Option<(&str, Timestamp)>, now: Timestamp) {
        let Some((key, expires)) = key else { return };
        let others =
            self.parcels_of_keys.iter().filter(|(known, _, until)| known == key && until.seconds() > now.seconds());
        if others.map(|(_, parcel, _)| *parcel).any(|parcel| parcel != id) {
            self.object(Invariant::OneParcelPerKey, "a key made a second parcel");
        }
        self.parcels_of_keys.push((key.to_owned(), id, expires));
    }

    /// An invoice came into being.
    pub fn invoice_created(&mut self, new: &NewInvoice) {
        let numbers = self.creations.entry(new.content.parcel_id.to_string()).or_default();
        numbers.push(new.content.number.to_string());
        if numbers.len() > 1 {
            let seen = format!("a parcel got the invoices {}", numbers.join(" and "));
            self.object(Invariant::OneInvoicePerParcel, seen);
        }
    }

    /// A lease was granted.
    pub fn granted(&mut self, id: InvoiceId, holder: LeaseHolder) {
        self.last_granted.insert(id.to_string(), holder);
    }

    /// A holder wrote.
    pub fn wrote(&mut self, id: InvoiceId, holder: LeaseHolder, what: &str) {
        if self.last_granted.get(&id.to_string()) != Some(&holder) {
            self.object(Invariant::OnlyTheHolderWrites, format!("{what} was written by who had lost the lease"));
        }
    }

    /// An invoice was opened again.
    pub fn opened(&mut self, id: InvoiceId, letter: Option<LetterId>) {
        let opening = (id, letter);
        if opening.1.is_some() && self.openings.contains(&opening) {
            self.object(Invariant::OneTryPerLetter, "a letter opened its invoice a second time");
        }
        self.openings.push(opening);
    }

    /// How often an invoice was opened again.
    #[must_use]
    pub fn openings_of(&self, id: InvoiceId) -> usize {
        self.openings.iter().filter(|(known, _)| *known == id).count()
    }

    /// A process is about to mail an invoice.
    pub fn begins_mail(&mut self, process: usize, id: InvoiceId) {
        self.begun.insert((process, id.to_string()), self.openings_of(id));
    }

    /// How often the invoice had been opened when this process was about to mail it.
    #[must_use]
    pub fn opening_of(&self, process: usize, id: InvoiceId) -> usize {
        self.begun.get(&(process, id.to_string())).copied().unwrap_or_default()
    }

    /// What this process was about to mail, with how often each invoice had been opened then.
    pub fn mails_of(&self, process: usize) -> impl Iterator<Item = usize> {
        self.begun.iter().filter(move |((begun, _), _)| *begun == process).map(|(_, opening)| *opening)
    }

    /// What was known of bounces of this invoice when this process began.
    pub fn bounces_known_to(&self, process: usize) -> impl Iterator<Item = &(InvoiceId, EmailAddress, usize)> {
        self.bounces.iter().filter(move |(_, _, begun)| *begun <= process)
    }

    /// The provider accepted a mail.
    pub fn mailed(&mut self, mail: SentMail) {
        let came_back =
            |(id, to, _): &(InvoiceId, EmailAddress, usize)| *id == mail.invoice && to.is_same_mailbox(&mail.to);
        if self.bounces_known_to(mail.process).any(came_back) {
            self.object(Invariant::BouncedGoesElsewhere, "a mail goes to the address from which one came back");
        }
        let earlier = self.mails.iter().filter(|known| known.invoice == mail.invoice && known.opening == mail.opening);
        if earlier.clone().any(|known| !known.in_the_gap) {
            let count = earlier.count() + 1;
            self.object(Invariant::OneMail, format!("mail number {count}, though no worker died over the one before"));
        }
        self.mails.push(mail);
    }

    /// `Sent` was written by this process.
    pub fn recorded(&mut self, id: InvoiceId, process: usize) {
        let mails = self.mails.iter_mut().filter(|mail| mail.invoice == id && mail.process == process);
        mails.for_each(|mail| mail.recorded = true);
    }

    /// `Sent` was written by the provider's word.
    pub fn recorded_by_word(&mut self, message_id: &str) {
        self.mails.iter_mut().filter(|mail| mail.message_id == message_id).for_each(|mail| mail.recorded = true);
    }

    /// Whatever this process has sent and not recorded, it cannot record any more.
    pub fn lost(&mut self, process: usize) {
        let mails = self.mails.iter_mut().filter(|mail| mail.process == process && !mail.recorded);
        mails.for_each(|mail| mail.in_the_gap = true);
    }
}
