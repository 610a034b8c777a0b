//! The machine's clock.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::domain::Timestamp;
use crate::ports::Clock;

/// The time as this machine has it.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }
}
