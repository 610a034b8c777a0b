//! An inbox without a page, for a test that brings its mail server into states that others must not see.

use std::net::Ipv4Addr;
use std::sync::Arc;

use anyhow::Result;
use tempfile::TempDir;
use tokio::net::TcpListener;

use super::{Inbox, MailSummary, ServerState};

/// A mail server of one's own on a free port. Dropping it stops it and forgets its mails.
pub struct OwnInbox {
    inbox: Arc<Inbox>,
    _mails: TempDir,
}

impl OwnInbox {
    /// Starts it; it takes mail.
    pub async fn start() -> Result<Self> {
        let mails = tempfile::tempdir()?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        Ok(Self { inbox: Inbox::start(listener, mails.path())?, _mails: mails })
    }

    /// Its address, such as `smtp://127.0.0.1:1025`.
    #[must_use]
    pub fn smtp_url(&self) -> String {
        format!("smtp://{}", self.inbox.smtp_address)
    }

    /// Brings it into this state; when this returns, it is there.
    pub async fn set_state(&self, state: ServerState) -> Result<()> {
        self.inbox.set_state(state).await
    }

    /// The mails it has taken, newest first.
    #[must_use]
    pub fn mails(&self) -> Vec<MailSummary> {
        self.inbox.store.summaries()
    }
}

impl Drop for OwnInbox {
    fn drop(&mut self) {
        self.inbox.close();
    }
}
