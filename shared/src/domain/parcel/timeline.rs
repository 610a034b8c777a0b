//! The timeline: what happened to a parcel, who may add what to it, and what has been told before.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Parcel, ParcelId, ParcelStatus};
use crate::domain::{RequestId, Text, Timestamp};

/// The most lines that a timeline has. A parcel that goes out and comes back every day takes a hundred days to get there.
/// With the longest texts in every line the parcel is still well within DynamoDB's 400 KB for a row.
pub const MAX_EVENTS: usize = 200;

/// How far a reporter's clock may be ahead of ours.
const CLOCK_TOLERANCE: Duration = Duration::from_mins(5);

/// The id of one line of a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TrackingEventId(pub Uuid);

impl TrackingEventId {
    /// For a line that was written before lines had ids: follows from its parcel and its place, which never changes.
    #[must_use]
    pub fn of_place(parcel: ParcelId, place: usize) -> Self {
        Self(Uuid::new_v5(&parcel.0, place.to_string().as_bytes()))
    }
}

/// One line of a parcel's timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackingEvent {
    /// Its id.
    pub id: TrackingEventId,
    /// What the parcel became.
    pub status: ParcelStatus,
    /// When it became that.
    pub at: Timestamp,
    /// When we were told.
    pub recorded_at: Timestamp,
    /// Where: a depot or a district. Everybody who has the tracking number can read it.
    pub location: Option<Text<100>>,
    /// For the merchant and for us, not for the public.
    pub note: Option<Text<200>>,
    /// The request that told us, if one did.
    pub correlation_id: Option<RequestId>,
}

impl TrackingEvent {
    /// What happens at this very moment, without more words.
    #[must_use]
    pub fn now(id: TrackingEventId, status: ParcelStatus, now: Timestamp) -> Self {
        Self { id, status, at: now, recorded_at: now, location: None, note: None, correlation_id: None }
    }

    /// The same, told by this request.
    #[must_use]
    pub fn by(self, request: &RequestId) -> Self {
        Self { correlation_id: Some(request.clone()), ..self }
    }
}

/// What somebody says happened to a parcel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventReport {
    /// What it became.
    pub status: ParcelStatus,
    /// When; if unsaid, now.
    pub at: Option<Timestamp>,
    /// Where.
    pub location: Option<Text<100>>,
    /// More words.
    pub note: Option<Text<200>>,
}

/// What a report comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reported {
    /// A new line, to be written.
    New(TrackingEvent),
    /// The line that this report made when it came first.
    Known(TrackingEvent),
}

/// Why a report is not taken, worded to be read after the field's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReportRefused {
    /// A parcel does not go from where it is, `from`, to there.
    #[error("does not follow {from}")]
    StepNotAllowed {
        /// Where it is.
        from: ParcelStatus,
    },
    /// The time is ahead of our clock by more than clocks differ.
    #[error("must not be in the future")]
    InTheFuture,
    /// The time is before the parcel's creation.
    #[error("must not be before the parcel was created")]
    BeforeTheParcel,
    /// The timeline has [`MAX_EVENTS`] lines.
    #[error("does not fit: the timeline is full")]
    TimelineFull,
}

impl Parcel {
    /// What a report comes to, for the parcel as it is. A new line gets this id.
    ///
    /// A report says the same as a line if status, place, note and time are equal; without a time only the last line can
    /// be meant.
    pub fn reported(
        &self,
        report: &EventReport,
        id: TrackingEventId,
        now: Timestamp,
    ) -> Result<Reported, ReportRefused> {
        if let Some(known) = self.known(report) {
            return Ok(Reported::Known(known.clone()));
        }
        let at = report.at.unwrap_or(now);
        if at > now + CLOCK_TOLERANCE {
            return Err(ReportRefused::InTheFuture);
        }
        if at < self.created_at {
            return Err(ReportRefused::BeforeTheParcel);
        }
        if !self.status.may_become(report.status) {
            return Err(ReportRefused::StepNotAllowed { from: self.status });
        }
        if self.events.len() >= MAX_EVENTS {
            return Err(ReportRefused::TimelineFull);
        }
        let EventReport { status, location, note, .. } = report.clone();
        Ok(Reported::New(TrackingEvent { id, status, at, recorded_at: now, location, note, correlation_id: None }))
    }

