//! Ctrl-C and its relatives.

use anyhow::{Result, bail};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Waits for the wish that this process end.
pub(crate) struct Interrupt {
    signals: [Signal; 3],
}

impl Interrupt {
    pub(crate) fn new() -> Result<Self> {
        let signals = [
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
            // The terminal's window was closed.
            signal(SignalKind::hangup())?,
        ];
        Ok(Self { signals })
    }

    pub(crate) async fn wait(&mut self) {
        let [interrupt, terminate, hangup] = &mut self.signals;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}

/// Runs `work`; Ctrl-C drops it, and with it every process it has started.
pub(crate) async fn interruptible<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let mut interrupt = Interrupt::new()?;
    tokio::select! {
        result = work => result,
        () = interrupt.wait() => bail!("interrupted"),
    }
}
