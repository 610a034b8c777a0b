//! The figures of the queue, for which nobody asks in this world.

use async_trait::async_trait;
use parceltrack::domain::Slots;
use parceltrack::ports::{Backlog, MeasureBacklog, MeasureQueue, PortError, QueueDepth, ReadSends};

use super::Ports;

fn unasked<T>() -> Result<T, PortError> {
    Err(PortError::Broken("nobody watches the queue in this world".to_owned()))
}

#[async_trait]
impl MeasureBacklog for Ports {
    async fn backlog(&self) -> Result<Backlog, PortError> {
        unasked()
    }
}

#[async_trait]
impl MeasureQueue for Ports {
    async fn depth(&self) -> Result<QueueDepth, PortError> {
        unasked()
    }
}

#[async_trait]
impl ReadSends for Ports {
    async fn sent_in(&self, _: Slots) -> Result<u64, PortError> {
        unasked()
    }
}
