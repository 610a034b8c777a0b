//! The function's time limit, so that work is not begun that could not be ended.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

/// When Lambda will kill the process.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(Instant);

impl Deadline {
    /// The deadline of one invocation, which Lambda gives as a time of day.
    #[must_use]
    pub fn at(time: SystemTime) -> Self {
        Self::after(time.duration_since(SystemTime::now()).unwrap_or_default())
    }

    /// So long from now.
    #[must_use]
    pub fn after(duration: Duration) -> Self {
        Self(Instant::now() + duration)
    }

    /// So long before the end.
    pub(crate) fn before(self, duration: Duration) -> Instant {
        self.0.checked_sub(duration).unwrap_or(self.0)
    }

    /// Whether something that begins at `start` and takes `duration` ends in time.
    #[must_use]
    pub fn leaves(self, start: Instant, duration: Duration) -> bool {
        start + duration <= self.0
    }
}
