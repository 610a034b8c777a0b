//! A step of a parcel: decided on what was read, written if that is still so, decided anew if it is not.

use parceltrack::domain::{
    EventReport, Parcel, ParcelId, ReportRefused, Reported, RequestId, TrackingEvent, TrackingEventId,
};
use parceltrack::ports::{EventRecording, IdempotencyClaim, SeenParcel};
use uuid::Uuid;

use crate::App;
use crate::problem::{FieldProblem, Problem};

/// How often a step is decided before the answer is 503. Each new decision means that somebody else moved the parcel
/// within milliseconds.
const DECISIONS: u32 = 5;

/// How a step ended.
pub(super) enum Step {
    /// It was taken now, or by this very request before.
    Taken {
        /// The parcel after it.
        parcel: Parcel,
        /// The new line.
        event: TrackingEvent,
    },
    /// The same report came before, and made this line.
    TakenBefore {
        /// The parcel as it is.
        parcel: Parcel,
        /// That line.
        event: TrackingEvent,
    },
    /// The same idempotency key came before, with the same content.
    Replayed {
        /// The first answer.
        answer: String,
    },
}

/// Takes the step that a report asks for. `visible` says whether there is such a parcel for this caller; `claim` makes
/// the record of the caller's idempotency key, if there is one. The line says which `request` told us.
pub(super) async fn take(
    app: &App,
    id: ParcelId,
    report: &EventReport,
    request: &RequestId,
    visible: impl Fn(Option<Parcel>) -> Result<Parcel, Problem>,
    claim: impl Fn(&TrackingEvent) -> Result<Option<IdempotencyClaim>, Problem>,
) -> Result<Step, Problem> {
    let now = app.clock.now();
    let event_id = TrackingEventId(Uuid::new_v4());
    for _ in 0..DECISIONS {
        let parcel = visible(app.read_parcels.parcel(id).await?)?;
        let event = match parcel.reported(report, event_id, now).map_err(|refused| problem(refused, report))? {
            Reported::New(event) => event.by(request),
            // Written by this request, and the answer was lost.
            Reported::Known(event) if event.id == event_id => return Ok(Step::Taken { parcel, event }),
            Reported::Known(event) => return Ok(Step::TakenBefore { parcel, event }),
        };
        match app.record_events.record(&SeenParcel::from(&parcel), &event, claim(&event)?.as_ref()).await? {
            EventRecording::Recorded => {
                tracing::info!(event = "parcel_moved", parcel = %id, status = %event.status);
                return Ok(Step::Taken { parcel: parcel.after(event.clone()), event });
            }
            EventRecording::OvertakenByAnother => {}
            EventRecording::Replayed { answer } => return Ok(Step::Replayed { answer }),
            EventRecording::KeyUsedForOtherContent => return Err(Problem::KeyUsedForOtherContent),
        }
    }
    Err(Problem::Unavailable)
}

fn problem(refused: ReportRefused, report: &EventReport) -> Problem {
    match refused {
        ReportRefused::StepNotAllowed { from } => Problem::StepNotAllowed { current: from, wanted: report.status },
        ReportRefused::InTheFuture | ReportRefused::BeforeTheParcel => {
            let occurred_at = FieldProblem::new("occurredAt", &refused.to_string());
            Problem::InvalidFields { first: vec![occurred_at], number: 1 }
        }
        ReportRefused::TimelineFull => Problem::TimelineFull,
    }
}
