//! What an operator has at hand: the ports, and the settings that lead to them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use aws_config::Region;
use aws_sdk_sqs::config::Credentials;
use parceltrack::aws::{
    ApiKeyTable, Clients, DeadLetterQueue, InvoiceTable, SuppressionTable, TicketQueue, WebhookDeliveryTable,
    WebhookEventQueue, WebhookTable, WebhookTicketQueue,
};
use parceltrack::clock::SystemClock;
use parceltrack::domain::AddressRule;
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
    /// With these settings.
    pub(crate) async fn open(settings: &Settings) -> Result<Self> {
        let invoices_table = settings.required("INVOICES_TABLE")?;
        let suppressions_table = settings.required("SUPPRESSIONS_TABLE")?;
        let tickets_queue = settings.required("TICKETS_QUEUE_URL")?;
        let dead_letter_queue = settings.required("DEAD_LETTER_QUEUE_URL")?;
        let clients = settings.clients().await;
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

/// The table of API keys, which needs no more than its own name.
pub(crate) async fn api_keys(settings: &Settings) -> Result<ApiKeyTable> {
    let name = settings.required("API_KEYS_TABLE")?;
    Ok(ApiKeyTable::new(settings.clients().await.dynamodb(), name))
}

/// What there is of webhooks.
pub(crate) struct WebhookDesk {
    /// The webhooks.
    pub(crate) webhooks: WebhookTable,
    /// Their deliveries.
    pub(crate) deliveries: WebhookDeliveryTable,
    /// The queue of tickets.
    pub(crate) tickets: WebhookTicketQueue,
    /// The queue of events, which takes wishes.
    pub(crate) events: WebhookEventQueue,
    /// Which addresses endpoints may have.
    pub(crate) addresses: AddressRule,
}

impl WebhookDesk {
    /// With these settings.
    pub(crate) async fn open(settings: &Settings) -> Result<Self> {
        let (webhooks, deliveries) =
            (settings.required("WEBHOOKS_TABLE")?, settings.required("WEBHOOK_DELIVERIES_TABLE")?);
        let (tickets, events) =
            (settings.required("WEBHOOK_TICKETS_QUEUE_URL")?, settings.required("WEBHOOK_EVENTS_QUEUE_URL")?);
        // Set on laptops alone; what calls endpoints asks for itself.
        let addresses = settings.optional("WEBHOOK_ALLOWED_PRIVATE").unwrap_or_default().parse()?;
        let clients = settings.clients().await;
        Ok(Self {
            webhooks: WebhookTable::for_deliveries(clients.dynamodb(), webhooks),
            deliveries: WebhookDeliveryTable::new(clients.dynamodb(), deliveries),
            tickets: WebhookTicketQueue::new(clients.sqs(), tickets),
            events: WebhookEventQueue::new(clients.sqs(), events),
            addresses,
        })
    }
}

/// The settings of a file and no others, or those of the environment.
pub(crate) struct Settings {
    file: Option<(PathBuf, BTreeMap<String, String>)>,
}

impl Settings {
    /// Of this file, or of the environment without one.
    pub(crate) fn read(env_file: Option<&Path>) -> Result<Self> {
        let file = env_file.map(|path| anyhow::Ok((path.to_owned(), read_settings(path)?))).transpose()?;
        Ok(Self { file })
    }

    fn optional(&self, name: &str) -> Option<String> {
        match &self.file {
            Some((_, file)) => file.get(name).cloned(),
            None => std::env::var(name).ok(),
        }
    }

    fn required(&self, name: &str) -> Result<String> {
        self.optional(name).filter(|value| !value.is_empty()).with_context(|| match &self.file {
            Some((path, _)) => format!("{name} is not in {}", path.display()),
            None => format!("{name} is not set: set it, or name a file with --env-file"),
        })
    }

    async fn clients(&self) -> Clients {
        let mut loader = aws_config::from_env();
        if self.file.is_some() {
            if let Some(endpoint) = self.optional("AWS_ENDPOINT_URL") {
                loader = loader.endpoint_url(endpoint);
            }
            if let Some(region) = self.optional("AWS_REGION").or_else(|| self.optional("AWS_DEFAULT_REGION")) {
                loader = loader.region(Region::new(region));
            }
            if let (Some(key), Some(secret)) =
                (self.optional("AWS_ACCESS_KEY_ID"), self.optional("AWS_SECRET_ACCESS_KEY"))
            {
                let token = self.optional("AWS_SESSION_TOKEN");
                loader = loader.credentials_provider(Credentials::new(key, secret, token, None, "env-file"));
            }
        }
        Clients::load(loader).await
    }
}

/// `NAME=value`, one a line; empty lines and those that begin with `#` say nothing. A value may stand in quotes, within which
/// nothing is expanded.
pub fn read_settings(file: &Path) -> Result<BTreeMap<String, String>> {
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
        settings.insert(name.trim().to_owned(), unquoted(value.trim()).to_owned());
    }
    Ok(settings)
}

fn unquoted(value: &str) -> &str {
    let between = |quote| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    between('\'').or_else(|| between('"')).unwrap_or(value)
}
