//! Ways to break the world on purpose, each of which the exploration must notice.

/// One thing that is wrong with the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// Invoices are created without a due time.
    CreationWithoutDue,
    /// Parking an invoice takes its due time away.
    ParkingRemovesDue,
    /// `Sent` leaves the due time where it is.
    SentKeepsDue,
    /// An invoice is created over the one that is there.
    CreationWithoutCondition,
    /// The creation of an invoice says yes and does nothing.
    CreationForgotten,
    /// A claim asks neither for the state nor for another's lease.
    ClaimWithoutCondition,
    /// The question right before the mail is always answered with yes.
    RecheckSkipped,
    /// The record of the PDF does not ask whose the lease is.
    GeneratedWithoutCondition,
    /// The record of a sent mail does not ask whose the lease is, and is not made.
    SentNotRecorded,
    /// The provider's word makes an invoice `Sent` and leaves the lease where it is.
    EventKeepsLease,
    /// An invoice is opened again without asking whether this letter has opened it before.
    ReopeningIgnoresLetters,
    /// An invoice whose mail came back is opened again for the same address.
    ReopeningIgnoresBounces,
    /// The opening of an invoice says yes and does nothing.
    ReopeningForgotten,
    /// Who asks for suppressions hears of none.
    SuppressionsIgnored,
    /// The idempotency key's record is written after the parcel, by a call of its own.
    KeyRecordApart,
}
