//! What others hear of.

use async_trait::async_trait;

use super::PortError;
use crate::domain::{DomainEvent, DomainEventId};

/// So many events one call publishes at most.
/// <https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html>
pub const EVENTS_AT_ONCE: usize = 10;

/// Puts events on the bus (domain-events).
#[async_trait]
pub trait PublishEvents: Send + Sync {
    /// At most [`EVENTS_AT_ONCE`]. Returns those that the bus did not take. If the answer is an error, it may have taken
    /// any of them.
    async fn publish(&self, events: &[DomainEvent]) -> Result<Vec<DomainEventId>, PortError>;
}
