//! `GET /api/queue/history`: how much was still to be done, and how fast it went, in each minute of the last hour.

use axum::Json;
use axum::extract::State;
use parceltrack::domain::{Slot, Slots};
use parceltrack::ports::{History, PastBacklog};
use serde::Serialize;
use utoipa::ToSchema;

use crate::App;
use crate::caller::{Allowed, RunTheService};
use crate::openapi::schemas;
use crate::problem::Problem;

#[derive(Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = QueueHistory)]
pub(crate) struct HistoryOut {
    backlog: Vec<BacklogThenOut>,
    sends: Vec<SendsThenOut>,
}

#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = BacklogThen)]
#[serde(rename_all = "camelCase")]
struct BacklogThenOut {
    #[schema(schema_with = schemas::time)]
    at: String,
    backlog: u64,
    oldest_wait_seconds: Option<u64>,
}

#[derive(Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = SendsThen)]
#[serde(rename_all = "camelCase")]
struct SendsThenOut {
    /// When the minute began.
    #[schema(schema_with = schemas::time)]
    at: String,
    sends_per_second: f64,
}

/// See how it went in the last hour
///
/// For operators. By the minute, oldest first; a minute in which nobody looked has no backlog.
#[utoipa::path(
    get, path = "/api/queue/history", operation_id = "getQueueHistory", tag = "Service",
    responses((status = 200, description = "The last complete minutes", body = HistoryOut))
)]
pub(crate) async fn history(State(app): State<App>, _: Allowed<RunTheService>) -> Result<Json<HistoryOut>, Problem> {
    let hour = Slots::of_the_hour_before(app.clock.now());
    let history = app.queue.history.history(hour).await?;
    Ok(Json(HistoryOut::new(hour, &history)))
}

impl HistoryOut {
    fn new(hour: Slots, history: &History) -> Self {
        let backlog = history.backlog.iter().map(|&PastBacklog { at, open, oldest }| BacklogThenOut {
            at: at.begin().to_string(),
            backlog: open,
            oldest_wait_seconds: oldest.map(|oldest| at.begin().since(oldest).as_secs()),
        });
        let sends = hour.minutes().map(|minute| {
            let of_minute = history.sends.iter().filter(|(slot, _): &&(Slot, u64)| minute.contain(*slot));
            SendsThenOut {
                at: minute.first.begin().to_string(),
                sends_per_second: (minute.per_second(of_minute.map(|(_, sent)| sent).sum()) * 100.0).round() / 100.0,
            }
        });
        Self { backlog: backlog.collect(), sends: sends.collect() }
    }
}

#[cfg(test)]
mod tests {
    use parceltrack::domain::Timestamp;
    use serde_json::json;

    use super::*;

    #[test]
    fn each_minute_has_its_mails_and_what_was_open_stands_where_it_was_noted() {
        let hour = Slots::of_the_hour_before(Timestamp::from_millis(3_660_000));
        let slot = Slot::at_seconds;
        let oldest = Some(Timestamp::from_millis(100_000));
        let history = History {
            backlog: vec![
                PastBacklog { at: slot(125), open: 7, oldest },
                PastBacklog { at: slot(180), open: 0, oldest: None },
            ],
            sends: vec![(slot(60), 30), (slot(115), 30), (slot(120), 6)],
        };
        let out = serde_json::to_value(HistoryOut::new(hour, &history)).unwrap();
        assert_eq!(
            out["backlog"],
            json!([
                {"at": "1970-01-01T00:02:05.000Z", "backlog": 7, "oldestWaitSeconds": 25},
                {"at": "1970-01-01T00:03:00.000Z", "backlog": 0, "oldestWaitSeconds": null},
            ])
        );
        let sends = out["sends"].as_array().unwrap();
        assert_eq!(sends.len(), 60);
        assert_eq!(sends[0], json!({"at": "1970-01-01T00:01:00.000Z", "sendsPerSecond": 1.0}));
        assert_eq!(sends[1], json!({"at": "1970-01-01T00:02:00.000Z", "sendsPerSecond": 0.1}));
        assert_eq!(sends[59]["sendsPerSecond"], 0.0);
    }
}
