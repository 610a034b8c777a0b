//! What happened to a parcel or its invoice, as others hear of it: on the bus, and by webhook.
//!
//! An event carries ids and no more of a person: whoever may know more asks the API.

mod story;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use story::{InvoiceStory, Miscounted, ParcelStory, StoryLine};

use super::{InvoiceId, InvoiceNumber, OwnerId, ParcelId, ParcelStatus, RequestId, Timestamp, TrackingNumber};

/// The version of the form that [`DomainEvent`] has. A new field leaves it; a field that goes or changes its meaning
/// raises it.
pub const DOMAIN_EVENT_VERSION: u32 = 1;

/// The id of an event: the same however often it is told, so that a listener recognizes a repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DomainEventId(pub Uuid);

impl DomainEventId {
    /// The namespace of event ids (RFC 9562 section 5.5). Never change it: repeats would no longer be recognized.
    const NAMESPACE: Uuid = Uuid::from_u128(0x2a0e_7c54_93d1_4f6a_b8e7_51c0_d9f2_6b38);

    /// The id of the event with this number in the story of this subject.
    #[must_use]
    pub fn new(subject: Subject, sequence: u64) -> Self {
        Self(Uuid::new_v5(&Self::NAMESPACE, format!("{subject}/{sequence}").as_bytes()))
    }
}

impl fmt::Display for DomainEventId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Whose story an event belongs to. Events of one subject are numbered and told in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A parcel.
    Parcel(ParcelId),
    /// A parcel's invoice.
    Invoice(InvoiceId),
}

impl fmt::Display for Subject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parcel(id) => write!(formatter, "parcel/{id}"),
            Self::Invoice(id) => write!(formatter, "invoice/{id}"),
        }
    }
}

/// The kinds of events; also what a listener chooses from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum DomainEventType {
    /// A parcel is known to us.
    ParcelCreated,
    /// A parcel's timeline has a new line.
    ParcelStatusChanged,
    /// An invoice is promised.
    InvoiceRequested,
    /// The mail provider has the mail with the invoice. Comes again for an invoice that is mailed again.
    InvoiceSent,
    /// The invoice was given up; a person looks.
    InvoiceFailed,
    /// The mail came back.
    InvoiceBounced,
}

/// The text names no type of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be ParcelCreated, ParcelStatusChanged, InvoiceRequested, InvoiceSent, InvoiceFailed or InvoiceBounced")]
pub struct UnknownDomainEventType;

impl DomainEventType {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::ParcelCreated,
        Self::ParcelStatusChanged,
        Self::InvoiceRequested,
        Self::InvoiceSent,
        Self::InvoiceFailed,
        Self::InvoiceBounced,
    ];

    /// Its name, in events, in the API and in the tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ParcelCreated => "ParcelCreated",
            Self::ParcelStatusChanged => "ParcelStatusChanged",
            Self::InvoiceRequested => "InvoiceRequested",
            Self::InvoiceSent => "InvoiceSent",
            Self::InvoiceFailed => "InvoiceFailed",
            Self::InvoiceBounced => "InvoiceBounced",
        }
    }
}

impl fmt::Display for DomainEventType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for DomainEventType {
    type Err = UnknownDomainEventType;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|kind| kind.name() == text).ok_or(UnknownDomainEventType)
    }
}

/// What happened, with what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data", rename_all_fields = "camelCase")]
pub enum Happening {
    /// See [`DomainEventType::ParcelCreated`].
    ParcelCreated {},
    /// See [`DomainEventType::ParcelStatusChanged`].
    ParcelStatusChanged {
        /// Where the parcel is now.
        status: ParcelStatus,
        /// Where it was before.
        previous_status: ParcelStatus,
        /// When it got there, by the word of who reported it; the event's own time is when we were told.
        #[serde(with = "rfc3339")]
        occurred_at: Timestamp,
    },
    /// See [`DomainEventType::InvoiceRequested`].
    InvoiceRequested {
        /// Which invoice.
        invoice_id: InvoiceId,
        /// What people call it.
        invoice_number: InvoiceNumber,
    },
    /// See [`DomainEventType::InvoiceSent`].
    InvoiceSent {
        /// Which invoice.
        invoice_id: InvoiceId,
        /// What people call it.
        invoice_number: InvoiceNumber,
    },
    /// See [`DomainEventType::InvoiceFailed`].
    InvoiceFailed {
        /// Which invoice.
        invoice_id: InvoiceId,
        /// What people call it.
        invoice_number: InvoiceNumber,
    },
    /// See [`DomainEventType::InvoiceBounced`].
    InvoiceBounced {
        /// Which invoice.
        invoice_id: InvoiceId,
        /// What people call it.
        invoice_number: InvoiceNumber,
    },
}

