//! The figures of the queue: those of an idle one, since nothing that is looked at here depends on them.

use async_trait::async_trait;
use parceltrack::domain::Slots;
use parceltrack::ports::{Backlog, MeasureBacklog, MeasureQueue, OpenInvoices, PortError, QueueDepth, ReadSends};

use super::Ports;

#[async_trait]
impl MeasureBacklog for Ports {
    async fn backlog(&self) -> Result<Backlog, PortError> {
        Ok(Backlog { open: OpenInvoices::Exactly(0), oldest: None })
    }
}

#[async_trait]
impl MeasureQueue for Ports {
    async fn depth(&self) -> Result<QueueDepth, PortError> {
        Ok(QueueDepth::default())
    }
}

#[async_trait]
impl ReadSends for Ports {
    async fn sent_in(&self, _: Slots) -> Result<u64, PortError> {
        Ok(0)
    }
}
