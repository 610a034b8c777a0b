//! The right of one worker to work on one invoice, for a while.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Timestamp;

/// Who holds a lease: one value per attempt of one worker, never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LeaseHolder(pub Uuid);

/// A claim on an invoice. It is dead once `until` has passed, whether or not its holder knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Who may write.
    pub holder: LeaseHolder,
    /// Until when.
    pub until: Timestamp,
}

impl Lease {
    /// Whether somebody may still be working under this lease.
    #[must_use]
    pub fn is_alive(&self, now: Timestamp) -> bool {
        now < self.until
    }
}
