//! What this worker tells people of its mails: how many went out, and whether the provider takes them. Whatever goes wrong
//! with it harms no invoice.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use parceltrack::domain::{ProviderState, Timestamp};
use parceltrack::ports::{CountSends, NoteProvider, PortError};
use tokio::time::{Instant, timeout};

use crate::deadline::Deadline;

/// The batch waits so long for what it tells to be written, and only if it has that time.
const PATIENCE: Duration = Duration::from_secs(1);

/// The mails that the provider accepted and that are not yet in the count of all workers.
#[derive(Default)]
pub(crate) struct Tally {
    kept_in: Option<(Arc<dyn CountSends>, Arc<dyn NoteProvider>)>,
    accepted: AtomicU32,
    /// What was noted of the provider last. A new process knows nothing of what others have noted.
    noted: Mutex<Option<ProviderState>>,
}

impl Tally {
    pub(crate) fn kept_in(sends: Arc<dyn CountSends>, provider: Arc<dyn NoteProvider>) -> Self {
        Self { kept_in: Some((sends, provider)), ..Self::default() }
    }

    pub(crate) fn accepted(&self) {
        self.accepted.fetch_add(1, Ordering::Relaxed);
    }

    /// Writes the count, once, and what was found of the provider if that is news. A count that cannot be written is
    /// forgotten: later it would be told of the wrong moment.
    pub(crate) async fn report(&self, found: Option<ProviderState>, now: Timestamp, deadline: Deadline) {
        let accepted = self.accepted.swap(0, Ordering::Relaxed);
        let Some((sends, provider)) = &self.kept_in else { return };
        if !deadline.leaves(Instant::now(), PATIENCE) {
            return;
        }
        let count = async {
            if accepted > 0 && !written(sends.add(accepted, now), "sends_not_counted").await {
                tracing::warn!(event = "sends_forgotten", accepted);
            }
        };
        let note = async {
            let Some(found) = found.filter(|found| *self.noted() != Some(*found)) else { return };
            if written(provider.note_provider(found, now), "provider_not_noted").await {
                *self.noted() = Some(found);
            }
        };
        tokio::join!(count, note);
    }

    fn noted(&self) -> std::sync::MutexGuard<'_, Option<ProviderState>> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether it was written in time; if not, the log has the event.
async fn written(write: impl Future<Output = Result<(), PortError>>, event: &str) -> bool {
    match timeout(PATIENCE, write).await {
        Ok(Ok(())) => return true,
        Ok(Err(error)) => tracing::warn!(event, %error),
        Err(_) => tracing::warn!(event, "no answer"),
    }
    false
}
