//! What an exploration begins with, and how far it goes.

use crate::mutation::Mutation;
use crate::schedule::{News, Wish};
use crate::timing::Timing;

/// What a client asks of the API. It repeats the very same request until the answer is yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// A new parcel.
    CreateParcel {
        /// The idempotency key, if any.
        key: Option<&'static str>,
    },
    /// The invoice of the parcel that was there from the start.
    InvoiceOfFirst,
    /// The invoice of the parcel that the request of this number made.
    InvoiceOf(usize),
}

/// How far the invoices are that are there from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// Asked for, with a ticket on the queue.
    Asked,
    /// Failed, with a dead letter.
    Failed,
    /// Sent, and the provider has not told of the mail yet.
    Sent,
    /// The same, with a dead letter of an attempt before.
    SentAfterAll,
}

/// How much may happen before the world heals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Calls that go wrong, deaths and double deliveries.
    pub faults: u32,
    /// How often each request is made.
    pub tries: u32,
    /// Deliveries to workers.
    pub deliveries: u32,
    /// Runs of the relay.
    pub relays: u32,
    /// Words of the provider about mails that it took.
    pub events: u32,
    /// What people do about dead letters.
    pub wishes: u32,
}

/// A beginning and its bounds.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What it is called in reports.
    pub name: &'static str,
    /// The times to keep.
    pub timing: Timing,
    /// What is wrong with the world, if anything.
    pub mutation: Option<Mutation>,
    /// What clients ask, side by side.
    pub requests: Vec<Request>,
    /// Parcels that are there from the start, without an invoice.
    pub parcels: usize,
    /// Invoices that are there from the start.
    pub invoices: usize,
    /// How far these are.
    pub begins: Beginning,
    /// What the provider tells of mails, in any order.
    pub news: &'static [News],
    /// What people do about dead letters.
    pub wishes: &'static [Wish],
    /// How many workers run side by side.
    pub workers: usize,
    /// How many tickets a worker is given at once, at most.
    pub batch: usize,
    /// Whether a worker that lives is invoked again, with its memory, instead of a new one.
    pub warm: bool,
    /// Whether the workers are of different releases, which make different PDFs.
    pub releases_differ: bool,
    /// Whether time stands still from the question right before a mail to the record of it.
    pub quick_sending: bool,
    /// How much may happen.
    pub budget: Budget,
}

impl Scenario {
    /// One invoice with its ticket, two workers and the relay; any two faults.
    #[must_use]
    pub fn two_workers() -> Self {
        Self {
            name: "two workers and a late relay",
            timing: Timing::receives(2),
            mutation: None,
            requests: vec![],
            parcels: 0,
            invoices: 1,
            begins: Beginning::Asked,
            news: &[News::Sent],
            wishes: &[],
            workers: 2,
            batch: 5,
            warm: false,
            releases_differ: true,
            quick_sending: false,
            budget: Budget { faults: 2, tries: 2, deliveries: 3, relays: 1, events: 0, wishes: 0 },
        }
    }

    /// One invoice, two workers, and a provider that tells of its mails; any two faults.
    #[must_use]
    pub fn provider_tells() -> Self {
        Self {
            name: "two workers and a provider that tells",
            releases_differ: false,
            budget: Budget { faults: 2, tries: 2, deliveries: 3, relays: 0, events: 2, wishes: 0 },
            ..Self::two_workers()
        }
    }

    /// One invoice, two workers, and a relay that runs twice; any fault.
    #[must_use]
    pub fn two_relays() -> Self {
        Self {
            name: "two workers and two runs of the relay",
            timing: Timing::receives(3),
            releases_differ: false,
            budget: Budget { faults: 1, tries: 2, deliveries: 3, relays: 2, events: 0, wishes: 0 },
            ..Self::two_workers()
        }
    }

    /// One invoice and one worker, three calls of which go wrong.
    #[must_use]
    pub fn three_faults() -> Self {
        Self {
            name: "one worker and three faults",
            workers: 1,
            releases_differ: false,
            budget: Budget { faults: 3, tries: 2, deliveries: 2, relays: 0, events: 0, wishes: 0 },
            ..Self::two_workers()
        }
    }

    /// A parcel and two requests for its invoice at once; any two faults.
    #[must_use]
    pub fn two_requests() -> Self {
        Self {
            name: "two requests for one invoice",
            requests: vec![Request::InvoiceOfFirst; 2],
            parcels: 1,
            invoices: 0,
            budget: Budget { faults: 2, tries: 2, deliveries: 0, relays: 0, events: 0, wishes: 0 },
            ..Self::two_workers()
        }
    }

    /// A parcel, a request for its invoice, and at the same time a worker and the relay; any two faults.
    #[must_use]
    pub fn request_and_worker() -> Self {
        Self {
            name: "a request, a worker and the relay",
            requests: vec![Request::InvoiceOfFirst],
            workers: 1,
            releases_differ: false,
            budget: Budget { faults: 2, tries: 2, deliveries: 1, relays: 1, events: 0, wishes: 0 },
            ..Self::two_requests()
        }
    }

