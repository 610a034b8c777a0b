//! SES's events as EventBridge hands them over, and what they mean.
//!
//! <https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html> describes `detail`;
//! EventBridge adds the envelope.

use std::collections::HashMap;

use parceltrack::aws::INVOICE_TAG;
use parceltrack::domain::{
    Delivery, EmailAddress, Invoice, InvoiceId, MailNews, MailReport, ProviderMessageId, SuppressionCause, Timestamp,
    foreign_words,
};
use serde::Deserialize;
use serde_json::Value;

/// Who gets no mail any more, why, and the words for it.
pub(crate) type Suppressed = (EmailAddress, SuppressionCause, String);

/// An event about a mail of ours that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an event of SES: {0}")]
pub struct InvalidEvent(String);

/// One event about the mail of one invoice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SesEvent {
    /// What SES calls its kind.
    pub kind: &'static str,
    /// The invoice that the mail carries.
    pub invoice: InvoiceId,
    /// When the event happened.
    pub at: Timestamp,
    /// What happened.
    pub news: News,
    message_id: ProviderMessageId,
    to: EmailAddress,
    sent_at: Timestamp,
}

/// What happened to a mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// SES has it, and has said so to the worker, if that one still listened.
    Sent,
    /// The recipient's mail server has it.
    Delivered,
    /// It does not get through for now; SES keeps trying.
    Delayed {
        /// What SES calls it, such as `MailboxFull`.
        kind: String,
        /// The other server's words.
        words: String,
    },
    /// It came back.
    Bounced {
        /// Whether it would again.
        permanent: bool,
        /// What SES calls it, such as `MailboxFull`.
        kind: String,
        /// Whom it did not reach, with the other server's words.
        recipients: Vec<(EmailAddress, String)>,
    },
    /// The recipient called it spam.
    Complained {
        /// What SES calls it, such as `abuse`.
        kind: String,
        /// Who.
        recipients: Vec<EmailAddress>,
    },
    /// SES looked into it and will not send it.
    Rejected {
        /// Why.
        words: String,
    },
}

