//! What must hold, whatever happens; and the looking whether it does.

use parceltrack::domain::{Delivery, InvoiceId, InvoiceStatus, ParcelId};

use crate::schedule::News;
use crate::world::World;

/// One sentence of the promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Invariant {
    /// A parcel has one invoice with one number, ever.
    OneInvoicePerParcel,
    /// An unfinished invoice has a due time, and a finished one has none.
    UnfinishedIsDue,
    /// Only the lease's holder writes what work changes.
    OnlyTheHolderWrites,
    /// Every invoice ends `Sent`, or `Failed` with a reason.
    EndsSentOrFailed,
    /// One mail per invoice, and one more at most for each death, or lost answer, between accept and record.
    OneMail,
    /// After a mail the PDF of its number stays what it was.
    OnePdf,
    /// An idempotency key makes one parcel.
    OneParcelPerKey,
    /// A ticket is gone only when its invoice is finished or due.
    NoTicketLost,
    /// What the API said yes to is there.
    AcceptedIsKept,
    /// A ticket that comes back never meets the lease of its own dead worker.
    LeaseEndsBeforeReturn,
    /// A worker that lives hands no ticket to the dead letters without a word.
    NothingBuriedSilently,
    /// A dead letter opens its invoice once, however often and by whomever it is retried.
    OneTryPerLetter,
    /// Who began after an address was suppressed sends no mail there.
    SuppressedGetsNoMail,
    /// Who began after it was recorded that a mail came back sends no other there.
    BouncedGoesElsewhere,
    /// A failed invoice, and one whose mail came back for good, is among the dead letters.
    TroubleHasALetter,
}

impl Invariant {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::OneInvoicePerParcel,
        Self::UnfinishedIsDue,
        Self::OnlyTheHolderWrites,
        Self::EndsSentOrFailed,
        Self::OneMail,
        Self::OnePdf,
        Self::OneParcelPerKey,
        Self::NoTicketLost,
        Self::AcceptedIsKept,
        Self::LeaseEndsBeforeReturn,
        Self::NothingBuriedSilently,
        Self::OneTryPerLetter,
        Self::SuppressedGetsNoMail,
        Self::BouncedGoesElsewhere,
        Self::TroubleHasALetter,
    ];
}

/// A sentence that did not hold, and what was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which.
    pub invariant: Invariant,
    /// What was seen.
    pub seen: String,
}

/// What the world's present state breaks.
#[must_use]
pub fn broken_now(world: &World) -> Vec<Violation> {
    let mut broken = Vec::new();
    let mut note = |invariant, seen: String| broken.push(Violation { invariant, seen });
    for (index, row) in world.invoices.rows().iter().enumerate() {
        if row.due.is_some() == row.is_finished() {
            note(
                Invariant::UnfinishedIsDue,
                format!("invoice {index} is {:?}, its due time {:?}", row.status, row.due),
            );
        }
        if row.status == InvoiceStatus::Failed && row.reason.as_deref().unwrap_or_default().is_empty() {
            note(Invariant::EndsSentOrFailed, format!("invoice {index} is Failed for no reason"));
        }
        let mailed = world.witness.mails.iter().find(|mail| mail.invoice == row.content.id);
        if let Some(mail) = mailed {
            let in_row = row.pdf.as_ref();
            let in_bucket = in_row.and_then(|pdf| world.bucket.get(&pdf.key));
            if in_row.map(|pdf| &pdf.sha256) != Some(&mail.sha256) || in_bucket != Some(&mail.sha256) {
                note(Invariant::OnePdf, format!("invoice {index} had another PDF when it was mailed"));
            }
        }
    }
    for (request, answer) in world.promises() {
        let kept = answer.id.is_some_and(|id| match answer.status {
            201 => world.parcels.parcel(ParcelId(id)).is_some(),
            _ => world.invoices.row(InvoiceId(id)).is_some(),
        });
        if !kept {
            note(Invariant::AcceptedIsKept, format!("request{request} was answered {} for nothing", answer.status));
        }
    }
    broken
}

/// What is broken if nothing more happens.
#[must_use]
pub fn broken_at_the_end(world: &World) -> Vec<Violation> {
    let mut broken = Vec::new();
    for (index, row) in world.invoices.rows().iter().enumerate() {
        if !row.is_finished() {
            let seen = format!("invoice {index} is {:?} for ever, its due time {:?}", row.status, row.due);
            broken.push(Violation { invariant: Invariant::EndsSentOrFailed, seen });
        }
        let came_back = row.mailing.report.as_ref().is_some_and(|report| report.delivery == Delivery::Bounced)
            && world.witness.mails.iter().any(|mail| {
                let is_named = row.mailing.message_id.as_ref().is_some_and(|named| named.0 == mail.message_id);
                is_named && mail.came_back == Some(News::Bounced)
            });
        if (row.status == InvoiceStatus::Failed || came_back) && !world.has_letter(row.content.id) {
            let seen = format!("invoice {index} is {:?}, and no person sees it", row.status);
            broken.push(Violation { invariant: Invariant::TroubleHasALetter, seen });
        }
    }
    broken
}
