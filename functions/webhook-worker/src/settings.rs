//! What the worker must be told.

use std::time::Duration;

use parceltrack::domain::AddressRule;
use parceltrack::mime::Sender;
use parceltrack::settings::{
    InvalidSetting, MailProvider, mail_provider, mail_rate, parsed, required, sender, webhook_addresses,
};

/// The numbers that the worker keeps to. They stand in template.yaml.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// How long a claim holds; shorter than the queue's visibility, longer than the function's time limit.
    pub lease: Duration,
    /// After how many receives the queue gives a ticket up.
    pub max_receives: u32,
    /// From one mail to a merchant to the next, of all workers.
    pub notice_interval: Duration,
    /// What the mailed link begins with.
    pub public_url: String,
}

/// The worker's settings, from the environment variables of the same names in capitals.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Table of webhooks.
    pub webhooks_table: String,
    /// Table of their deliveries.
    pub webhook_deliveries_table: String,
    /// Queue of tickets.
    pub webhook_tickets_queue_url: String,
    /// Queue of messages that a person must look at.
    pub webhook_dead_letter_queue_url: String,
    /// Table of addresses that get no mail any more.
    pub suppressions_table: String,
    /// Who carries the mail.
    pub mail_provider: MailProvider,
    /// Who the mails come from.
    pub sender: Sender,
    /// Which addresses may be called.
    pub addresses: AddressRule,
    /// The numbers to keep to.
    pub rules: Rules,
}

impl Settings {
    /// Reads them all, or says which one is missing or wrong.
    pub fn from_env() -> Result<Self, InvalidSetting> {
        let lease = Duration::from_secs(parsed("WEBHOOK_LEASE_SECONDS")?);
        if lease >= Duration::from_secs(parsed("WEBHOOK_VISIBILITY_SECONDS")?) {
            // A returning ticket would find the lease of its own dead worker alive.
            let problem = "must be below WEBHOOK_VISIBILITY_SECONDS".to_owned();
            return Err(InvalidSetting::Wrong { name: "WEBHOOK_LEASE_SECONDS", problem });
        }
        Ok(Self {
            webhooks_table: required("WEBHOOKS_TABLE")?,
            webhook_deliveries_table: required("WEBHOOK_DELIVERIES_TABLE")?,
            webhook_tickets_queue_url: required("WEBHOOK_TICKETS_QUEUE_URL")?,
            webhook_dead_letter_queue_url: required("WEBHOOK_DEAD_LETTER_QUEUE_URL")?,
            suppressions_table: required("SUPPRESSIONS_TABLE")?,
            mail_provider: mail_provider()?,
            sender: sender()?,
            addresses: webhook_addresses()?,
            rules: Rules {
                lease,
                max_receives: parsed("MAX_RECEIVE_COUNT")?,
                notice_interval: mail_rate()?.notice_interval(),
                public_url: required("PUBLIC_URL")?.trim_end_matches('/').to_owned(),
            },
        })
    }
}
