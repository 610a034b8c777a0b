//! One event on its way to one endpoint.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::super::{
    DomainEventType, FIRST_DUE, InvoiceId, Lease, ParcelId, Subject, Timestamp, UnknownDomainEventType, foreign_words,
};
use super::WebhookKey;
use super::test_event::webhook_test_body;

/// How many attempts a delivery remembers.
const MAX_ATTEMPTS: usize = 10;

/// How much of an endpoint's answer is kept, in bytes.
pub const MAX_RESPONSE_START: usize = 256;

/// For how long a delivery is kept after its end.
pub const WEBHOOK_DELIVERY_LIFETIME: Duration = Duration::from_hours(30 * 24);

/// Whose story a delivery belongs to. Those of one subject reach an endpoint one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeliverySubject {
    /// A parcel, or a parcel's invoice.
    Event(Subject),
    /// A test, which is a story of its own.
    Test(Uuid),
}

impl fmt::Display for DeliverySubject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(Subject::Parcel(id)) => write!(formatter, "parcel-{id}"),
            Self::Event(Subject::Invoice(id)) => write!(formatter, "invoice-{id}"),
            Self::Test(id) => write!(formatter, "test-{id}"),
        }
    }
}

/// The id of a delivery among those of its webhook: subject and number, such as `parcel-3f0c…-2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DeliveryId {
    /// Whose story.
    pub subject: DeliverySubject,
    /// The event's number in it, from 1.
    pub sequence: u64,
}

/// The text is no id of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be the id of a delivery")]
pub struct InvalidDeliveryId;

impl DeliveryId {
    /// A text by which those of a subject sort in their order: all numbers are equally long.
    #[must_use]
    pub fn sort_key(self) -> String {
        format!("{}-{:020}", self.subject, self.sequence)
    }

    /// A number from 0 below `shards`. Ids are random or derived by hashing, so their last byte spreads evenly.
    #[must_use]
    pub fn shard(self, shards: u8) -> u8 {
        let id = match self.subject {
            DeliverySubject::Event(Subject::Parcel(ParcelId(id)) | Subject::Invoice(InvoiceId(id)))
            | DeliverySubject::Test(id) => id,
        };
        id.as_bytes()[15] % shards
    }
}

impl fmt::Display for DeliveryId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", self.subject, self.sequence)
    }
}

impl FromStr for DeliveryId {
    type Err = InvalidDeliveryId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (subject, sequence) = text.rsplit_once('-').ok_or(InvalidDeliveryId)?;
        let (kind, id) = subject.split_once('-').ok_or(InvalidDeliveryId)?;
        if id.len() != uuid::fmt::Hyphenated::LENGTH || !sequence.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(InvalidDeliveryId);
        }
        let id: Uuid = id.parse().map_err(|_| InvalidDeliveryId)?;
        let subject = match kind {
            "parcel" => DeliverySubject::Event(Subject::Parcel(ParcelId(id))),
            "invoice" => DeliverySubject::Event(Subject::Invoice(InvoiceId(id))),
            "test" => DeliverySubject::Test(id),
            _ => return Err(InvalidDeliveryId),
        };
        Ok(Self { subject, sequence: sequence.parse().map_err(|_| InvalidDeliveryId)? })
    }
}

impl TryFrom<String> for DeliveryId {
    type Error = InvalidDeliveryId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<DeliveryId> for String {
    fn from(id: DeliveryId) -> Self {
        id.to_string()
    }
}

/// What kind of event is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum WebhookEventType {
    /// Something happened.
    Event(DomainEventType),
    /// Somebody wants to see whether the endpoint works.
    Test,
}

impl WebhookEventType {
    const TEST: &'static str = "WebhookTest";

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Event(kind) => kind.name(),
            Self::Test => Self::TEST,
        }
    }
}

impl TryFrom<String> for WebhookEventType {
    type Error = UnknownDomainEventType;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text == Self::TEST { Ok(Self::Test) } else { text.parse().map(Self::Event) }
    }
}

impl From<WebhookEventType> for String {
    fn from(kind: WebhookEventType) -> Self {
        kind.name().to_owned()
    }
}

