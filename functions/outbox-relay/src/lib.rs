//! The relay: no unfinished invoice is forgotten, whatever became of its ticket.
//!
//! Every minute it looks at each invoice whose due time has come, moves that time on, and puts a new ticket on the queue
//! unless the invoice is most likely waiting there for its turn. A second ticket for one invoice is harmless but makes the
//! queue longer; a missing one would be a lost invoice. So each gets one in the end, and when in doubt, it sends.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures::future::join_all;
use parceltrack::domain::{LastTicket, OwnerId, Ticket, Timestamp, relay_backoff, relay_sends};
use parceltrack::ports::{
    Clock, DUE_SHARDS, DueInvoice, DueMove, MeasureBacklog, NoteBacklog, PortError, RelayInvoices, SendTickets,
};
use parceltrack::telemetry::{self, Metric};
use serde::Serialize;

/// How many messages SQS takes in one call.
const BATCH: usize = 10;

/// The relay stops this long before Lambda would kill it; the next run goes on.
pub const TIME_TO_STOP: Duration = Duration::from_secs(5);

/// When an invoice is looked at again whose ticket the queue did not take.
const NEXT_RUN: Duration = Duration::from_secs(1);

/// The relay's ports.
pub struct Relay {
    /// Finds and moves due invoices.
    pub invoices: Arc<dyn RelayInvoices>,
    /// Puts tickets on the queue.
    pub tickets: Arc<dyn SendTickets>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
}

/// What one run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Tickets that the queue took.
    pub sent: usize,
    /// Tickets that it did not take; their invoices are due again at once.
    pub refused: usize,
    /// Invoices that wait for their turn, and got no second ticket.
    pub waiting: usize,
    /// Invoices that another run, or a worker, had moved meanwhile.
    pub overtaken: usize,
    /// Reads and writes that failed. What they were about is still due.
    pub failed: usize,
}

impl Relay {
    /// Goes through all shards, page by page, until nothing is due or the time is nearly up.
    ///
    /// # Errors
    /// If anything failed, after everything else was done: one bad row or shard does not hold up the others.
    pub async fn run(&self, deadline: SystemTime) -> Result<Report, RunFailed> {
        let mut report = Report::default();
        let now = self.clock.now();
        // Nobody knows: then each is sent.
        let measured = self.tickets.waiting().await;
        let waiting = measured.inspect_err(|error| tracing::warn!(event = "queue_not_measured", %error)).unwrap_or(0);
        for shard in 0..DUE_SHARDS {
            if let Err(error) = self.relay_shard(shard, now, waiting, deadline, &mut report).await {
                tracing::error!(event = "shard_failed", shard, %error);
                report.failed += 1;
            }
        }
        let Report { sent, refused, waiting, overtaken, failed } = report;
        tracing::info!(event = "relay_ran", sent, refused, waiting, overtaken, failed);
        if failed > 0 { Err(RunFailed(report)) } else { Ok(report) }
    }

    async fn relay_shard(
        &self,
        shard: u8,
        now: Timestamp,
        waiting: u64,
        deadline: SystemTime,
        report: &mut Report,
    ) -> Result<(), PortError> {
        let mut after = None;
        loop {
            // Before the read, which may take as long as an attempt and its repeats.
            if deadline.duration_since(SystemTime::now()).unwrap_or_default() < TIME_TO_STOP {
                tracing::warn!(event = "relay_out_of_time", shard);
                return Ok(());
            }
            let page = self.invoices.due_page(shard, now, after).await?;
            // A page's batches side by side: after an outage everything is due at once, and one call at a time would
            // bring tickets more slowly than they are worked off.
            join_all(page.invoices.chunks(BATCH).map(|batch| self.relay(batch, waiting))).await.into_iter().for_each(
                |batch| {
                    report.add(batch);
                },
            );
            after = page.invoices.last().copied();
            if !page.more || after.is_none() {
                return Ok(());
            }
        }
    }

    /// Moves the due times first, so that two runs at once do not send twice; then sends. What the queue does not take
    /// is made due again. A crash in between costs one backoff, not the invoice.
    async fn relay(&self, batch: &[DueInvoice], waiting: u64) -> Report {
        let mut report = Report::default();
        let now = self.clock.now();
        let steps = batch.iter().map(|&invoice| {
            let to = now + relay_backoff(invoice.moves);
            async move { (DueInvoice { due: to, ..invoice }, self.move_due(invoice, to, invoice.moves + 1).await) }
        });
        let mut moved = Vec::with_capacity(batch.len());
        for (invoice, result) in join_all(steps).await {
            match report.notes(result) {
                Some((owner, last)) if relay_sends(last, invoice.moves, waiting) => moved.push((invoice, owner)),
                Some(_) => report.waiting += 1,
                None => {}
            }
        }
        if moved.is_empty() {
            return report;
        }
        let ticket = |invoice: &DueInvoice| Ticket { invoice_id: invoice.id };
        let tickets: Vec<_> = moved.iter().map(|(invoice, owner)| (ticket(invoice), owner.clone())).collect();
        let refused = match self.tickets.send_batch(&tickets).await {
            Ok(refused) => refused,
            Err(error) => {
                tracing::warn!(event = "batch_refused", %error);
                tickets.into_iter().map(|(ticket, _)| ticket).collect()
            }
        };
        report.sent += moved.len() - refused.len();
        report.refused += refused.len();
        for (invoice, _) in moved.into_iter().filter(|(invoice, _)| refused.contains(&ticket(invoice))) {
            // What was not sent does not count as sent: it would make the next wait longer.
            report.notes(self.move_due(invoice, self.clock.now() + NEXT_RUN, invoice.moves).await);
        }
        report
    }

    async fn move_due(&self, invoice: DueInvoice, to: Timestamp, moves: u32) -> Result<DueMove, PortError> {
        self.invoices.move_due(invoice, to, moves).await.inspect_err(|error| {
            tracing::error!(event = "due_not_moved", invoice = %invoice.id, %error);
        })
    }
}

impl Report {
    /// Counts what became of a due time that was to be moved, unless it was; then what that told.
    fn notes(&mut self, moved: Result<DueMove, PortError>) -> Option<(OwnerId, LastTicket)> {
        match moved {
            Ok(DueMove::Moved { owner, last }) => return Some((owner, last)),
            Ok(DueMove::OvertakenByAnother) => self.overtaken += 1,
            Err(_) => self.failed += 1,
        }
        None
    }

    fn add(&mut self, Self { sent, refused, waiting, overtaken, failed }: Self) {
        self.sent += sent;
        self.refused += refused;
        self.waiting += waiting;
        self.overtaken += overtaken;
        self.failed += failed;
    }
}

/// Tells how much is unfinished and how old the oldest of it is, wherever its ticket may be. The next run tells it again.
pub async fn tell_backlog(invoices: &dyn MeasureBacklog, notes: &dyn NoteBacklog, now: Timestamp) {
    let backlog = match invoices.backlog().await {
        Ok(backlog) => backlog,
        Err(error) => return tracing::warn!(event = "backlog_not_known", %error),
    };
    let age = backlog.oldest.map_or(Duration::ZERO, |oldest| now.since(oldest));
    telemetry::record(Metric::OldestUnfinishedInvoice(age), now);
    if let Err(error) = notes.note_backlog(backlog, now).await {
        tracing::warn!(event = "backlog_not_noted", %error);
    }
}

/// Something failed; it is still due, and the next run tries again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the relay did not get through: {0:?}")]
pub struct RunFailed(pub Report);
