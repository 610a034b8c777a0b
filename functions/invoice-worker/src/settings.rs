//! What the worker must be told.

use std::time::Duration;

use parceltrack::domain::WorkerPace;
use parceltrack::mime::Sender;
use parceltrack::settings::{InvalidSetting, MailProvider, mail_provider, mail_rate, parsed, required, sender};

/// The numbers that the worker keeps to. They stand in template.yaml.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// How long a claim holds; shorter than the queue's visibility, longer than the function's time limit.
    pub lease: Duration,
    /// After how many receives the queue gives a ticket up.
    pub max_receives: u32,
    /// How fast this worker may mail.
    pub pace: WorkerPace,
    /// What the mailed link begins with.
    pub public_url: String,
}

/// The worker's settings, from the environment variables of the same names in capitals.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Table of invoices.
    pub invoices_table: String,
    /// Queue of tickets.
    pub tickets_queue_url: String,
    /// Queue of tickets that a person must look at.
    pub dead_letter_queue_url: String,
    /// Table of addresses that get no mail any more.
    pub suppressions_table: String,
    /// Table that counts sent mails.
    pub throughput_table: String,
    /// Bucket of PDFs.
    pub invoices_bucket: String,
    /// Who carries the mail.
    pub mail_provider: MailProvider,
    /// Who the mails come from.
    pub sender: Sender,
    /// The numbers to keep to.
    pub rules: Rules,
}

impl Settings {
    /// Reads them all, or says which one is missing or wrong.
    pub fn from_env() -> Result<Self, InvalidSetting> {
        let lease = Duration::from_secs(parsed("LEASE_SECONDS")?);
        if lease >= Duration::from_secs(parsed("VISIBILITY_SECONDS")?) {
            // A returning ticket would find the lease of its own dead worker alive.
            let problem = "must be below VISIBILITY_SECONDS".to_owned();
            return Err(InvalidSetting::Wrong { name: "LEASE_SECONDS", problem });
        }
        Ok(Self {
            invoices_table: required("INVOICES_TABLE")?,
            tickets_queue_url: required("TICKETS_QUEUE_URL")?,
            dead_letter_queue_url: required("DEAD_LETTER_QUEUE_URL")?,
            suppressions_table: required("SUPPRESSIONS_TABLE")?,
            throughput_table: required("THROUGHPUT_TABLE")?,
            invoices_bucket: required("INVOICES_BUCKET")?,
            mail_provider: mail_provider()?,
            sender: sender()?,
            rules: Rules {
                lease,
                max_receives: parsed("MAX_RECEIVE_COUNT")?,
                pace: mail_rate()?.of_one_worker(),
                public_url: required("PUBLIC_URL")?.trim_end_matches('/').to_owned(),
            },
        })
    }
}