/// How far a delivery is, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WebhookDeliveryStatus {
    /// It is on its way.
    Pending,
    /// The endpoint has it.
    Delivered,
    /// The endpoint did not take it, however often.
    Failed,
    /// Its webhook was deleted or switched off.
    Withdrawn,
}

impl WebhookDeliveryStatus {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Pending, Self::Delivered, Self::Failed, Self::Withdrawn];

    /// Its name in the API and in the table.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Delivered => "Delivered",
            Self::Failed => "Failed",
            Self::Withdrawn => "Withdrawn",
        }
    }
}

/// How far a delivery is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookDeliveryState {
    /// It is on its way.
    Pending {
        /// Not before then is it tried.
        next_attempt_at: Timestamp,
        /// When somebody must look, whatever became of its ticket.
        due: Timestamp,
    },
    /// The endpoint has it.
    Delivered {
        /// Since when.
        at: Timestamp,
    },
    /// The last attempt failed.
    Failed {
        /// When.
        at: Timestamp,
    },
    /// Its webhook was deleted or switched off.
    Withdrawn {
        /// When that was found out.
        at: Timestamp,
    },
}

impl WebhookDeliveryState {
    /// In one word.
    #[must_use]
    pub fn status(self) -> WebhookDeliveryStatus {
        match self {
            Self::Pending { .. } => WebhookDeliveryStatus::Pending,
            Self::Delivered { .. } => WebhookDeliveryStatus::Delivered,
            Self::Failed { .. } => WebhookDeliveryStatus::Failed,
            Self::Withdrawn { .. } => WebhookDeliveryStatus::Withdrawn,
        }
    }

    /// When it came to its end, if it has.
    #[must_use]
    pub fn ended_at(self) -> Option<Timestamp> {
        match self {
            Self::Pending { .. } => None,
            Self::Delivered { at } | Self::Failed { at } | Self::Withdrawn { at } => Some(at),
        }
    }
}

/// Why a delivery is tried next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Occasion {
    /// The event happened, or an attempt failed.
    Event,
    /// A person asked, and does not wait until the endpoint has rested.
    Request,
}

/// Why an endpoint gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallError {
    /// Nothing within the time there is.
    TimedOut,
    /// Its name has no address.
    CouldNotResolve,
    /// It has no address that may be called.
    AddressForbidden,
    /// Nobody listens there.
    CouldNotConnect,
    /// Its certificate is not good for its name, or it speaks no TLS of today.
    TlsFailed,
    /// The connection broke, or what came was no HTTP.
    ConnectionLost,
}

impl CallError {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::TimedOut,
        Self::CouldNotResolve,
        Self::AddressForbidden,
        Self::CouldNotConnect,
        Self::TlsFailed,
        Self::ConnectionLost,
    ];
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum AttemptEnd {
    /// With an answer.
    Answered {
        /// Its status.
        status: u16,
        /// The beginning of its body, at most [`MAX_RESPONSE_START`] bytes, made text.
        response_start: String,
    },
    /// Without one.
    Unanswered {
        /// Why.
        error: CallError,
    },
}

impl AttemptEnd {
    /// An answer with a body that begins so. What is no text in it, or would move a cursor, becomes U+FFFD.
    #[must_use]
    pub fn answered(status: u16, body: &[u8]) -> Self {
        let start = &body[..body.len().min(MAX_RESPONSE_START)];
        let response_start = foreign_words(&String::from_utf8_lossy(start).replace("\r\n", "\n"));
        Self::Answered { status, response_start }
    }

    /// Whether the endpoint has taken the event: 2xx and nothing else.
    #[must_use]
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Answered { status: 200..=299, .. })
    }

    /// Whether the endpoint says that it wants no more.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Answered { status: 410, .. })
    }
}

/// One call of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookAttempt {
    /// When it began.
    pub at: Timestamp,
    /// How long it took, in milliseconds.
    pub duration_millis: u64,
    /// How it ended.
    pub end: AttemptEnd,
}

