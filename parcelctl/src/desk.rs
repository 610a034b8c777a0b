//! What an operator has at hand: the ports, and the settings that lead to them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use aws_config::Region;
use aws_sdk_sqs::config::Credentials;
use parceltrack::aws::{Clients, DeadLetterQueue, InvoiceTable, SuppressionTable, TicketQueue};
use parceltrack::clock::SystemClock;
use parceltrack::ports::{
    Clock, NoteDrops, ReadInvoices, ReadSuppressions, RemoveSuppression, ReopenInvoices, SendTicket, TakeDeadLetters,
};

/// The ports of an operator.
pub struct Desk {
    /// Reads invoices.
    pub invoices: Arc<dyn ReadInvoices>,
    /// Opens them again.
    pub reopening: Arc<dyn ReopenInvoices>,
    /// Notes on them what was given up.
    pub notes: Arc<dyn NoteDrops>,
    /// Looks through the dead letters.
    pub letters: Arc<dyn TakeDeadLetters>,
    /// Puts tickets on the queue.
    pub tickets: Arc<dyn SendTicket>,
    /// Tells who gets no mail.
    pub suppressions: Arc<dyn ReadSuppressions>,
    /// Allows mail again.
    pub unsuppress: Arc<dyn RemoveSuppression>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
}

impl Desk {
    /// With the settings of this file and no others, or with those of the environment.
    pub(crate) async fn open(env_file: Option<&Path>) -> Result<Self> {
        let file = env_file.map(read).transpose()?;
        let setting = |name: &str| match &file {
            Some(file) => file.get(name).cloned(),
            None => std::env::var(name).ok(),
        };
        let required = |name: &str| {
            setting(name).filter(|value| !value.is_empty()).with_context(|| match env_file {
                Some(file) => format!("{name} is not in {}", file.display()),
                None => format!("{name} is not set: set it, or name a file with --env-file"),
            })
        };
        let invoices_table = required("INVOICES_TABLE")?;
        let suppressions_table = required("SUPPRESSIONS_TABLE")?;
        let tickets_queue = required("TICKETS_QUEUE_URL")?;
        let dead_letter_queue = required("DEAD_LETTER_QUEUE_URL")?;

        let mut loader = aws_config::from_env();
        if file.is_some() {
            if let Some(endpoint) = setting("AWS_ENDPOINT_URL") {
                loader = loader.endpoint_url(endpoint);
            }
            if let Some(region) = setting("AWS_REGION").or_else(|| setting("AWS_DEFAULT_REGION")) {
                loader = loader.region(Region::new(region));
            }
            if let (Some(key), Some(secret)) = (setting("AWS_ACCESS_KEY_ID"), setting("AWS_SECRET_ACCESS_KEY")) {
                let token = setting("AWS_SESSION_TOKEN");
                loader = loader.credentials_provider(Credentials::new(key, secret, token, None, "env-file"));
            }
        }
        let clients = Clients::load(loader).await;
        let invoices = Arc::new(InvoiceTable::new(clients.dynamodb(), invoices_table));
        let suppressions = Arc::new(SuppressionTable::new(clients.dynamodb(), suppressions_table));
        Ok(Self {
            reopening: invoices.clone(),
            notes: invoices.clone(),
            invoices,
            letters: Arc::new(DeadLetterQueue::new(clients.sqs(), dead_letter_queue)),
            tickets: Arc::new(TicketQueue::new(clients.sqs(), tickets_queue)),
            suppressions: suppressions.clone(),
            unsuppress: suppressions,
            clock: Arc::new(SystemClock),
        })
    }
}

/// `NAME=value`, one a line; empty lines and those that begin with `#` say nothing.
fn read(file: &Path) -> Result<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut settings = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((name, value)) = line.split_once('=') else {
            bail!("line {} of {} is not NAME=value", number + 1, file.display());
        };
        settings.insert(name.trim().to_owned(), value.trim().to_owned());
    }
    Ok(settings)
}
