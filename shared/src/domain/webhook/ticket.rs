//! The messages between the functions of webhooks. A ticket names its delivery and nothing else; the table is the one
//! source of truth.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::super::{DomainEvent, Timestamp};
use super::{DeliveryId, WebhookKey};

/// A request to bring one delivery further. May arrive twice, late, or for one that is at its end.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookTicket {
    /// To whom.
    #[serde(flatten)]
    pub webhook: WebhookKey,
    /// Which of theirs.
    pub delivery_id: DeliveryId,
}

/// The message is of no form that we know, and never will be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unreadable: {0}")]
pub struct InvalidWebhookMessage(String);

impl InvalidWebhookMessage {
    pub(super) fn of(error: &serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

impl WebhookTicket {
    /// Reads a message's body.
    pub fn parse(body: &str) -> Result<Self, InvalidWebhookMessage> {
        serde_json::from_str(body).map_err(|error| InvalidWebhookMessage::of(&error))
    }

    /// The message's body.
    ///
    /// # Panics
    /// Never: ids always have a JSON form.
    #[must_use]
    pub fn to_body(&self) -> String {
        serde_json::to_string(self).expect("ids in JSON")
    }
}

/// The id of a wish to send again, by which a delivery knows that it was reopened for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResendId(pub Uuid);

/// Which deliveries are sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ResendWhich {
    /// Those that failed or were withdrawn.
    Undelivered,
    /// The delivered ones as well.
    All,
}

/// A wish to send again what came since a time. Worked off page by page: each page sends the wish on, with the place
/// that it has come to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResendWish {
    /// Its id.
    pub resend_id: ResendId,
    /// Whose deliveries.
    #[serde(flatten)]
    pub webhook: WebhookKey,
    /// Of events that we heard of from then on,
    pub since: Timestamp,
    /// until then.
    pub until: Timestamp,
    /// Which of them.
    pub which: ResendWhich,
    /// The last delivery that has been dealt with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<(Timestamp, DeliveryId)>,
}

impl ResendWish {
    /// The message's body.
    ///
    /// # Panics
    /// Never: ids and times always have a JSON form.
    #[must_use]
    pub fn to_body(&self) -> String {
        serde_json::to_string(&Envelope { resend: Some(self.clone()), ..Envelope::default() })
            .expect("ids and times in JSON")
    }
}

/// What comes to the fan-out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventMessage {
    /// Something happened.
    Event(Box<DomainEvent>),
    /// Something is to be sent again.
    Resend(ResendWish),
}

/// What a message has in it: the bus puts an event into an envelope of its own, with more around it.
#[derive(Default, Serialize, Deserialize)]
struct Envelope {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    detail: Option<Box<DomainEvent>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resend: Option<ResendWish>,
}

/// Reads a message to the fan-out: EventBridge's envelope around an event, or a wish of the API's.
pub fn parse_event_message(body: &str) -> Result<EventMessage, InvalidWebhookMessage> {
    let envelope: Envelope = serde_json::from_str(body).map_err(|error| InvalidWebhookMessage::of(&error))?;
    match (envelope.detail, envelope.resend) {
        (Some(event), None) => Ok(EventMessage::Event(event)),
        (None, Some(wish)) => Ok(EventMessage::Resend(wish)),
        _ => Err(InvalidWebhookMessage("neither an event nor a wish".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::OwnerId;
    use super::super::{DeliverySubject, WebhookId};
    use super::*;

    fn key() -> WebhookKey {
        WebhookKey { owner: OwnerId::house(), webhook_id: WebhookId(Uuid::nil()) }
    }

    #[test]
    fn a_ticket_is_ids_and_is_read_back() {
        let id = DeliveryId { subject: DeliverySubject::Test(Uuid::nil()), sequence: 1 };
        let ticket = WebhookTicket { webhook: key(), delivery_id: id };
        assert_eq!(WebhookTicket::parse(&ticket.to_body()), Ok(ticket));
        for body in ["", "{}", "null", r#"{"invoiceId":"11111111-1111-4111-8111-111111111111"}"#] {
            assert!(WebhookTicket::parse(body).is_err(), "{body}");
        }
    }

    #[test]
    fn the_fan_out_reads_the_buss_envelope_and_the_apis_wishes() {
        let event = json!({
            "id": Uuid::nil(), "type": "ParcelCreated", "version": 1, "timestamp": "2026-11-30T00:00:00.000Z",
            "sequence": 1, "correlationId": "a", "owner": "acme", "parcelId": Uuid::nil(),
            "trackingNumber": "LCL48291057", "data": {},
        });
        let envelope =
            json!({"version": "0", "source": "parceltrack", "detail-type": "ParcelCreated", "detail": event});
        let EventMessage::Event(read) = parse_event_message(&envelope.to_string()).unwrap() else { panic!("a wish") };
        assert_eq!(serde_json::to_value(&read).unwrap(), event);

        let (since, until) = (Timestamp::from_millis(1), Timestamp::from_millis(2));
        let which = ResendWhich::Undelivered;
        let wish = ResendWish { resend_id: ResendId(Uuid::nil()), webhook: key(), since, until, which, after: None };
        assert_eq!(parse_event_message(&wish.to_body()), Ok(EventMessage::Resend(wish)));
        for body in ["", "{}", "[]", r#"{"detail":{}}"#, r#"{"detail":null}"#] {
            assert!(parse_event_message(body).is_err(), "{body}");
        }
    }
}