impl Happening {
    /// Which kind of event this is.
    #[must_use]
    pub fn kind(&self) -> DomainEventType {
        match self {
            Self::ParcelCreated {} => DomainEventType::ParcelCreated,
            Self::ParcelStatusChanged { .. } => DomainEventType::ParcelStatusChanged,
            Self::InvoiceRequested { .. } => DomainEventType::InvoiceRequested,
            Self::InvoiceSent { .. } => DomainEventType::InvoiceSent,
            Self::InvoiceFailed { .. } => DomainEventType::InvoiceFailed,
            Self::InvoiceBounced { .. } => DomainEventType::InvoiceBounced,
        }
    }
}

/// One event, as it stands on the bus and in the body of a webhook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DomainEvent {
    /// Its id.
    pub id: DomainEventId,
    /// What happened.
    #[serde(flatten)]
    pub happening: Happening,
    /// The form of this event, [`DOMAIN_EVENT_VERSION`].
    pub version: u32,
    /// When it was written to our table.
    #[serde(with = "rfc3339")]
    pub timestamp: Timestamp,
    /// Its number among the events of its subject, from 1, without gaps.
    pub sequence: u64,
    /// The request from which it follows.
    pub correlation_id: RequestId,
    /// Whose parcel it is.
    pub owner: OwnerId,
    /// Which parcel.
    pub parcel_id: ParcelId,
    /// The parcel's number for people.
    pub tracking_number: TrackingNumber,
}

impl DomainEvent {
    /// Whose story it belongs to.
    #[must_use]
    pub fn subject(&self) -> Subject {
        match self.happening {
            Happening::ParcelCreated {} | Happening::ParcelStatusChanged { .. } => Subject::Parcel(self.parcel_id),
            Happening::InvoiceRequested { invoice_id, .. }
            | Happening::InvoiceSent { invoice_id, .. }
            | Happening::InvoiceFailed { invoice_id, .. }
            | Happening::InvoiceBounced { invoice_id, .. } => Subject::Invoice(invoice_id),
        }
    }
}

/// Moments as people and other systems write them; in our tables they are milliseconds.
mod rfc3339 {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    use crate::domain::Timestamp;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
    pub(super) fn serialize<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(time)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        let text = String::deserialize(deserializer)?;
        Timestamp::parse(&text).ok_or_else(|| D::Error::custom("no RFC 3339 time"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_is_flat_json_with_its_type_and_data_and_is_read_back() {
        let parcel_id = ParcelId(Uuid::nil());
        let event = DomainEvent {
            id: DomainEventId::new(Subject::Parcel(parcel_id), 2),
            happening: Happening::ParcelStatusChanged {
                status: ParcelStatus::InTransit,
                previous_status: ParcelStatus::Created,
                occurred_at: Timestamp::from_millis(1_000),
            },
            version: DOMAIN_EVENT_VERSION,
            timestamp: Timestamp::from_millis(2_000),
            sequence: 2,
            correlation_id: "a-request".parse().unwrap(),
            owner: "acme".parse().unwrap(),
            parcel_id,
            tracking_number: "LCL48291057".parse().unwrap(),
        };
        let written = serde_json::to_value(&event).unwrap();
        let expected = json!({
            "id": event.id,
            "type": "ParcelStatusChanged",
            "version": 1,
            "timestamp": "1970-01-01T00:00:02.000Z",
            "sequence": 2,
            "correlationId": "a-request",
            "owner": "acme",
            "parcelId": "00000000-0000-0000-0000-000000000000",
            "trackingNumber": "LCL48291057",
            "data": {
                "status": "InTransit",
                "previousStatus": "Created",
                "occurredAt": "1970-01-01T00:00:01.000Z",
            },
        });
        assert_eq!(written, expected);
        assert_eq!(serde_json::from_value::<DomainEvent>(written).unwrap(), event);
    }

    #[test]
    fn every_type_is_found_by_its_name() {
        for kind in DomainEventType::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
        assert!("parcelCreated".parse::<DomainEventType>().is_err());
    }

    #[test]
    fn a_parcels_events_and_its_invoices_have_ids_of_their_own() {
        let same = Uuid::nil();
        let (parcel, invoice) = (Subject::Parcel(ParcelId(same)), Subject::Invoice(InvoiceId(same)));
        let ids = [(parcel, 1), (parcel, 2), (invoice, 1)].map(|(subject, number)| DomainEventId::new(subject, number));
        assert!(ids[0] != ids[1] && ids[0] != ids[2]);
        assert_eq!(ids[0], DomainEventId::new(parcel, 1));
    }
}