    /// Two parcels that draw the same number, one of them asked for twice at once with one key; any two faults.
    #[must_use]
    pub fn one_key() -> Self {
        let keyed = Request::CreateParcel { key: Some("key") };
        Self {
            name: "one key, two requests, one number",
            requests: vec![keyed, keyed, Request::CreateParcel { key: None }],
            invoices: 0,
            budget: Budget { faults: 2, tries: 2, deliveries: 0, relays: 0, events: 0, wishes: 0 },
            ..Self::two_workers()
        }
    }

    /// A failed invoice, whose letter is retried and redriven at once; any fault.
    #[must_use]
    pub fn one_letter_twice() -> Self {
        Self {
            name: "a dead letter, retried and redriven",
            begins: Beginning::Failed,
            wishes: &[Wish::Retry, Wish::Redrive],
            releases_differ: false,
            budget: Budget { faults: 1, tries: 2, deliveries: 2, relays: 0, events: 0, wishes: 2 },
            ..Self::two_workers()
        }
    }

    /// A sent invoice whose mail comes back, for good or for now, or is called spam; any fault.
    #[must_use]
    pub fn mail_comes_back() -> Self {
        Self {
            name: "a mail that comes back, and another address",
            begins: Beginning::Sent,
            news: &[News::Sent, News::Bounced, News::BouncedForNow, News::Complained],
            wishes: &[Wish::Retry, Wish::Readdress, Wish::Redrive],
            releases_differ: false,
            budget: Budget { faults: 1, tries: 2, deliveries: 1, relays: 0, events: 2, wishes: 1 },
            ..Self::two_workers()
        }
    }

    /// A sent invoice that still has a letter, and whose mail comes back for now; any fault.
    #[must_use]
    pub fn sent_after_all() -> Self {
        Self {
            name: "a letter of a sent invoice, and a mail that comes back",
            begins: Beginning::SentAfterAll,
            news: &[News::BouncedForNow],
            budget: Budget { faults: 1, tries: 2, deliveries: 1, relays: 0, events: 1, wishes: 1 },
            ..Self::mail_comes_back()
        }
    }

    /// An invoice whose mail comes back while its worker is dead; any two faults.
    #[must_use]
    pub fn bounce_in_the_gap() -> Self {
        Self {
            name: "a worker, and a mail that comes back",
            news: &[News::Bounced],
            wishes: &[Wish::Redrive],
            workers: 1,
            releases_differ: false,
            budget: Budget { faults: 2, tries: 2, deliveries: 2, relays: 0, events: 1, wishes: 1 },
            ..Self::two_workers()
        }
    }

    /// Everything that people and the provider do about several invoices, at length; for random schedules.
    #[must_use]
    pub fn letters_at_length() -> Self {
        Self {
            name: "letters, bounces and people at length",
            timing: Timing::default(),
            invoices: 2,
            news: &[News::Sent, News::Bounced, News::BouncedForNow, News::Complained],
            wishes: &[Wish::Retry, Wish::Readdress, Wish::Redrive],
            warm: true,
            budget: Budget { faults: 12, tries: 4, deliveries: 40, relays: 20, events: 10, wishes: 12 },
            ..Self::two_workers()
        }
    }

    /// Everything together, at length; for random schedules.
    #[must_use]
    pub fn everything() -> Self {
        let keyed = Request::CreateParcel { key: Some("key") };
        Self {
            name: "everything at once",
            timing: Timing::default(),
            requests: vec![
                keyed,
                Request::InvoiceOf(0),
                keyed,
                Request::InvoiceOf(2),
                Request::CreateParcel { key: None },
                Request::InvoiceOf(4),
                Request::InvoiceOfFirst,
            ],
            parcels: 1,
            invoices: 2,
            workers: 2,
            warm: true,
            budget: Budget { faults: 12, tries: 4, deliveries: 40, relays: 20, events: 10, wishes: 0 },
            ..Self::two_workers()
        }
    }

    /// Everything that is explored exhaustively.
    #[must_use]
    pub fn exhaustive() -> Vec<Self> {
        vec![
            Self::two_workers(),
            Self::request_and_worker(),
            Self::provider_tells(),
            Self::two_relays(),
            Self::three_faults(),
            Self::two_requests(),
            Self::one_key(),
            Self::one_letter_twice(),
            Self::mail_comes_back(),
            Self::sent_after_all(),
            Self::bounce_in_the_gap(),
        ]
    }

    /// The same world, broken in this way.
    #[must_use]
    pub fn broken_by(self, mutation: Mutation) -> Self {
        Self { mutation: Some(mutation), ..self }
    }
}
