//! What was seen to happen, apart from what the tables say of it.

use std::collections::BTreeMap;

use parceltrack::domain::{InvoiceId, LeaseHolder, ParcelId, Timestamp};
use parceltrack::ports::NewInvoice;

use crate::invariant::{Invariant, Violation};

/// A mail that the provider accepted.
#[derive(Clone, Debug)]
pub struct SentMail {
    /// Whose.
    pub invoice: InvoiceId,
    /// What the provider calls it.
    pub message_id: String,
    /// To whom.
    pub to: String,
    /// When.
    pub at: Timestamp,
    /// Whether the provider has told of it.
    pub told: bool,
    /// Who handed it over.
    pub process: usize,
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

    /// The provider accepted a mail.
    pub fn mailed(&mut self, mail: SentMail) {
        let earlier = self.mails.iter().filter(|known| known.invoice == mail.invoice);
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
