//! Settings from the environment, read once at start. A function with a setting missing or wrong does not start.

use std::env;
use std::str::FromStr;

use crate::domain::MailRate;

/// A setting that keeps a function from starting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSetting {
    /// Not in the environment, or empty.
    #[error("the environment variable {0} is missing or empty")]
    Missing(&'static str),
    /// There, but of no use.
    #[error("the environment variable {name} is wrong: {problem}")]
    Wrong {
        /// Which.
        name: &'static str,
        /// What is wrong with it.
        problem: String,
    },
}

/// The text of a setting that may be missing or empty.
#[must_use]
pub fn optional(name: &'static str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// The text of a setting.
pub fn required(name: &'static str) -> Result<String, InvalidSetting> {
    optional(name).ok_or(InvalidSetting::Missing(name))
}

/// A setting of another type than text.
pub fn parsed<T: FromStr>(name: &'static str) -> Result<T, InvalidSetting>
where
    T::Err: ToString,
{
    required(name)?.parse().map_err(|error: T::Err| InvalidSetting::Wrong { name, problem: error.to_string() })
}

/// What the provider allows and how many workers share it, from `MAILS_PER_SECOND` and `WORKER_CONCURRENCY`.
pub fn mail_rate() -> Result<MailRate, InvalidSetting> {
    MailRate::new(parsed("MAILS_PER_SECOND")?, parsed("WORKER_CONCURRENCY")?)
        .map_err(|error| InvalidSetting::Wrong { name: "MAILS_PER_SECOND", problem: error.to_string() })
}
