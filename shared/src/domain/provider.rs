//! Whether the mail provider takes mail, as the workers last found it.

use serde::{Deserialize, Serialize};

use super::Timestamp;

/// What a worker makes of the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ProviderState {
    /// It answers mails, with yes or no.
    Answers,
    /// It has not answered several times in a row: a worker's breaker is open.
    Away,
}

/// The workers' last word about the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Provider {
    /// What they found.
    pub state: ProviderState,
    /// Since when it is so: when the first of them found it.
    pub since: Timestamp,
}
