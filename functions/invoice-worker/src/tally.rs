//! How many mails this worker has sent. Only for people to look at: whatever goes wrong with it harms no invoice.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use parceltrack::domain::Timestamp;
use parceltrack::ports::CountSends;
use tokio::time::{Instant, timeout};

use crate::deadline::Deadline;

/// The batch waits so long for its count to be written, and only if it has that time.
const PATIENCE: Duration = Duration::from_secs(1);

/// The mails that the provider accepted and that are not yet in the count of all workers.
#[derive(Default)]
pub(crate) struct Tally {
    sends: Option<Arc<dyn CountSends>>,
    accepted: AtomicU32,
}

impl Tally {
    pub(crate) fn kept_in(sends: Arc<dyn CountSends>) -> Self {
        Self { sends: Some(sends), accepted: AtomicU32::new(0) }
    }

    pub(crate) fn accepted(&self) {
        self.accepted.fetch_add(1, Ordering::Relaxed);
    }

    /// Writes the count, once. What cannot be written is forgotten: later it would be told of the wrong moment.
    pub(crate) async fn report(&self, now: Timestamp, deadline: Deadline) {
        let accepted = self.accepted.swap(0, Ordering::Relaxed);
        let Some(sends) = &self.sends else { return };
        if accepted == 0 || !deadline.leaves(Instant::now(), PATIENCE) {
            return;
        }
        match timeout(PATIENCE, sends.add(accepted, now)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(event = "sends_not_counted", accepted, %error),
            Err(_) => tracing::warn!(event = "sends_not_counted", accepted, "no answer"),
        }
    }
}
