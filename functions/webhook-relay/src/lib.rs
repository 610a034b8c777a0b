//! The relay of webhooks: no pending delivery is forgotten, whatever became of its ticket.
//!
//! Every minute it puts a new ticket on the queue for each delivery whose due time has come, and moves that time on. A
//! second ticket is harmless; a missing one would be a lost event. So when in doubt, it sends.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures::future::join_all;
use parceltrack::domain::{Timestamp, relay_backoff};
use parceltrack::ports::{
    Clock, DUE_SHARDS, DueDelivery, PortError, RelayWebhookDeliveries, SendWebhookTickets, StepTaken,
};
use parceltrack::telemetry::{self, Metric};
use serde::Serialize;

/// How many messages SQS takes in one call.
const BATCH: usize = 10;

/// The relay stops this long before Lambda would kill it; the next run goes on.
const TIME_TO_STOP: Duration = Duration::from_secs(5);

/// When a delivery is looked at again whose ticket the queue did not take.
const NEXT_RUN: Duration = Duration::from_secs(1);

/// The relay's ports.
pub struct WebhookRelay {
    /// Finds and moves due deliveries.
    pub deliveries: Arc<dyn RelayWebhookDeliveries>,
    /// Puts tickets on the queue.
    pub tickets: Arc<dyn SendWebhookTickets>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
}

/// What one run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Tickets that the queue took.
    pub sent: usize,
    /// Tickets that it did not take; their deliveries are due again at once.
    pub refused: usize,
    /// Deliveries that another run, or a worker, had moved meanwhile.
    pub overtaken: usize,
    /// Reads and writes that failed. What they were about is still due.
    pub failed: usize,
}

impl Report {
    fn and(self, other: Self) -> Self {
        Self {
            sent: self.sent + other.sent,
            refused: self.refused + other.refused,
            overtaken: self.overtaken + other.overtaken,
            failed: self.failed + other.failed,
        }
    }
}

impl WebhookRelay {
    /// Goes through all shards, side by side and each page by page, until nothing is due or the time is nearly up.
    ///
    /// # Errors
    /// If anything failed, after everything else was done: one bad row or shard does not hold up the others.
    pub async fn run(&self, deadline: SystemTime) -> Result<Report, RunFailed> {
        let now = self.clock.now();
        let shards = join_all((0..DUE_SHARDS).map(|shard| self.relay_shard(shard, now, deadline))).await;
        let (mut report, mut oldest) = (Report::default(), Duration::ZERO);
        for (of_shard, oldest_of_shard) in shards {
            report = report.and(of_shard);
            oldest = oldest.max(oldest_of_shard);
        }
        telemetry::record(Metric::OldestDueWebhookDelivery(oldest), now);
        let Report { sent, refused, overtaken, failed } = report;
        tracing::info!(event = "relay_ran", sent, refused, overtaken, failed);
        if failed > 0 { Err(RunFailed(report)) } else { Ok(report) }
    }

    /// One shard, and how long its oldest has been due.
    async fn relay_shard(&self, shard: u8, now: Timestamp, deadline: SystemTime) -> (Report, Duration) {
        let (mut report, mut oldest) = (Report::default(), Duration::ZERO);
        let mut after = None;
        loop {
            let page = match self.deliveries.due_page(shard, now, after.as_ref()).await {
                Ok(page) => page,
                Err(error) => {
                    tracing::error!(event = "shard_failed", shard, %error);
                    report.failed += 1;
                    return (report, oldest);
                }
            };
            if let (None, Some(first)) = (&after, page.deliveries.first()) {
                oldest = now.since(first.due);
            }
            for batch in page.deliveries.chunks(BATCH) {
                if deadline.duration_since(SystemTime::now()).unwrap_or_default() < TIME_TO_STOP {
                    tracing::warn!(event = "relay_out_of_time", shard);
                    return (report, oldest);
                }
                report = report.and(self.relay(batch).await);
            }
            after = page.deliveries.last().cloned();
            if !page.more || after.is_none() {
                return (report, oldest);
            }
        }
    }

    /// Moves the due times first, so that two runs at once do not send twice; then sends. What the queue does not take
    /// is made due again. A crash in between costs one backoff, not the event.
    async fn relay(&self, batch: &[DueDelivery]) -> Report {
        let mut report = Report::default();
        let now = self.clock.now();
        let writes = batch.iter().map(|delivery| async move {
            let to = now + relay_backoff(delivery.moves);
            let moved = self.deliveries.move_due(delivery, to, delivery.moves + 1).await;
            (moved, DueDelivery { due: to, ..delivery.clone() })
        });
        let mut moved = Vec::with_capacity(batch.len());
        for (result, delivery) in join_all(writes).await {
            if tally(&result, &mut report) {
                moved.push(delivery);
            }
        }
        if moved.is_empty() {
            return report;
        }
        let tickets: Vec<_> = moved.iter().map(|delivery| delivery.ticket.clone()).collect();
        let refused = match self.tickets.send_batch(&tickets).await {
            Ok(refused) => refused,
            Err(error) => {
                tracing::warn!(event = "batch_refused", %error);
                tickets
            }
        };
        report.sent += moved.len() - refused.len();
        report.refused += refused.len();
        for delivery in moved.into_iter().filter(|delivery| refused.contains(&delivery.ticket)) {
            // What was not sent does not count as sent: it would make the next wait longer.
            let result = self.deliveries.move_due(&delivery, self.clock.now() + NEXT_RUN, delivery.moves).await;
            tally(&result, &mut report);
        }
        report
    }
}

/// Whether it was moved; else it is told to the report.
fn tally(result: &Result<StepTaken, PortError>, report: &mut Report) -> bool {
    match result {
        Ok(StepTaken::Moved) => return true,
        Ok(StepTaken::OvertakenByAnother) => report.overtaken += 1,
        Err(error) => {
            tracing::error!(event = "due_not_moved", %error);
            report.failed += 1;
        }
    }
    false
}

/// Something failed; it is still due, and the next run tries again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the relay did not get through: {0:?}")]
pub struct RunFailed(pub Report);
