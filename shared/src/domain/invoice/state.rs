//! How far an invoice has come, and what was tried.

use serde::{Deserialize, Serialize};

use super::super::{LinkSecret, Mailing, Timestamp};
use super::InvoiceContent;

/// How many attempts an invoice remembers; an outage of days must not outgrow the table's row.
const MAX_REMEMBERED_ATTEMPTS: usize = 20;

/// Where a PDF is stored, and what it must hash to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredPdf {
    /// The object's key in the bucket.
    pub key: String,
    /// SHA-256 of its bytes, in lower-case hexadecimal.
    pub sha256: String,
}

/// What the mail provider calls a mail that it accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProviderMessageId(pub String);

/// An invoice's status, as the API names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InvoiceStatus {
    /// Requested; no PDF yet.
    Pending,
    /// The PDF is stored; the mail is not yet accepted.
    Generated,
    /// The provider has accepted the mail. What becomes of that is `delivery`.
    Sent,
    /// It will not succeed by itself; a person looks.
    Failed,
}

/// How far an invoice has come, with what is known at each point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvoiceState {
    /// Requested; no PDF yet.
    Pending,
    /// The PDF is stored.
    Generated {
        /// Where.
        pdf: StoredPdf,
    },
    /// The provider has accepted the mail.
    Sent {
        /// Where the PDF is.
        pdf: StoredPdf,
        /// When it was accepted.
        at: Timestamp,
    },
    /// Given up.
    Failed {
        /// Why, for people.
        reason: String,
        /// Where the PDF is, if it got that far.
        pdf: Option<StoredPdf>,
    },
}

impl InvoiceState {
    /// The state's name.
    #[must_use]
    pub fn status(&self) -> InvoiceStatus {
        match self {
            Self::Pending => InvoiceStatus::Pending,
            Self::Generated { .. } => InvoiceStatus::Generated,
            Self::Sent { .. } => InvoiceStatus::Sent,
            Self::Failed { .. } => InvoiceStatus::Failed,
        }
    }

    /// The state's name once it is opened again: a PDF that is there stays, and is never made anew.
    #[must_use]
    pub fn status_once_open(&self) -> InvoiceStatus {
        if self.pdf().is_some() { InvoiceStatus::Generated } else { InvoiceStatus::Pending }
    }

    /// The stored PDF, if there is one.
    #[must_use]
    pub fn pdf(&self) -> Option<&StoredPdf> {
        match self {
            Self::Pending => None,
            Self::Generated { pdf } | Self::Sent { pdf, .. } => Some(pdf),
            Self::Failed { pdf, .. } => pdf.as_ref(),
        }
    }
}

/// How one attempt to mail an invoice ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AttemptOutcome {
    /// The provider accepted the mail.
    Sent,
    /// It will be tried again soon, by the same ticket.
    Retried,
    /// It will be tried again later, by the relay.
    Parked,
    /// It was given up.
    Failed,
    /// No attempt, but what made the next one possible: a customer, an operator or a redrive opened it again.
    Reopened,
    /// No attempt either: a person decided that there shall be none.
    Dropped,
}

/// One attempt to bring an invoice to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// When it ended.
    pub at: Timestamp,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// Why it did not succeed, or who opened or dropped it and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// An invoice: what it says, and how far it has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invoice {
    /// What it says.
    pub content: InvoiceContent,
    /// How far it has come.
    pub state: InvoiceState,
    /// When somebody must look at it again; `None` exactly if it is `Sent` or `Failed`.
    pub due: Option<Timestamp>,
    /// How often it was parked.
    pub parks: u32,
    /// How many workers in a row died while they held the lease.
    pub abandoned: u32,
    /// The last attempts, oldest first.
    pub attempts: Vec<Attempt>,
    /// How many attempts there were in all.
    pub attempt_count: u32,
    /// The secret of the mailed link.
    pub link_secret: LinkSecret,
    /// Until when the mailed link is good; `None` until the first mail.
    pub link_expires: Option<Timestamp>,
    /// Where its mail goes, and what the provider says of it.
    pub mailing: Mailing,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Invoice {
    /// The attempts with one more, the oldest forgotten where there are too many.
    #[must_use]
    pub fn attempts_with(&self, attempt: Attempt) -> Vec<Attempt> {
        remember(&self.attempts, attempt)
    }
}

fn remember(attempts: &[Attempt], attempt: Attempt) -> Vec<Attempt> {
    let forgotten = (attempts.len() + 1).saturating_sub(MAX_REMEMBERED_ATTEMPTS);
    attempts.iter().skip(forgotten).cloned().chain([attempt]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_attempts_are_remembered() {
        let attempt = |at| Attempt { at: Timestamp::from_millis(at), outcome: AttemptOutcome::Parked, reason: None };
        let attempts = (0..100).fold(vec![], |attempts, at| remember(&attempts, attempt(at)));
        let remembered: Vec<_> = attempts.iter().map(|attempt| attempt.at.millis()).collect();
        assert_eq!(remembered, (80..100).collect::<Vec<_>>());
    }
}
