//! A mail as it goes over the wire, the same for every provider.
//!
//! No line has over 76 octets (RFC 2045 section 6.7), names of any script are encoded (RFC 2047), and the same mail has
//! the same bytes but for its date, so that a second copy can be recognised as one.

use lettre::Message;
use lettre::address::AddressError;
use lettre::message::header::{ContentTransferEncoding, ContentType};
use lettre::message::{Mailbox, MessageBuilder, MultiPart, SinglePart};

use crate::domain::EmailAddress;
use crate::ports::{Mail, MailError, Notice};

/// The sender is not of the form `Name <name@example.com>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the sender is no mailbox")]
pub struct InvalidSender;

/// Who the mails come from.
#[derive(Clone, Debug)]
pub struct Sender(Mailbox);

impl Sender {
    /// From `Name <name@example.com>`.
    pub fn parse(text: &str) -> Result<Self, InvalidSender> {
        text.parse().map(Self).map_err(|_| InvalidSender)
    }

    /// The `Message-ID` of this mail: every copy of an invoice's mail has the same, so that mail programs show one.
    #[must_use]
    pub fn message_id(&self, mail: &Mail) -> String {
        format!("<{}@{}>", mail.invoice, self.0.email.domain())
    }

    /// The whole message: text and HTML, headers and envelope.
    pub fn message(&self, mail: &Mail) -> Result<Message, MailError> {
        self.begin(self.message_id(mail), display_name(&mail.to_name), &mail.to, &mail.subject)?
            .multipart(
                MultiPart::alternative()
                    .boundary(format!("={}=", mail.invoice.0.simple()))
                    .singlepart(part(ContentType::TEXT_PLAIN, &mail.text))
                    .singlepart(part(ContentType::TEXT_HTML, &mail.html)),
            )
            .map_err(|error| MailError::Rejected(error.to_string()))
    }

    /// The whole message of a notice, which is text alone.
    pub fn notice(&self, notice: &Notice) -> Result<Message, MailError> {
        let message_id = format!("<{}@{}>", notice.id, self.0.email.domain());
        self.begin(message_id, None, &notice.to, &notice.subject)?
            .singlepart(part(ContentType::TEXT_PLAIN, &notice.text))
            .map_err(|error| MailError::Rejected(error.to_string()))
    }

    fn begin(
        &self,
        message_id: String,
        name: Option<String>,
        to: &EmailAddress,
        subject: &str,
    ) -> Result<MessageBuilder, MailError> {
        let to = to.as_str().parse().map_err(|error: AddressError| MailError::Rejected(error.to_string()))?;
        Ok(Message::builder()
            .message_id(Some(message_id))
            .from(self.0.clone())
            .to(Mailbox::new(name, to))
            .subject(subject))
    }
}

/// The name beside the address; none where a word of it is too long to be folded, since a mail reads well without it.
fn display_name(name: &str) -> Option<String> {
    let longest_word = name.split(' ').filter(|word| word.is_ascii()).map(str::len).max().unwrap_or(0);
    (longest_word <= 60).then(|| name.to_owned())
}

/// Quoted-printable whatever the text: it wraps long lines, and links survive it.
fn part(content_type: ContentType, text: &str) -> SinglePart {
    SinglePart::builder().header(content_type).header(ContentTransferEncoding::QuotedPrintable).body(text.to_owned())
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::domain::InvoiceId;

    fn wire(to_name: &str, to: &str, text: &str) -> String {
        let mail = Mail {
            invoice: InvoiceId(Uuid::nil()),
            to: to.parse().unwrap(),
            to_name: to_name.to_owned(),
            subject: "Invoice INV-2026-48291057: S$1,090,000.00 for parcel LCL4829105712".to_owned(),
            text: text.to_owned(),
            html: format!("<p>{text}</p>"),
        };
        let sender = Sender::parse("Lion City Logistics <invoices@lioncity.example>").unwrap();
        String::from_utf8(sender.message(&mail).unwrap().formatted()).unwrap()
    }

    #[test]
    fn no_line_has_over_76_octets_whatever_the_name_and_the_text() {
        for name in ["Tan Wei Ming", &"陈伟明".repeat(66), &"முத்து ".repeat(28), &"W".repeat(200), &"a b ".repeat(50)]
        {
            let wire = wire(name, "tan@example.com", &"https://parcels.example/i/".repeat(20));
            for line in wire.split("\r\n") {
                assert!(line.len() <= 76, "{} octets: {line}", line.len());
                assert!(line.is_ascii());
            }
        }
    }

    #[test]
    fn names_that_could_be_syntax_are_quoted_and_others_are_encoded() {
        let to = |name| {
            let wire = wire(name, "tan@example.com", "x");
            wire.split("\r\n").find(|line| line.starts_with("To:")).unwrap().to_owned()
        };
        assert_eq!(to("Tan Wei Ming"), "To: \"Tan Wei Ming\" <tan@example.com>");
        let syntax = to("Tan, \"Ah\" <x@evil.example>");
        assert!(syntax.starts_with("To: =?utf-8?b?") && !syntax.contains("evil"), "{syntax}");
        assert!(to("陈伟明").starts_with("To: =?utf-8?b?"), "{}", to("陈伟明"));
    }

    #[test]
    fn addresses_with_a_plus_and_domains_of_other_scripts_are_right() {
        assert!(wire("Tan", "tan+parcels@example.com", "x").contains("<tan+parcels@example.com>"));
        assert!(wire("Tan", "tan@例え.jp", "x").contains("<tan@xn--r8jz45g.jp>"));
    }

    #[test]
    fn two_copies_of_a_mail_differ_in_their_date_alone() {
        let without_date = |wire: String| {
            wire.split("\r\n").filter(|line| !line.starts_with("Date:")).map(ToOwned::to_owned).collect::<Vec<_>>()
        };
        let (one, two) = (wire("Tan", "tan@example.com", "x"), wire("Tan", "tan@example.com", "x"));
        assert_eq!(without_date(one), without_date(two));
    }
}
