//! Settings from the environment, read once at start. A function with a setting missing or wrong does not start.

use std::env;
use std::str::FromStr;

use crate::domain::{AddressRule, InvalidAddressRule, MailRate};
use crate::mime::Sender;

/// Whom the customer sees as the sender.
const SENDER_NAME: &str = "Lion City Logistics";

/// Which mail provider carries the invoices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MailProvider {
    /// Amazon SES.
    Ses {
        /// What makes it tell what becomes of each mail.
        configuration_set: String,
    },
    /// Any mail server.
    Smtp(MailServer),
}

/// Where the mail server's URL is: `smtp://host:port`, with `smtps` or `?tls=required` for TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MailServer {
    /// In the settings, since it has no password.
    Url(String),
    /// In AWS Secrets Manager under this ARN, as `smtps://user:password@host:port`.
    Secret(String),
}

/// A setting that keeps a function from starting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSetting {
    /// Not in the environment, or empty.
    #[error("the environment variable {0} is missing or empty")]
    Missing(&'static str),
    /// There, but of no use.
    #[error("the environment variable {name} is wrong: {problem}")]
    Wrong {
        /// Which.
        name: &'static str,
        /// What is wrong with it.
        problem: String,
    },
}

/// The text of a setting that may be missing or empty.
#[must_use]
pub fn optional(name: &'static str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// The text of a setting.
pub fn required(name: &'static str) -> Result<String, InvalidSetting> {
    optional(name).ok_or(InvalidSetting::Missing(name))
}

/// A setting of another type than text.
pub fn parsed<T: FromStr>(name: &'static str) -> Result<T, InvalidSetting>
where
    T::Err: ToString,
{
    required(name)?.parse().map_err(|error: T::Err| InvalidSetting::Wrong { name, problem: error.to_string() })
}

/// What the provider allows and how many workers share it beside notices, from `MAILS_PER_SECOND` and `WORKER_CONCURRENCY`.
pub fn mail_rate() -> Result<MailRate, InvalidSetting> {
    MailRate::new(parsed("MAILS_PER_SECOND")?, parsed("WORKER_CONCURRENCY")?)
        .map(MailRate::beside_notices)
        .map_err(|error| InvalidSetting::Wrong { name: "MAILS_PER_SECOND", problem: error.to_string() })
}

/// Who carries the mail, from `MAIL_PROVIDER` and what belongs to it.
pub fn mail_provider() -> Result<MailProvider, InvalidSetting> {
    match required("MAIL_PROVIDER")?.as_str() {
        "ses" => Ok(MailProvider::Ses { configuration_set: required("SES_CONFIGURATION_SET")? }),
        "smtp" => Ok(MailProvider::Smtp(match optional("SMTP_SECRET_ARN") {
            Some(arn) => MailServer::Secret(arn),
            None => MailServer::Url(required("SMTP_URL")?),
        })),
        other => {
            let problem = format!("{other:?} is neither ses nor smtp");
            Err(InvalidSetting::Wrong { name: "MAIL_PROVIDER", problem })
        }
    }
}

/// Who the mails come from, from `MAIL_FROM`.
pub fn sender() -> Result<Sender, InvalidSetting> {
    Sender::parse(&format!("{SENDER_NAME} <{}>", required("MAIL_FROM")?))
        .map_err(|error| InvalidSetting::Wrong { name: "MAIL_FROM", problem: error.to_string() })
}

/// Which addresses of webhooks may be called beside those that everybody can reach, from `WEBHOOK_ALLOWED_PRIVATE`; none
/// without it, and none anywhere but on a laptop: there `ENVIRONMENT` is `local`.
pub fn webhook_addresses() -> Result<AddressRule, InvalidSetting> {
    let name = "WEBHOOK_ALLOWED_PRIVATE";
    let Some(text) = optional(name) else { return Ok(AddressRule::default()) };
    if required("ENVIRONMENT")? != "local" {
        let problem = "is for laptops only".to_owned();
        return Err(InvalidSetting::Wrong { name, problem });
    }
    text.parse().map_err(|error: InvalidAddressRule| InvalidSetting::Wrong { name, problem: error.to_string() })
}
