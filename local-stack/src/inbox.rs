//! The mail server of the local stack: SMTP on one port, a page and a JSON API on another.
//!
//! Guarantee: a mail that was answered with 250 is on disk, and it is listed exactly once. A stopped
//! server refuses connections and has closed the ones it had, so nothing is delivered "in between".

mod client;
mod own;
mod smtp;
mod store;
mod web;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

pub use client::InboxClient;
pub use own::OwnInbox;
pub use store::{Header, Mail, MailSummary};

use store::Store;

/// What the SMTP server does with those who connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ServerState {
    /// Takes mail.
    Running,
    /// The port is closed: connections are refused.
    Stopped,
    /// Accepts connections and never answers `DATA`, like a server that hangs.
    Hanging,
    /// Refuses every recipient for good (550).
    Rejecting,
    /// Refuses every recipient for now (451).
    PuttingOff,
    /// Takes mail, but only after a while.
    Slow,
    /// Takes mail and hangs up before it has said so.
    HangingUp,
    /// Takes mail, and says so in no form that anybody knows, with all that it was told.
    Garbling,
    /// Takes mail and hangs up in the middle of saying so, with all that it was told.
    CuttingShort,
    /// Takes mail and says so in more than 10 MB.
    Flooding,
    /// Refuses each mail for good (554), and quotes it.
    Quoting,
}

/// Body of `GET` and `POST /api/server`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Server {
    /// The state it is in, or should go to.
    pub state: ServerState,
}

/// The mail server and the mails it has taken.
pub(crate) struct Inbox {
    store: Arc<Store>,
    smtp_address: SocketAddr,
    server: Mutex<RunningServer>,
}

struct RunningServer {
    state: ServerState,
    task: Option<JoinHandle<()>>,
}

impl Inbox {
    /// Opens the mails kept in `mails` and starts the SMTP server on `listener`.
    pub(crate) fn start(listener: TcpListener, mails: &Path) -> Result<Arc<Self>> {
        let store = Arc::new(Store::open(mails)?);
        let smtp_address = listener.local_addr()?;
        let task = tokio::spawn(smtp::serve(listener, Arc::clone(&store), ServerState::Running));
        let server = RunningServer { state: ServerState::Running, task: Some(task) };
        Ok(Arc::new(Self { store, smtp_address, server: Mutex::new(server) }))
    }

    /// Serves the page and the JSON API until the returned task is aborted.
    pub(crate) fn serve_page(self: &Arc<Self>, listener: TcpListener) -> JoinHandle<()> {
        web::serve(listener, Arc::clone(self))
    }

    /// Stops the SMTP server for good.
    pub(crate) fn close(&self) {
        // Whoever holds the lock is about to bring the server into another state, in a runtime that ends.
        if let Ok(mut server) = self.server.try_lock()
            && let Some(task) = server.task.take()
        {
            task.abort();
        }
    }

    async fn state(&self) -> ServerState {
        self.server.lock().await.state
    }

    /// Brings the SMTP server into `state`; when this returns, it is there.
    pub(crate) async fn set_state(&self, state: ServerState) -> Result<()> {
        let mut server = self.server.lock().await;
        if server.state == state {
            return Ok(());
        }
        if let Some(task) = server.task.take() {
            task.abort();
            // Only when the task has ended are its listener and its sessions closed.
            task.await.ok();
        }
        server.state = ServerState::Stopped;
        if state != ServerState::Stopped {
            let listener = TcpListener::bind(self.smtp_address)
                .await
                .with_context(|| format!("cannot open {} again", self.smtp_address))?;
            server.task = Some(tokio::spawn(smtp::serve(listener, Arc::clone(&self.store), state)));
            server.state = state;
        }
        self.store.note_change();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