/// One event on its way to one endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookDelivery {
    /// To whom.
    pub webhook: WebhookKey,
    /// Which of theirs.
    pub id: DeliveryId,
    /// The event's id, by which the endpoint knows a repeat.
    pub event_id: Uuid,
    /// The event's kind.
    pub event_type: WebhookEventType,
    /// What is sent, the same bytes at every attempt.
    pub body: String,
    /// How far it is.
    pub state: WebhookDeliveryState,
    /// Why it is tried next.
    pub occasion: Occasion,
    /// How many attempts have failed since it was last begun.
    pub failures: u32,
    /// The last attempts, oldest first.
    pub attempts: Vec<WebhookAttempt>,
    /// How many there were.
    pub attempt_count: u32,
    /// Who is working on it.
    pub lease: Option<Lease>,
    /// When we heard of the event.
    pub created_at: Timestamp,
}

impl WebhookDelivery {
    /// A test with this id, which a person asks for.
    #[must_use]
    pub fn of_test(event_id: Uuid, webhook: WebhookKey, now: Timestamp) -> Self {
        Self {
            id: DeliveryId { subject: DeliverySubject::Test(event_id), sequence: 1 },
            event_id,
            event_type: WebhookEventType::Test,
            body: webhook_test_body(event_id, &webhook, now),
            state: WebhookDeliveryState::Pending { next_attempt_at: now, due: now + FIRST_DUE },
            occasion: Occasion::Request,
            failures: 0,
            attempts: vec![],
            attempt_count: 0,
            lease: None,
            created_at: now,
            webhook,
        }
    }

    /// The attempts with one more, without the oldest if there are too many.
    #[must_use]
    pub fn attempts_with(&self, attempt: WebhookAttempt) -> Vec<WebhookAttempt> {
        let too_many = (self.attempts.len() + 1).saturating_sub(MAX_ATTEMPTS);
        self.attempts.iter().skip(too_many).cloned().chain([attempt]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_back_and_sorts_by_its_number() {
        let id = Uuid::from_u128(7);
        for subject in [
            DeliverySubject::Event(Subject::Parcel(ParcelId(id))),
            DeliverySubject::Event(Subject::Invoice(InvoiceId(id))),
            DeliverySubject::Test(id),
        ] {
            let ids = [1, 2, 10, u64::MAX].map(|sequence| DeliveryId { subject, sequence });
            for id in ids {
                assert_eq!(id.to_string().parse(), Ok(id));
                assert_eq!(id.sort_key().parse(), Ok(id));
            }
            assert!(ids.map(DeliveryId::sort_key).is_sorted());
        }
        for text in [
            "",
            "parcel",
            "parcel-1",
            "parcel--1",
            &format!("shop-{id}-1"),
            &format!("parcel-{id}-"),
            &format!("parcel-{id}-+1"),
            &format!("parcel-{}-1", id.simple()),
            &format!("parcel-{id}-99999999999999999999"),
        ] {
            assert_eq!(text.parse::<DeliveryId>(), Err(InvalidDeliveryId), "{text}");
        }
    }

    #[test]
    fn a_success_is_2xx_and_nothing_else() {
        for (status, success) in [
            (100, false),
            (199, false),
            (200, true),
            (204, true),
            (299, true),
            (300, false),
            (302, false),
            (304, false),
            (400, false),
            (410, false),
            (500, false),
        ] {
            let end = AttemptEnd::answered(status, b"");
            assert_eq!((end.is_success(), end.is_gone()), (success, status == 410), "{status}");
        }
        assert!(!AttemptEnd::Unanswered { error: CallError::TimedOut }.is_success());
    }

    #[test]
    fn the_beginning_of_an_answer_is_text_whatever_it_was() {
        let start = |body: &[u8]| match AttemptEnd::answered(200, body) {
            AttemptEnd::Answered { response_start, .. } => response_start,
            AttemptEnd::Unanswered { .. } => panic!("unanswered"),
        };
        assert_eq!(start("{\"é\": 1}\r\n".as_bytes()), "{\"é\": 1}\n");
        assert_eq!(start(b"a\xff\x1b[2Jb\0"), "a\u{fffd}\u{fffd}[2Jb\u{fffd}");
        assert_eq!(start(&[b'x'; 1000]).len(), MAX_RESPONSE_START);
        // Cut in the middle of a character.
        assert!(start("é".repeat(300).as_bytes()).chars().count() <= MAX_RESPONSE_START);
    }
}
