//! The simulator: moves parcels along while it runs, so that a demonstration has something to show.
//!
//! Not part of the real design: template.yaml switches it off in production, where drivers report.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parceltrack::domain::{OwnerId, TrackingEvent, TrackingEventId};
use parceltrack::ports::{Clock, EventRecording, ParcelSelection, PortError, ReadParcels, RecordEvents, SeenParcel};
use serde::Serialize;
use uuid::Uuid;

/// How often parcels move while the function runs.
const ROUND: Duration = Duration::from_secs(4);

/// How long a parcel stays where it is, at least.
const REST: Duration = Duration::from_secs(8);

/// The newest parcels are the ones that somebody is watching.
const WATCHED: u16 = 50;

/// The function ends this long before Lambda would kill it; its schedule begins the next run.
const TIME_TO_STOP: Duration = Duration::from_secs(8);

/// The simulator's ports.
pub struct Simulator {
    /// Reads parcels.
    pub read_parcels: Arc<dyn ReadParcels>,
    /// Moves parcels.
    pub record_events: Arc<dyn RecordEvents>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
}

/// What one run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Steps that parcels took.
    pub moved: usize,
}

impl Simulator {
    /// A round every few seconds until the time is nearly up.
    pub async fn run(&self, deadline: SystemTime) -> Result<Report, PortError> {
        let mut report = Report::default();
        loop {
            report.moved += self.round().await?;
            if deadline.duration_since(SystemTime::now()).unwrap_or_default() < TIME_TO_STOP {
                tracing::info!(event = "simulator_ran", moved = report.moved);
                return Ok(report);
            }
            tokio::time::sleep(ROUND).await;
        }
    }

    /// One step for every watched parcel that has rested and has somewhere to go. Returns how many moved.
    pub async fn round(&self) -> Result<usize, PortError> {
        let now = self.clock.now();
        let page = self.read_parcels.parcels_of(&OwnerId::house(), &ParcelSelection::All, WATCHED, None).await?;
        let mut moved = 0;
        for parcel in page.parcels {
            let rested = now.since(parcel.updated_at) >= REST;
            let Some(next) = parcel.status.next_without_trouble().filter(|_| rested) else { continue };
            let event = TrackingEvent::now(TrackingEventId(Uuid::new_v4()), next, now);
            let recording = self.record_events.record(&SeenParcel::from(&parcel), &event, None).await?;
            moved += usize::from(recording == EventRecording::Recorded);
        }
        Ok(moved)
    }
}
