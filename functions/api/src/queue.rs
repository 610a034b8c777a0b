//! `GET /api/queue`: how much is still to be done, how fast it goes, and when it will be over.

pub(crate) mod history;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use parceltrack::domain::{MailRate, Provider, ProviderState, Slots, Timestamp};
use parceltrack::ports::{
    Backlog, Clock, MeasureBacklog, MeasureQueue, OpenInvoices, PortError, QueueDepth, ReadHistory, ReadProvider,
    ReadSends,
};
use serde::Serialize;
use utoipa::ToSchema;

pub(crate) use self::history::history;
use crate::App;
use crate::caller::{Allowed, RunTheService};
use crate::openapi::schemas;
use crate::problem::Problem;

/// So long the same figures are shown again, so that it costs little when many watch.
const FRESH: Duration = Duration::from_secs(1);

/// Measures the queue, at most once a second.
pub struct QueueWatch {
    /// Open invoices.
    pub backlog: Arc<dyn MeasureBacklog>,
    /// The queue of tickets.
    pub tickets: Arc<dyn MeasureQueue>,
    /// The queue of dead letters.
    pub dead_letters: Arc<dyn MeasureQueue>,
    /// What went out.
    pub sends: Arc<dyn ReadSends>,
    /// Whether the provider takes mail.
    pub provider: Arc<dyn ReadProvider>,
    /// How it was.
    pub history: Arc<dyn ReadHistory>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// What the provider allows, and how many workers share it.
    pub rate: MailRate,
    /// What was measured last.
    pub latest: Latest,
}

/// The figures that were measured last, if any were.
#[derive(Default)]
pub struct Latest(Mutex<Option<(Timestamp, QueueOut)>>);

#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = Queue)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QueueOut {
    backlog: u64,
    backlog_is: Counted,
    oldest_wait_seconds: Option<u64>,
    tickets: TicketsOut,
    sends_per_second: f64,
    provider_limit: f64,
    provider: Option<ProviderOut>,
    pace: f64,
    drain_seconds: u64,
    dead_letters: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
enum Counted {
    Exact,
    AtLeast,
}

/// The workers' last word about the mail provider; null until they have sent their first mail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Provider)]
#[serde(rename_all = "camelCase")]
struct ProviderOut {
    /// `away`: it did not answer several times in a row, and a worker's breaker is open.
    #[schema(schema_with = schemas::provider_state)]
    state: ProviderState,
    #[schema(schema_with = schemas::time)]
    since: String,
}

impl From<Provider> for ProviderOut {
    fn from(Provider { state, since }: Provider) -> Self {
        Self { state, since: since.to_string() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Tickets)]
#[serde(rename_all = "camelCase")]
struct TicketsOut {
    waiting: u64,
    in_flight: u64,
    delayed: u64,
}

/// See how much is still to be done
///
/// For operators. Measured at most once a second by each process of the API.
#[utoipa::path(
    get, path = "/api/queue", operation_id = "getQueue", tag = "Service",
    responses((status = 200, description = "The figures", body = QueueOut))
)]
pub(crate) async fn get(State(app): State<App>, _: Allowed<RunTheService>) -> Result<Json<QueueOut>, Problem> {
    Ok(Json(app.queue.figures().await?))
}

impl QueueWatch {
    async fn figures(&self) -> Result<QueueOut, PortError> {
        let now = self.clock.now();
        if let Some((at, figures)) = &*self.latest.0.lock().unwrap_or_else(PoisonError::into_inner)
            // A clock that was set back must not keep them fresh until it is there again.
            && *at <= now
            && now.since(*at) < FRESH
        {
            return Ok(figures.clone());
        }
        let slots = Slots::before(now);
        let (backlog, tickets, dead_letters, sent, provider) = tokio::try_join!(
            self.backlog.backlog(),
            self.tickets.depth(),
            self.dead_letters.depth(),
            self.sends.sent_in(slots),
            self.provider.provider()
        )?;
        let figures = QueueOut::new(backlog, tickets, dead_letters, slots.per_second(sent), self.rate, provider, now);
        *self.latest.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, figures.clone()));
        Ok(figures)
    }
}

impl QueueOut {
    fn new(
        backlog: Backlog,
        tickets: QueueDepth,
        dead_letters: QueueDepth,
        sends_per_second: f64,
        rate: MailRate,
        provider: Option<Provider>,
        now: Timestamp,
    ) -> Self {
        let (open, backlog_is) = match backlog.open {
            OpenInvoices::Exactly(open) => (open, Counted::Exact),
            OpenInvoices::AtLeast(open) => (open, Counted::AtLeast),
        };
        Self {
            backlog: open,
            backlog_is,
            oldest_wait_seconds: backlog.oldest.map(|oldest| now.since(oldest).as_secs()),
            tickets: TicketsOut { waiting: tickets.waiting, in_flight: tickets.in_flight, delayed: tickets.delayed },
            sends_per_second,
            provider_limit: rate.limit(),
            provider: provider.map(ProviderOut::from),
            pace: (rate.of_all_workers() * 100.0).round() / 100.0,
            drain_seconds: drain_seconds(open, rate),
            dead_letters: dead_letters.waiting + dead_letters.in_flight + dead_letters.delayed,
        }
    }
}

/// How long the workers need for so many mails at their full pace, rounded up.
fn drain_seconds(open: u64, rate: MailRate) -> u64 {
    let open = f64::from(u32::try_from(open).unwrap_or(u32::MAX));
    Duration::from_secs_f64((open / rate.of_all_workers()).ceil()).as_secs()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn out(open: OpenInvoices, oldest: Option<i64>) -> QueueOut {
        let backlog = Backlog { open, oldest: oldest.map(Timestamp::from_millis) };
        let tickets = QueueDepth { waiting: 30, in_flight: 10, delayed: 2 };
        let dead_letters = QueueDepth { waiting: 2, in_flight: 1, delayed: 0 };
        let rate = MailRate::new(20.0, 2).unwrap();
        let away = Provider { state: ProviderState::Away, since: Timestamp::from_millis(90_000) };
        QueueOut::new(backlog, tickets, dead_letters, 17.3, rate, oldest.map(|_| away), Timestamp::from_millis(100_900))
    }

    #[test]
    fn the_figures_read_as_the_documentation_says() {
        assert_eq!(
            serde_json::to_value(out(OpenInvoices::Exactly(500), Some(58_000))).unwrap(),
            json!({
                "backlog": 500,
                "backlogIs": "exact",
                "oldestWaitSeconds": 42,
                "tickets": {"waiting": 30, "inFlight": 10, "delayed": 2},
                "sendsPerSecond": 17.3,
                "providerLimit": 20.0,
                "provider": {"state": "away", "since": "1970-01-01T00:01:30.000Z"},
                "pace": 18.18,
                "drainSeconds": 28,
                "deadLetters": 3
            })
        );
        let more = serde_json::to_value(out(OpenInvoices::AtLeast(200_000), Some(0))).unwrap();
        assert_eq!((&more["backlog"], &more["backlogIs"]), (&json!(200_000), &json!("atLeast")));
    }

    #[test]
    fn where_nothing_is_open_nothing_waits_and_nothing_is_to_be_drained() {
        let nothing = serde_json::to_value(out(OpenInvoices::Exactly(0), None)).unwrap();
        assert_eq!(
            (&nothing["backlog"], &nothing["oldestWaitSeconds"], &nothing["drainSeconds"], &nothing["provider"]),
            (&json!(0), &json!(null), &json!(0), &json!(null))
        );
    }
}
