//! What the change of a row comes to, as events.
//!
//! Of a row only what events tell of is known here, and that has nothing of a person. Each function is asked with the
//! row before and after one write, and gives the same events whenever it is asked.

use super::{DOMAIN_EVENT_VERSION, DomainEvent, DomainEventId, Happening, Subject};
use crate::domain::{
    Delivery, InvoiceId, InvoiceNumber, InvoiceStatus, OwnerId, ParcelId, ParcelStatus, RequestId, Timestamp,
    TrackingNumber,
};

/// Of a parcel's row, what events tell of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParcelStory {
    /// Which parcel.
    pub id: ParcelId,
    /// Whose it is.
    pub owner: OwnerId,
    /// Its number for people.
    pub tracking_number: TrackingNumber,
    /// Its timeline. Lines are only ever added, at the end.
    pub lines: Vec<StoryLine>,
}

/// Of a line of a timeline, what events tell of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryLine {
    /// What the parcel became.
    pub status: ParcelStatus,
    /// When it became that.
    pub at: Timestamp,
    /// When we were told.
    pub recorded_at: Timestamp,
    /// The request that told us, if one did and the line is not from before that was written down.
    pub correlation_id: Option<RequestId>,
}

impl ParcelStory {
    /// What has happened since the row was as in `before`; `None` stands for no row. An event's number is the place of
    /// its line, from 1.
    #[must_use]
    pub fn since(&self, before: Option<&Self>) -> Vec<DomainEvent> {
        let known = before.map_or(0, |before| before.lines.len());
        let numbered = self.lines.iter().zip(1_u64..).enumerate();
        numbered
            .skip(known)
            .map(|(place, (line, sequence))| DomainEvent {
                id: DomainEventId::new(Subject::Parcel(self.id), sequence),
                happening: match place.checked_sub(1).and_then(|previous| self.lines.get(previous)) {
                    None => Happening::ParcelCreated {},
                    Some(previous) => Happening::ParcelStatusChanged {
                        status: line.status,
                        previous_status: previous.status,
                        occurred_at: line.at,
                    },
                },
                version: DOMAIN_EVENT_VERSION,
                timestamp: line.recorded_at,
                sequence,
                correlation_id: line.correlation_id.clone().unwrap_or_else(|| RequestId::from(self.id.0)),
                owner: self.owner.clone(),
                parcel_id: self.id,
                tracking_number: self.tracking_number.clone(),
            })
            .collect()
    }
}

/// Of an invoice's row, what events tell of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvoiceStory {
    /// Which invoice.
    pub id: InvoiceId,
    /// What people call it.
    pub number: InvoiceNumber,
    /// Its parcel.
    pub parcel_id: ParcelId,
    /// Whose that is.
    pub owner: OwnerId,
    /// That parcel's number for people.
    pub tracking_number: TrackingNumber,
    /// How far the invoice has come.
    pub status: InvoiceStatus,
    /// What the mail provider said last of its mail.
    pub delivery: Option<Delivery>,
    /// How many events its writes have come to so far; each write that comes to some raises it.
    pub event_count: u64,
    /// The request from which its present way follows, if that was written down.
    pub correlation_id: Option<RequestId>,
    /// When it was written last.
    pub updated_at: Timestamp,
}

/// A write raised the row's count of events by another number than the events that it comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{happened} things happened, and {counted} were counted")]
pub struct Miscounted {
    /// What the change of the row comes to.
    pub happened: usize,
    /// By how much the count was raised.
    pub counted: u64,
}

impl InvoiceStory {
    /// What has happened since the row was as in `before`; `None` stands for no row. The events' numbers end with the
    /// row's count.
    ///
    /// A write that raised no count comes to no events, whatever it changed: it was made by a release from before there
    /// were any, and there is no number left for them.
    ///
    /// # Errors
    /// [`Miscounted`], where the numbers cannot be told; then no write of ours made this row of that one.
    pub fn since(&self, before: Option<&Self>) -> Result<Vec<DomainEvent>, Miscounted> {
        let counted = self.event_count.saturating_sub(before.map_or(0, |before| before.event_count));
        if counted == 0 {
            return Ok(Vec::new());
        }
        let happened = self.happened_since(before);
        if happened.len() as u64 != counted {
            return Err(Miscounted { happened: happened.len(), counted });
        }
        let numbers = self.event_count - counted + 1..;
        Ok(numbers.zip(happened).map(|(sequence, happening)| self.event(sequence, happening)).collect())
    }

