//! The bus on which others hear of domain events.

use async_trait::async_trait;
use aws_sdk_eventbridge::Client;
use aws_sdk_eventbridge::types::PutEventsRequestEntry;

use super::failure::{port_error, shown_code};
use crate::domain::{DomainEvent, DomainEventId};
use crate::ports::{PortError, PublishEvents};

/// Who says it: the `source` of all our events, by which rules tell them from those of others.
pub const EVENT_SOURCE: &str = "parceltrack";

/// An event bus of Amazon EventBridge. An event's `detail-type` is its type, its `detail` is the event. Ten of them are
/// far below what one call may weigh, since an event has no text of free length.
#[derive(Clone, Debug)]
pub struct EventBus {
    client: Client,
    name: String,
}

impl EventBus {
    /// The bus of this name.
    #[must_use]
    pub fn new(client: Client, name: String) -> Self {
        Self { client, name }
    }

    fn entry(&self, event: &DomainEvent) -> Result<PutEventsRequestEntry, PortError> {
        let detail =
            serde_json::to_string(event).map_err(|_| PortError::Broken("an event that has no JSON".to_owned()))?;
        let entry = PutEventsRequestEntry::builder()
            .event_bus_name(&self.name)
            .source(EVENT_SOURCE)
            .detail_type(event.happening.kind().name())
            .detail(detail);
        Ok(entry.build())
    }
}

#[async_trait]
impl PublishEvents for EventBus {
    async fn publish(&self, events: &[DomainEvent]) -> Result<Vec<DomainEventId>, PortError> {
        let entries = events.iter().map(|event| self.entry(event)).collect::<Result<Vec<_>, _>>()?;
        let answer =
            self.client.put_events().set_entries(Some(entries)).send().await.map_err(|error| port_error(&error))?;
        // In the order of the call. What the answer does not name as taken counts as refused: a second event with the
        // same id is harmless, a lost one is not.
        let mut answers = answer.entries.unwrap_or_default().into_iter();
        let mut refused = Vec::new();
        for event in events {
            let answer = answers.next();
            if answer.as_ref().is_none_or(|entry| entry.event_id.is_none()) {
                let code = answer.as_ref().and_then(|entry| entry.error_code.as_deref()).map(shown_code);
                tracing::warn!(event = "event_refused", id = %event.id, kind = %event.happening.kind(), code);
                refused.push(event.id);
            }
        }
        Ok(refused)
    }
}
