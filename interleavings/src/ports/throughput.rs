//! The figures of the queue: those of an idle one, since nothing that is looked at here depends on them.

use async_trait::async_trait;
use parceltrack::domain::{Provider, Slots};
use parceltrack::ports::{
    Backlog, History, MeasureBacklog, MeasureQueue, OpenInvoices, PortError, QueueDepth, ReadHistory, ReadProvider,
    ReadSends,
};

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

#[async_trait]
impl ReadProvider for Ports {
    async fn provider(&self) -> Result<Option<Provider>, PortError> {
        Ok(None)
    }
}

#[async_trait]
impl ReadHistory for Ports {
    async fn history(&self, _: Slots) -> Result<History, PortError> {
        Ok(History::default())
    }
}