    fn happened_since(&self, before: Option<&Self>) -> Vec<Happening> {
        let (invoice_id, invoice_number) = (self.id, self.number.clone());
        let became = |status| self.status == status && before.is_none_or(|before| before.status != status);
        let bounced = Some(Delivery::Bounced);
        let mut happened = Vec::new();
        if before.is_none() {
            happened.push(Happening::InvoiceRequested { invoice_id, invoice_number: invoice_number.clone() });
        }
        if became(InvoiceStatus::Sent) {
            happened.push(Happening::InvoiceSent { invoice_id, invoice_number: invoice_number.clone() });
        }
        if became(InvoiceStatus::Failed) {
            happened.push(Happening::InvoiceFailed { invoice_id, invoice_number: invoice_number.clone() });
        }
        if self.delivery == bounced && before.is_none_or(|before| before.delivery != bounced) {
            happened.push(Happening::InvoiceBounced { invoice_id, invoice_number });
        }
        happened
    }

    fn event(&self, sequence: u64, happening: Happening) -> DomainEvent {
        DomainEvent {
            id: DomainEventId::new(Subject::Invoice(self.id), sequence),
            happening,
            version: DOMAIN_EVENT_VERSION,
            timestamp: self.updated_at,
            sequence,
            correlation_id: self.correlation_id.clone().unwrap_or_else(|| RequestId::from(self.id.0)),
            owner: self.owner.clone(),
            parcel_id: self.parcel_id,
            tracking_number: self.tracking_number.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::domain::DomainEventType::{
        self, InvoiceBounced, InvoiceFailed, InvoiceRequested, InvoiceSent, ParcelCreated, ParcelStatusChanged,
    };

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_790_000_000_000 + seconds * 1000)
    }

    fn line(status: ParcelStatus, seconds: i64) -> StoryLine {
        let correlation_id = Some(format!("told-at-{seconds}").parse().unwrap());
        StoryLine { status, at: at(seconds - 60), recorded_at: at(seconds), correlation_id }
    }

    fn parcel(lines: &[StoryLine]) -> ParcelStory {
        ParcelStory {
            id: ParcelId(Uuid::from_u128(1)),
            owner: "acme".parse().unwrap(),
            tracking_number: "LCL48291057".parse().unwrap(),
            lines: lines.to_vec(),
        }
    }

    fn invoice(status: InvoiceStatus, delivery: Option<Delivery>, event_count: u64) -> InvoiceStory {
        let parcel = parcel(&[]);
        InvoiceStory {
            id: InvoiceId::of_parcel(parcel.id),
            number: InvoiceNumber::new(at(0), &parcel.tracking_number),
            parcel_id: parcel.id,
            owner: parcel.owner,
            tracking_number: parcel.tracking_number,
            status,
            delivery,
            event_count,
            correlation_id: Some("a-request".parse().unwrap()),
            updated_at: at(5),
        }
    }

    fn told(events: &[DomainEvent]) -> Vec<(DomainEventType, u64)> {
        events.iter().map(|event| (event.happening.kind(), event.sequence)).collect()
    }

    #[test]
    fn each_new_line_of_a_timeline_is_an_event_numbered_by_its_place() {
        use ParcelStatus::{Created, InTransit, OutForDelivery};
        let lines = [line(Created, 0), line(InTransit, 10), line(OutForDelivery, 20)];
        let after = |count: usize| parcel(&lines[..count]);
        let (created, moved) = (ParcelCreated, ParcelStatusChanged);
        for (before, now, expected) in [
            (None, 1, vec![(created, 1)]),
            (Some(1), 2, vec![(moved, 2)]),
            (Some(2), 3, vec![(moved, 3)]),
            // Several at once, and the whole of a story.
            (Some(1), 3, vec![(moved, 2), (moved, 3)]),
            (None, 3, vec![(created, 1), (moved, 2), (moved, 3)]),
            // Something else was written, such as that a photograph may come.
            (Some(2), 2, vec![]),
            (None, 0, vec![]),
        ] {
            let events = after(now).since(before.map(after).as_ref());
            assert_eq!(told(&events), expected, "from {before:?} to {now}");
        }
    }

    #[test]
    fn a_parcels_event_says_where_from_where_to_when_and_by_which_request() {
        let lines = [line(ParcelStatus::Created, 0), line(ParcelStatus::InTransit, 10)];
        let [event] = &parcel(&lines).since(Some(&parcel(&lines[..1])))[..] else { panic!("one event") };
        let expected = Happening::ParcelStatusChanged {
            status: ParcelStatus::InTransit,
            previous_status: ParcelStatus::Created,
            occurred_at: at(-50),
        };
        assert_eq!(event.happening, expected);
        assert_eq!((event.timestamp, event.correlation_id.as_str()), (at(10), "told-at-10"));
        assert_eq!(event.id, DomainEventId::new(Subject::Parcel(event.parcel_id), 2));
    }