    /// The parcel with one line more.
    #[must_use]
    pub fn after(mut self, event: TrackingEvent) -> Self {
        self.status = event.status;
        self.updated_at = event.recorded_at;
        self.events.push(event);
        self
    }

    fn known(&self, report: &EventReport) -> Option<&TrackingEvent> {
        // Nobody reported the first line: it is the parcel's creation.
        let mut latest_first = self.events.iter().skip(1).rev();
        let same = |event: &&TrackingEvent| {
            event.status == report.status && event.location == report.location && event.note == report.note
        };
        match report.at {
            Some(at) => latest_first.find(|event| same(event) && event.at == at),
            None => latest_first.next().filter(same),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::{OwnerId, TrackingNumber};

    const START: Timestamp = Timestamp::from_millis(1_790_000_000_000);

    fn id(number: usize) -> TrackingEventId {
        TrackingEventId(Uuid::from_u128(number as u128))
    }

    fn parcel() -> Parcel {
        Parcel {
            id: ParcelId(Uuid::nil()),
            owner: OwnerId::house(),
            tracking_number: TrackingNumber::draw(1, 0),
            recipient: Text::try_from("Tan Wei Ming".to_owned()).unwrap(),
            email: "tan@example.com".parse().unwrap(),
            address: None,
            postal_code: None,
            phone: None,
            reference: None,
            weight: None,
            status: ParcelStatus::Created,
            created_at: START,
            updated_at: START,
            events: vec![TrackingEvent::now(id(0), ParcelStatus::Created, START)],
            proof_expected_since: None,
        }
    }

    fn report(status: ParcelStatus) -> EventReport {
        EventReport { status, at: None, location: None, note: None }
    }

    fn after(seconds: u64) -> Timestamp {
        START + Duration::from_secs(seconds)
    }

    fn any_report() -> impl Strategy<Value = EventReport> {
        let text = |words: &'static [&'static str]| proptest::option::of(proptest::sample::select(words));
        (
            proptest::sample::select(&ParcelStatus::ALL[..]),
            proptest::option::of(-2_000..900_i64),
            text(&["Changi", "Jurong"]),
            text(&["nobody in"]),
        )
            .prop_map(|(status, seconds, location, note)| EventReport {
                status,
                at: seconds.map(|seconds| Timestamp::from_millis(START.millis() + seconds * 1000)),
                location: location.map(|text| Text::try_from(text.to_owned()).unwrap()),
                note: note.map(|text| Text::try_from(text.to_owned()).unwrap()),
            })
    }

    proptest! {
        #[test]
        fn whatever_is_reported_the_timeline_is_a_way_that_a_parcel_may_go(
            reports in proptest::collection::vec(any_report(), 0..80),
        ) {
            let mut parcel = parcel();
            for (number, report) in reports.iter().enumerate() {
                let now = after(number as u64 * 10);
                let before = parcel.clone();
                match parcel.reported(report, id(number + 1), now) {
                    Ok(Reported::New(event)) => {
                        prop_assert!(before.status.may_become(event.status));
                        prop_assert!(event.at >= parcel.created_at && event.at <= now + CLOCK_TOLERANCE);
                        prop_assert_eq!(event.recorded_at, now);
                        parcel = parcel.after(event.clone());
                        // Told again, however much later, it is the same line.
                        let again = EventReport { at: Some(event.at), ..report.clone() };
                        let told = parcel.reported(&again, id(1000), after(100_000));
                        prop_assert_eq!(told, Ok(Reported::Known(event)));
                    }
                    Ok(Reported::Known(event)) => prop_assert!(parcel.events[1..].contains(&event)),
                    Err(ReportRefused::StepNotAllowed { from }) => {
                        prop_assert_eq!(from, before.status);
                        prop_assert!(!from.may_become(report.status));
                    }
                    Err(ReportRefused::InTheFuture) => prop_assert!(report.at.unwrap() > now),
                    Err(ReportRefused::BeforeTheParcel) => prop_assert!(report.at.unwrap() < START),
                    Err(ReportRefused::TimelineFull) => prop_assert!(false, "of {} lines", parcel.events.len()),
                }
            }
            let steps: Vec<_> = parcel.events.iter().map(|event| event.status).collect();
            prop_assert_eq!(steps[0], ParcelStatus::Created);
            prop_assert_eq!(steps.last(), Some(&parcel.status));
            prop_assert!(steps.windows(2).all(|step| step[0].may_become(step[1])));
        }
    }

    #[test]
    fn a_report_without_a_time_is_known_only_as_the_last_line() {
        use ParcelStatus::{DeliveryFailed, InTransit, OutForDelivery};
        let mut parcel = parcel();
        for (number, status) in [InTransit, OutForDelivery, DeliveryFailed].into_iter().enumerate() {
            let event = TrackingEvent::now(id(number + 1), status, after(number as u64));
            parcel = parcel.after(event);
        }
        let told = |status| parcel.reported(&report(status), id(9), after(60));
        assert_eq!(told(DeliveryFailed), Ok(Reported::Known(parcel.events[3].clone())));
        // It goes out again: a new line, though there is one like it.
        assert!(matches!(told(OutForDelivery), Ok(Reported::New(_))));
        assert_eq!(told(InTransit), Err(ReportRefused::StepNotAllowed { from: DeliveryFailed }));
    }

    #[test]
    fn a_parcel_is_never_reported_as_created() {
        let refused = Err(ReportRefused::StepNotAllowed { from: ParcelStatus::Created });
        assert_eq!(parcel().reported(&report(ParcelStatus::Created), id(1), after(1)), refused);
    }

    #[test]
    fn a_clock_may_be_five_minutes_ahead_and_no_report_is_older_than_its_parcel() {
        let told = |millis: i64| {
            let at = Some(Timestamp::from_millis(START.millis() + millis));
            parcel().reported(&EventReport { at, ..report(ParcelStatus::InTransit) }, id(1), after(60))
        };
        assert!(matches!(told(360_000), Ok(Reported::New(_))));
        assert_eq!(told(360_001), Err(ReportRefused::InTheFuture));
        assert!(matches!(told(0), Ok(Reported::New(_))));
        assert_eq!(told(-1), Err(ReportRefused::BeforeTheParcel));
    }

    #[test]
    fn a_full_timeline_takes_no_more_lines_but_knows_those_it_has() {
        use ParcelStatus::{DeliveryFailed, InTransit, OutForDelivery};
        let mut parcel = parcel().after(TrackingEvent::now(id(1), InTransit, after(1)));
        for number in 2..MAX_EVENTS {
            let status = if number % 2 == 0 { OutForDelivery } else { DeliveryFailed };
            let Ok(Reported::New(event)) = parcel.reported(&report(status), id(number), after(number as u64)) else {
                panic!("line {number}")
            };
            parcel = parcel.after(event);
        }
        assert_eq!((parcel.events.len(), parcel.status), (MAX_EVENTS, DeliveryFailed));
        let told = |status| parcel.reported(&report(status), id(999), after(999));
        assert_eq!(told(OutForDelivery), Err(ReportRefused::TimelineFull));
        assert!(matches!(told(DeliveryFailed), Ok(Reported::Known(_))));
    }

    #[test]
    fn lines_from_before_there_were_ids_have_ids_of_their_own() {
        let place = |place| TrackingEventId::of_place(ParcelId(Uuid::nil()), place);
        assert_eq!(place(1), place(1));
        assert_ne!(place(1), place(2));
        assert_ne!(place(1), TrackingEventId::of_place(ParcelId(Uuid::max()), 1));
    }
}
