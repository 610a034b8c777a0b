//! Mail by Amazon SES v2.

use async_trait::async_trait;
use aws_sdk_sesv2::Client;
use aws_sdk_sesv2::error::{ConnectorError, SdkError};
use aws_sdk_sesv2::operation::send_email::SendEmailError;
use aws_sdk_sesv2::primitives::Blob;
use aws_sdk_sesv2::types::{Destination, EmailContent, MessageTag, RawMessage};

use super::failure::describe;
use crate::domain::ProviderMessageId;
use crate::mime::Sender;
use crate::ports::{Mail, MailError, Notice, SendMail, SendNotice};

/// The tag that names a mail's invoice. SES puts it into every event about the mail.
pub const INVOICE_TAG: &str = "invoiceId";

/// SES, the sender, and the configuration set by which SES tells what becomes of each mail.
#[derive(Clone, Debug)]
pub struct Ses {
    client: Client,
    sender: Sender,
    configuration_set: String,
}

impl Ses {
    /// `client` must not retry, see [`super::Clients::sesv2`].
    #[must_use]
    pub fn new(client: Client, sender: Sender, configuration_set: String) -> Self {
        Self { client, sender, configuration_set }
    }
}

#[async_trait]
impl SendMail for Ses {
    async fn send(&self, mail: &Mail) -> Result<ProviderMessageId, MailError> {
        // Our own MIME, not SES's: names of any script are encoded in one place, for every provider.
        let raw = RawMessage::builder()
            .data(Blob::new(self.sender.message(mail)?.formatted()))
            .build()
            .map_err(|error| MailError::Rejected(error.to_string()))?;
        let tag = MessageTag::builder()
            .name(INVOICE_TAG)
            .value(mail.invoice.to_string())
            .build()
            .map_err(|error| MailError::Rejected(error.to_string()))?;
        let call = self
            .client
            .send_email()
            .configuration_set_name(&self.configuration_set)
            .destination(Destination::builder().to_addresses(mail.to.as_str()).build())
            .content(EmailContent::builder().raw(raw).build())
            .email_tags(tag)
            .send();
        match call.await {
            Ok(answer) => Ok(ProviderMessageId(answer.message_id.unwrap_or_default())),
            Err(error) => Err(classify(&error)),
        }
    }
}

#[async_trait]
impl SendNotice for Ses {
    async fn tell(&self, notice: &Notice) -> Result<(), MailError> {
        let raw = RawMessage::builder()
            .data(Blob::new(self.sender.notice(notice)?.formatted()))
            .build()
            .map_err(|error| MailError::Rejected(error.to_string()))?;
        // Without a tag: its events are of no invoice.
        let call = self
            .client
            .send_email()
            .configuration_set_name(&self.configuration_set)
            .destination(Destination::builder().to_addresses(notice.to.as_str()).build())
            .content(EmailContent::builder().raw(raw).build())
            .send();
        call.await.map(|_| ()).map_err(|error| classify(&error))
    }
}

/// <https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html>
fn classify(error: &SdkError<SendEmailError>) -> MailError {
    let text = describe(error);
    match error {
        SdkError::ServiceError(service) => match service.err() {
            SendEmailError::MessageRejected(_) | SendEmailError::BadRequestException(_) => MailError::Rejected(text),
            SendEmailError::TooManyRequestsException(_) | SendEmailError::LimitExceededException(_) => {
                MailError::PutOff(text)
            }
            // A 5xx may come after the mail was taken.
            _ if service.raw().status().is_server_error() => MailError::AnswerLost(text),
            // Suspended, paused, not verified, no permission: it refuses us, whoever the mail is for.
            _ => MailError::Unavailable(text),
        },
        SdkError::ConstructionFailure(_) => MailError::Rejected(text),
        SdkError::DispatchFailure(failure) if failure.as_connector_error().is_some_and(ConnectorError::is_user) => {
            MailError::Unavailable(text)
        }
        _ => MailError::AnswerLost(text),
    }
}
