//! Mail by SMTP: for the laptop, and for anybody whose provider speaks it.

use std::error::Error as _;
use std::time::Duration;

use async_trait::async_trait;
use lettre::transport::smtp::{Error, response::Severity};
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};

use crate::domain::{ProviderMessageId, SmtpReply};
use crate::mime::Sender;
use crate::ports::{Mail, MailError, Notice, SendMail, SendNotice};

/// A mail server, by its URL, and the sender.
///
/// A new connection for each mail: a kept one may have died while the function was frozen, and a mail handed to a dead
/// connection is neither sent nor known to be lost.
pub struct Smtp {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    sender: Sender,
}

/// The URL is not of the form `smtp://user:password@host:port`, as lettre reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the SMTP URL is wrong")]
pub struct InvalidSmtpUrl;

impl Smtp {
    /// `timeout` bounds the connection alone; the caller bounds the whole.
    pub fn new(url: &str, sender: Sender, timeout: Duration) -> Result<Self, InvalidSmtpUrl> {
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(url)
            .map_err(|_| InvalidSmtpUrl)?
            .timeout(Some(timeout))
            .build();
        Ok(Self { transport, sender })
    }
}

#[async_trait]
impl SendMail for Smtp {
    async fn send(&self, mail: &Mail) -> Result<ProviderMessageId, MailError> {
        let message = self.sender.message(mail)?;
        match self.transport.send(message).await {
            Ok(_) => Ok(ProviderMessageId(self.sender.message_id(mail))),
            Err(error) => Err(classify(&error)),
        }
    }
}

#[async_trait]
impl SendNotice for Smtp {
    async fn tell(&self, notice: &Notice) -> Result<(), MailError> {
        let message = self.sender.notice(notice)?;
        self.transport.send(message).await.map(|_| ()).map_err(|error| classify(&error))
    }
}

/// Reply codes after RFC 5321 section 4.2.3 and RFC 4954 section 6. Of what the server said, only the codes are told.
fn classify(error: &Error) -> MailError {
    if let Some(code) = error.status() {
        let words = error.source().map(ToString::to_string).unwrap_or_default();
        let text = SmtpReply::new(code.into(), &words).to_string();
        return match (code.severity, u16::from(code)) {
            // 421: closing down. 500 to 504 and 530 to 538: it does not speak with us at all, whoever the mail is for.
            (_, 421 | 500 | 502..=504 | 530..=538) => MailError::Unavailable(text),
            (Severity::PermanentNegativeCompletion, _) => MailError::Rejected(text),
            _ => MailError::PutOff(text),
        };
    }
    if error.is_client() {
        return MailError::Rejected("the server cannot take such a mail".to_owned());
    }
    if error.is_tls() {
        return MailError::Unavailable("no TLS".to_owned());
    }
    // lettre has no word for "could not connect"; its text begins with one.
    if error.to_string().starts_with("Connection error") {
        return MailError::Unavailable("no connection".to_owned());
    }
    let lost = if error.is_response() { "an unreadable reply" } else { "the connection broke" };
    MailError::AnswerLost(lost.to_owned())
}