#[derive(Deserialize)]
struct Envelope {
    detail: Detail,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Detail {
    event_type: String,
    mail: MailPart,
    delivery: Option<DeliveryPart>,
    bounce: Option<BouncePart>,
    complaint: Option<ComplaintPart>,
    delivery_delay: Option<DelayPart>,
    reject: Option<RejectPart>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MailPart {
    timestamp: String,
    message_id: String,
    destination: Vec<String>,
    #[serde(default)]
    tags: HashMap<String, Vec<String>>,
}

#[derive(Deserialize)]
struct DeliveryPart {
    timestamp: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BouncePart {
    bounce_type: String,
    #[serde(default)]
    bounce_sub_type: String,
    #[serde(default)]
    bounced_recipients: Vec<RecipientPart>,
    timestamp: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ComplaintPart {
    #[serde(default)]
    complained_recipients: Vec<RecipientPart>,
    complaint_feedback_type: Option<String>,
    complaint_sub_type: Option<String>,
    timestamp: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DelayPart {
    #[serde(default)]
    delay_type: String,
    #[serde(default)]
    delayed_recipients: Vec<RecipientPart>,
    timestamp: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RecipientPart {
    email_address: String,
    status: Option<String>,
    diagnostic_code: Option<String>,
}

#[derive(Deserialize)]
struct RejectPart {
    #[serde(default)]
    reason: String,
}

impl RecipientPart {
    fn words(&self) -> String {
        self.diagnostic_code.clone().or_else(|| self.status.clone()).unwrap_or_default()
    }
}

impl SesEvent {
    /// Reads an event; `None` if it is about a mail that carries no invoice, or about something that changes nothing,
    /// such as a click.
    pub fn parse(event: Value) -> Result<Option<Self>, InvalidEvent> {
        let Envelope { detail } = serde_json::from_value(event).map_err(|error| InvalidEvent(error.to_string()))?;
        let Some(invoice) = detail.mail.tags.get(INVOICE_TAG).and_then(|values| values.first()?.parse().ok()) else {
            return Ok(None);
        };
        let to: EmailAddress = detail
            .mail
            .destination
            .first()
            .and_then(|address| address.parse().ok())
            .ok_or_else(|| InvalidEvent("it names no recipient".to_owned()))?;
        let sent_at = time(&detail.mail.timestamp)?;
        let Some((kind, at, news)) = detail.news(&to, sent_at)? else { return Ok(None) };
        let message_id = ProviderMessageId(detail.mail.message_id);
        Ok(Some(Self { kind, invoice: InvoiceId(invoice), at, news, message_id, to, sent_at }))
    }

    /// Whether the same mail would fail again.
    pub(crate) fn is_permanent(&self) -> bool {
        matches!(self.news, News::Bounced { permanent: true, .. } | News::Rejected { .. })
    }

    /// Who gets no mail any more because of it, with the cause, and with words that do not quote the address.
    pub(crate) fn suppressed(&self) -> Vec<Suppressed> {
        match &self.news {
            News::Bounced { permanent: true, recipients, .. } => recipients
                .iter()
                .map(|(email, words)| (email.clone(), SuppressionCause::Bounce, email.hidden_in(&foreign_words(words))))
                .collect(),
            News::Complained { kind, recipients } => {
                recipients.iter().map(|email| (email.clone(), SuppressionCause::Complaint, kind.clone())).collect()
            }
            _ => vec![],
        }
    }

    /// What it tells of the invoice's mail, without the addresses that other servers' words may quote.
    pub(crate) fn report(&self, invoice: &Invoice) -> MailReport {
        let news = |delivery, reason: Option<String>| MailNews::Delivery {
            delivery,
            reason: reason.map(|reason| self.to.hidden_in(&invoice.without_address(&reason))),
        };
        MailReport {
            invoice: self.invoice,
            message_id: self.message_id.clone(),
            to: self.to.clone(),
            news: match &self.news {
                News::Sent => news(Delivery::Accepted, None),
                News::Delivered => news(Delivery::Delivered, None),
                News::Delayed { kind, words } => {
                    news(Delivery::Accepted, Some(told("the provider keeps trying", kind, words)))
                }
                News::Bounced { permanent, kind, recipients } => {
                    let what = if *permanent { "the mail came back for good" } else { "the mail came back, for now" };
                    let words = recipients.first().map(|(_, words)| words.as_str()).unwrap_or_default();
                    news(Delivery::Bounced, Some(told(what, kind, words)))
                }
                News::Complained { kind, .. } => {
                    news(Delivery::Complained, Some(told("the recipient called the mail spam", kind, "")))
                }
                News::Rejected { words } => {
                    MailNews::Rejected { reason: told("the mail provider will not send it", "", words) }
                }
            },
            sent_at: self.sent_at,
            at: self.at,
        }
    }
}

impl Detail {
    fn news(
        &self,
        to: &EmailAddress,
        sent_at: Timestamp,
    ) -> Result<Option<(&'static str, Timestamp, News)>, InvalidEvent> {
        // Addresses may come with a name around them; of one recipient there is no doubt who is meant.
        let address = |part: &RecipientPart| part.email_address.parse().unwrap_or_else(|_| to.clone());
        let missing = || InvalidEvent(format!("{} without its details", self.event_type));
        Ok(Some(match self.event_type.as_str() {
            "Send" => ("Send", sent_at, News::Sent),
            "Delivery" => {
                let part = self.delivery.as_ref().ok_or_else(missing)?;
                ("Delivery", time(&part.timestamp)?, News::Delivered)
            }
            "DeliveryDelay" => {
                let part = self.delivery_delay.as_ref().ok_or_else(missing)?;
                let words = part.delayed_recipients.first().map(RecipientPart::words).unwrap_or_default();
                ("DeliveryDelay", time(&part.timestamp)?, News::Delayed { kind: part.delay_type.clone(), words })
            }
            "Bounce" => {
                let part = self.bounce.as_ref().ok_or_else(missing)?;
                let recipients = part.bounced_recipients.iter().map(|part| (address(part), part.words())).collect();
                let permanent = part.bounce_type == "Permanent";
                let kind = part.bounce_sub_type.clone();
                ("Bounce", time(&part.timestamp)?, News::Bounced { permanent, kind, recipients })
            }
            "Complaint" => {
                let part = self.complaint.as_ref().ok_or_else(missing)?;
                // RFC 5965 section 7.3 has "not-spam" for a recipient who takes a complaint back.
                if part.complaint_feedback_type.as_deref() == Some("not-spam") {
                    return Ok(None);
                }
                let kind = part.complaint_feedback_type.clone().or_else(|| part.complaint_sub_type.clone());
                let recipients = part.complained_recipients.iter().map(address).collect();
                let kind = kind.unwrap_or_default();
                ("Complaint", time(&part.timestamp)?, News::Complained { kind, recipients })
            }
            "Reject" => {
                let words = self.reject.as_ref().ok_or_else(missing)?.reason.clone();
                ("Reject", sent_at, News::Rejected { words })
            }
            _ => return Ok(None),
        }))
    }
}

/// One line: what happened, what SES calls it, and the other server's words, as far as they are known.
fn told(what: &str, kind: &str, words: &str) -> String {
    let kind = if kind.is_empty() { String::new() } else { format!(" ({kind})") };
    let words = if words.is_empty() { String::new() } else { format!(": {words}") };
    format!("{what}{kind}{words}")
}

fn time(text: &str) -> Result<Timestamp, InvalidEvent> {
    Timestamp::parse(text).ok_or_else(|| InvalidEvent(format!("{text:?} is no time")))
}