    #[test]
    fn an_invoices_events_are_what_its_writes_have_counted() {
        use Delivery::{Accepted, Bounced, Complained, Delivered};
        use InvoiceStatus::{Failed, Generated, Pending, Sent};
        type Row = (InvoiceStatus, Option<Delivery>, u64);
        type Case = (&'static str, Option<Row>, Row, Vec<(DomainEventType, u64)>);
        let cases: [Case; 15] = [
            ("asked for", None, (Pending, None, 1), vec![(InvoiceRequested, 1)]),
            ("claimed, or moved on", Some((Pending, None, 1)), (Pending, None, 1), vec![]),
            ("its PDF is made", Some((Pending, None, 1)), (Generated, None, 1), vec![]),
            ("sent", Some((Generated, None, 1)), (Sent, None, 2), vec![(InvoiceSent, 2)]),
            ("given up", Some((Pending, None, 1)), (Failed, None, 2), vec![(InvoiceFailed, 2)]),
            (
                "sent, by the provider's word",
                Some((Generated, None, 1)),
                (Sent, Some(Accepted), 2),
                vec![(InvoiceSent, 2)],
            ),
            (
                "sent and back, by the provider's word",
                Some((Generated, None, 1)),
                (Sent, Some(Bounced), 3),
                vec![(InvoiceSent, 2), (InvoiceBounced, 3)],
            ),
            ("delivered", Some((Sent, None, 2)), (Sent, Some(Delivered), 2), vec![]),
            ("back", Some((Sent, Some(Delivered), 2)), (Sent, Some(Bounced), 3), vec![(InvoiceBounced, 3)]),
            ("back, with another reason", Some((Sent, Some(Bounced), 3)), (Sent, Some(Bounced), 3), vec![]),
            ("called spam", Some((Sent, Some(Bounced), 3)), (Sent, Some(Complained), 3), vec![]),
            ("rejected", Some((Sent, Some(Accepted), 2)), (Failed, None, 3), vec![(InvoiceFailed, 3)]),
            ("opened again", Some((Sent, Some(Bounced), 3)), (Generated, None, 3), vec![]),
            ("and sent again", Some((Generated, None, 3)), (Sent, None, 4), vec![(InvoiceSent, 4)]),
            (
                "its whole story, of the row alone",
                None,
                (Sent, Some(Bounced), 3),
                vec![(InvoiceRequested, 1), (InvoiceSent, 2), (InvoiceBounced, 3)],
            ),
        ];
        for (what, before, now, expected) in cases {
            let row = |(status, delivery, count)| invoice(status, delivery, count);
            let events = row(now).since(before.map(row).as_ref());
            assert_eq!(events.map(|events| told(&events)), Ok(expected), "{what}");
        }
    }

    #[test]
    fn a_row_from_before_there_were_events_begins_with_the_first_that_is_counted() {
        let old = invoice(InvoiceStatus::Generated, None, 0);
        let sent = invoice(InvoiceStatus::Sent, None, 1).since(Some(&old));
        assert_eq!(sent.map(|events| told(&events)), Ok(vec![(InvoiceSent, 1)]));
        // Written by the former release, which counts nothing: there is no number for it.
        assert_eq!(invoice(InvoiceStatus::Sent, None, 0).since(Some(&old)), Ok(vec![]));
        assert_eq!(invoice(InvoiceStatus::Pending, None, 0).since(None), Ok(vec![]));
    }

    #[test]
    fn a_count_that_does_not_agree_with_the_row_is_no_story() {
        let (generated, failed) = (invoice(InvoiceStatus::Generated, None, 1), invoice(InvoiceStatus::Failed, None, 4));
        assert_eq!(failed.since(Some(&generated)), Err(Miscounted { happened: 1, counted: 3 }));
        // It was sent and opened again, of which the row alone does not tell.
        assert_eq!(failed.since(None), Err(Miscounted { happened: 2, counted: 4 }));
    }

    #[test]
    fn rows_that_name_no_request_are_correlated_by_what_they_are_about() {
        let mut lines = [line(ParcelStatus::Created, 0)];
        lines[0].correlation_id = None;
        let parcel = parcel(&lines);
        assert_eq!(parcel.since(None)[0].correlation_id.as_str(), parcel.id.to_string());
        let invoice = InvoiceStory { correlation_id: None, ..invoice(InvoiceStatus::Pending, None, 1) };
        assert_eq!(invoice.since(None).unwrap()[0].correlation_id.as_str(), invoice.id.to_string());
    }
}
