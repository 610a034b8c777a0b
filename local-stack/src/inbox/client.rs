//! The inbox as tests, smoke and drill see it: over HTTP, whichever process runs it.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use reqwest::Client;
use serde::de::DeserializeOwned;
use tokio::time::{Instant, timeout};

use super::web::Version;
use super::{Mail, MailSummary, Server, ServerState};

/// Talks to an inbox.
#[derive(Clone, Debug)]
pub struct InboxClient {
    url: String,
    http: Client,
}

impl InboxClient {
    /// A client of the inbox at `url`, such as `http://127.0.0.1:8025`.
    #[must_use]
    pub fn new(url: &str) -> Self {
        Self { url: url.trim_end_matches('/').to_owned(), http: Client::new() }
    }

    /// All mails, newest first.
    pub async fn mails(&self) -> Result<Vec<MailSummary>> {
        self.get("/api/mails").await
    }

    /// One mail with its parts, headers and source.
    pub async fn mail(&self, id: u64) -> Result<Mail> {
        self.get(&format!("/api/mails/{id}")).await
    }

    /// Throws all mails away.
    pub async fn clear(&self) -> Result<()> {
        let request = self.http.delete(format!("{}/api/mails", self.url));
        request.send().await?.error_for_status()?;
        Ok(())
    }

    /// What the mail server does at present.
    pub async fn server_state(&self) -> Result<ServerState> {
        let server: Server = self.get("/api/server").await?;
        Ok(server.state)
    }

    /// Stops, starts or hangs the mail server; when this returns, it is so.
    pub async fn set_server_state(&self, state: ServerState) -> Result<()> {
        let request = self.http.post(format!("{}/api/server", self.url));
        let answer = request.json(&Server { state }).send().await?;
        if !answer.status().is_success() {
            bail!("the inbox cannot do that: {}", answer.text().await?);
        }
        Ok(())
    }

    /// Waits for a mail that is `wanted`, told of each arrival by the inbox itself.
    pub async fn wait_for_mail(&self, wanted: impl Fn(&MailSummary) -> bool, patience: Duration) -> Result<Mail> {
        let found = self
            .wait_until(patience, |mails| mails.iter().find(|mail| wanted(mail)).cloned())
            .await
            .context("waiting for a mail")?;
        self.mail(found.id).await
    }

    /// Waits until `look` finds what it looks for among the mails.
    pub async fn wait_until<T>(&self, patience: Duration, look: impl Fn(&[MailSummary]) -> Option<T>) -> Result<T> {
        let end = Instant::now() + patience;
        let mut version: Version = self.get("/api/changes").await?;
        loop {
            let mails = self.mails().await?;
            if let Some(found) = look(&mails) {
                return Ok(found);
            }
            let path = format!("/api/changes?after={}", version.version);
            let left = end.saturating_duration_since(Instant::now());
            match timeout(left, self.get(&path)).await {
                Ok(changed) => version = changed?,
                Err(_) => bail!("not there after {} s; the inbox has {} mails", patience.as_secs(), mails.len()),
            }
        }
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        let url = format!("{}{path}", self.url);
        let answer = self.http.get(&url).send().await;
        let answer = answer.with_context(|| format!("the inbox at {} does not answer", self.url))?;
        Ok(answer.error_for_status()?.json().await?)
    }
}
