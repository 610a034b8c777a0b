//! Mail by SMTP: for the laptop, and for anybody whose provider speaks it.

use std::time::Duration;

use async_trait::async_trait;
use lettre::message::{Mailbox, MultiPart};
use lettre::transport::smtp::{Error, response::Severity};
use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};

use crate::domain::ProviderMessageId;
use crate::ports::{Mail, MailError, SendMail};

/// A mail server, by its URL, and the sender's address.
///
/// A new connection for each mail: a kept one may have died while the function was frozen, and a mail handed to a dead
/// connection is neither sent nor known to be lost.
pub struct Smtp {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    domain: String,
}

/// Why SMTP cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum InvalidSmtp {
    /// Not of the form `smtp://user:password@host:port` (RFC 1738 style, as lettre reads it).
    #[error("the SMTP URL is wrong")]
    Url,
    /// Not of the form `Name <name@example.com>`.
    #[error("the sender is no mailbox")]
    From,
}

impl Smtp {
    /// `timeout` bounds each step of the conversation.
    pub fn new(url: &str, from: &str, timeout: Duration) -> Result<Self, InvalidSmtp> {
        let from: Mailbox = from.parse().map_err(|_| InvalidSmtp::From)?;
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(url)
            .map_err(|_| InvalidSmtp::Url)?
            .timeout(Some(timeout))
            .build();
        Ok(Self { transport, domain: from.email.domain().to_owned(), from })
    }
}

#[async_trait]
impl SendMail for Smtp {
    async fn send(&self, mail: &Mail) -> Result<ProviderMessageId, MailError> {
        let rejected = |error: &dyn std::error::Error| MailError::Rejected(error.to_string());
        // The same id on every copy, so that mail programs show a repeated mail once.
        let message_id = format!("<{}@{}>", mail.invoice, self.domain);
        let to = mail.to.as_str().parse().map_err(|error| rejected(&error as &lettre::address::AddressError))?;
        let message = Message::builder()
            .message_id(Some(message_id.clone()))
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(&mail.subject)
            .multipart(MultiPart::alternative_plain_html(mail.text.clone(), mail.html.clone()))
            .map_err(|error| rejected(&error))?;
        match self.transport.send(message).await {
            Ok(_) => Ok(ProviderMessageId(message_id)),
            Err(error) => Err(classify(&error)),
        }
    }
}

/// Reply codes after RFC 5321 section 4.2.3 and RFC 4954 section 6.
fn classify(error: &Error) -> MailError {
    let text = error.to_string();
    if let Some(code) = error.status() {
        return match (code.severity, u16::from(code)) {
            // 421: closing down. 500 to 504 and 530 to 538: it does not speak with us at all, whoever the mail is for.
            (_, 421 | 500 | 502..=504 | 530..=538) => MailError::Unavailable(text),
            (Severity::PermanentNegativeCompletion, _) => MailError::Rejected(text),
            _ => MailError::PutOff(text),
        };
    }
    if error.is_client() {
        return MailError::Rejected(text);
    }
    // lettre has no word for "could not connect"; its text begins with one.
    if text.starts_with("Connection error") || error.is_tls() {
        return MailError::Unavailable(text);
    }
    MailError::AnswerLost(text)
}
