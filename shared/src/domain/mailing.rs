//! What becomes of an invoice's mail once the provider has it, and what that means for the invoice.
//!
//! The provider's news come late, twice and in any order. What an invoice makes of them is decided here, without a
//! clock or a table, from the invoice as it stands.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{
    AttemptOutcome, EmailAddress, Invoice, InvoiceId, InvoiceState, InvoiceStatus, LinkSecret, ProviderMessageId,
    RequestId, Timestamp, foreign_words,
};

/// A customer may ask for another mail this long after an invoice was last opened again, and not sooner.
pub const RESEND_PAUSE: Duration = Duration::from_mins(1);

/// So many former addresses, and so many former mails, an invoice remembers; then it is neither readdressed nor opened
/// again. Its row in the table must not grow without bounds.
pub const MAX_FORMER: usize = 100;

/// What the provider said last of a mail that it accepted. Later ones outweigh earlier ones, whatever their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Delivery {
    /// The provider has it.
    Accepted,
    /// The recipient's mail server has it.
    Delivered,
    /// It came back.
    Bounced,
    /// The recipient called it spam.
    Complained,
}

/// The provider's word about a mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryReport {
    /// What it said.
    pub delivery: Delivery,
    /// Why, where there is something to explain.
    pub reason: Option<String>,
    /// When it said so.
    pub at: Timestamp,
}

/// Another address than the one that the invoice was made for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressCorrection {
    /// Since when.
    pub at: Timestamp,
    /// Where the mail goes.
    pub email: EmailAddress,
    /// Who asked for it, in words. Older corrections do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// A wish that the mail goes to another address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAddress {
    /// Where.
    pub email: EmailAddress,
    /// Who asks for it, in words.
    pub by: String,
    /// The secret of the link from now on: who got the mail at the old address shall not open the PDF any more.
    pub link_secret: LinkSecret,
}

/// What tells one dead letter from every other, also after a redrive has made a new message of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LetterId(pub String);

impl fmt::Display for LetterId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Everything about an invoice's mail but whether it was sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mailing {
    /// Where the mail went after the address was found to be wrong, oldest first.
    pub corrections: Vec<AddressCorrection>,
    /// What the provider calls the mail.
    pub message_id: Option<ProviderMessageId>,
    /// What the provider said of it.
    pub report: Option<DeliveryReport>,
    /// Mails from before the invoice was opened again. What is said of them counts no more.
    pub retired: Vec<ProviderMessageId>,
    /// Dead letters by which the invoice was opened again. None does it twice.
    pub handled_letters: Vec<LetterId>,
}

/// What the provider tells of one mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailReport {
    /// The invoice that it carries.
    pub invoice: InvoiceId,
    /// What the provider calls it.
    pub message_id: ProviderMessageId,
    /// To whom it went.
    pub to: EmailAddress,
    /// What is told.
    pub news: MailNews,
    /// When the provider took it.
    pub sent_at: Timestamp,
    /// When this was told.
    pub at: Timestamp,
}

/// What can be told of a mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MailNews {
    /// It is on its way, there, or back.
    Delivery {
        /// How far it came.
        delivery: Delivery,
        /// Why, where there is something to explain.
        reason: Option<String>,
    },
    /// The provider took it, looked into it, and will not send it.
    Rejected {
        /// Why.
        reason: String,
    },
}

/// What a report does to an invoice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consequence {
    /// The mail is out and nobody had recorded it: the invoice is `Sent`.
    Sends,
    /// The invoice was `Sent`; now more is known of its mail.
    Updates,
    /// The mail never left: the invoice is `Failed`.
    Fails,
    /// It was known, outweighed, or about a mail that counts no more.
    None,
}

/// What is wished for when an invoice is to be opened again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Another try of what did not succeed.
    AnotherTry,
    /// One more mail, whatever became of the last.
    AnotherMail,
}

/// A wish to try an invoice again, or to mail it once more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reopening {
    /// What is wished for.
    pub wish: Wish,
    /// The dead letter that asks for it, if one does.
    pub letter: Option<LetterId>,
    /// The right address, where the old one was wrong.
    pub address: Option<NewAddress>,
    /// Who or what asks, for the invoice's story.
    pub reason: String,
    /// The request that asks. Without one, what follows still follows from the request before.
    pub correlation_id: Option<RequestId>,
    /// When somebody must look if the ticket that follows does not finish it.
    pub due: Timestamp,
    /// The present moment.
    pub now: Timestamp,
}

/// What a wish to open an invoice again does to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reopened {
    /// It was finished, and is open again.
    Opened,
    /// It was open, and goes to another address now.
    Readdressed,
    /// It was open already.
    StillOpen,
    /// A worker has it right now, so its address cannot be changed.
    HeldByWorker,
    /// This very letter has opened it before, and it failed again: another letter tells of that.
    HandledBefore,
    /// It was sent, and there is nothing to try again.
    Sent,
    /// It was sent and came back, which only another address can mend.
    NeedsAddress,
    /// Its address gets no mail any more.
    Suppressed,
    /// It was opened again less than [`RESEND_PAUSE`] ago.
    TooSoon {
        /// From when on another mail may be asked for.
        until: Timestamp,
    },
    /// It has had [`MAX_FORMER`] mails or addresses already.
    TooOften,
    /// There is no such invoice.
    Unknown,
}

/// What a wish for another address does to an invoice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readdressed {
    /// The next mail goes there.
    Changed,
    /// It went there already.
    Unchanged,
    /// A worker has it right now, and has read the old address.
    HeldByWorker,
    /// It has had [`MAX_FORMER`] addresses already.
    TooOften,
    /// There is no such invoice.
    Unknown,
}

impl Invoice {
    /// Where its mail goes.
    #[must_use]
    pub fn email(&self) -> &EmailAddress {
        self.mailing.corrections.last().map_or(&self.content.email, |correction| &correction.email)
    }

    /// Other people's words, fit to be shown, without the recipient's addresses, which they may quote.
    #[must_use]
    pub fn without_address(&self, text: &str) -> String {
        let corrected = self.mailing.corrections.iter().map(|correction| &correction.email);
        [&self.content.email]
            .into_iter()
            .chain(corrected)
            .fold(foreign_words(text), |text, email| email.hidden_in(&text))
    }

    /// What the provider said last of its mail; at least that it has it, once it is sent.
    #[must_use]
    pub fn delivery(&self) -> Option<Delivery> {
        match (self.state.status(), &self.mailing.report) {
            (_, Some(report)) => Some(report.delivery),
            (InvoiceStatus::Sent, None) => Some(Delivery::Accepted),
            _ => None,
        }
    }

    /// What a report about one of its mails does to it.
    #[must_use]
    pub fn consequence_of(&self, report: &MailReport) -> Consequence {
        let status = self.state.status();
        // The mail that is recorded is known by its id, also if the address has changed since.
        let recorded = self.mailing.message_id.as_ref() == Some(&report.message_id);
        // A mail from before the invoice was last opened: its worker died over it, so that nobody could retire it.
        let former = self.last_reopened().is_some_and(|reopened| report.sent_at < reopened);
        if self.mailing.retired.contains(&report.message_id)
            || !recorded && (former || !self.email().is_same_mailbox(&report.to))
        {
            return Consequence::None;
        }
        match (&report.news, status) {
            // Without a PDF no mail was sent; and what failed is for a person to look at.
            (MailNews::Delivery { .. }, InvoiceStatus::Pending | InvoiceStatus::Failed)
            | (MailNews::Rejected { .. }, InvoiceStatus::Failed) => Consequence::None,
            (MailNews::Delivery { .. }, InvoiceStatus::Generated) => Consequence::Sends,
            (MailNews::Delivery { delivery, reason }, InvoiceStatus::Sent) => {
                let known = self.mailing.report.as_ref();
                // An explanation is news as well, such as why a mail is still on its way.
                let explains = known
                    .is_none_or(|known| known.delivery == *delivery && known.reason != *reason && reason.is_some());
                let outweighs = known.is_none_or(|known| known.delivery < *delivery);
                if outweighs || explains { Consequence::Updates } else { Consequence::None }
            }
            (MailNews::Rejected { .. }, InvoiceStatus::Pending | InvoiceStatus::Generated) => Consequence::Fails,
            (MailNews::Rejected { .. }, InvoiceStatus::Sent) => {
                let on_its_way = self.delivery() == Some(Delivery::Accepted);
                if recorded && on_its_way { Consequence::Fails } else { Consequence::None }
            }
        }
    }

    /// What a wish to open it again does to it. An address can change only while no worker has the invoice, which the
    /// write must see to; and whether an address gets mail at all is not known to the invoice.
    #[must_use]
    pub fn reopened_by(&self, reopening: &Reopening) -> Reopened {
        let other_address =
            reopening.address.as_ref().is_some_and(|address| !address.email.is_same_mailbox(self.email()));
        let handled = |letter: &LetterId| self.mailing.handled_letters.contains(letter);
        let may_have_another_address = self.mailing.corrections.len() < MAX_FORMER;
        let may_open = self.mailing.retired.len() < MAX_FORMER && (may_have_another_address || !other_address);
        match (&self.state, reopening.wish) {
            (InvoiceState::Pending | InvoiceState::Generated { .. }, _) => match other_address {
                true if may_have_another_address => Reopened::Readdressed,
                true => Reopened::TooOften,
                false => Reopened::StillOpen,
            },
            _ if reopening.letter.as_ref().is_some_and(handled) => Reopened::HandledBefore,
            (InvoiceState::Sent { .. }, Wish::AnotherTry) if self.delivery() != Some(Delivery::Bounced) => {
                Reopened::Sent
            }
            (InvoiceState::Sent { at, .. }, Wish::AnotherTry) if !other_address && !self.is_readdressed_since(*at) => {
                Reopened::NeedsAddress
            }
            _ if !may_open => Reopened::TooOften,
            (_, Wish::AnotherTry) => Reopened::Opened,
            (_, Wish::AnotherMail) => match self.last_reopened() {
                // This very wish, whose answer was lost; or another of the same moment.
                Some(at) if at == reopening.now => Reopened::StillOpen,
                Some(at) if reopening.now < at + RESEND_PAUSE => Reopened::TooSoon { until: at + RESEND_PAUSE },
                _ => Reopened::Opened,
            },
        }
    }

    /// What a wish for another address does to it, finished or not. Not while a worker has it, which the write must see
    /// to.
    #[must_use]
    pub fn readdressed_by(&self, address: &NewAddress) -> Readdressed {
        if *self.email() == address.email {
            Readdressed::Unchanged
        } else if self.mailing.corrections.len() >= MAX_FORMER {
            Readdressed::TooOften
        } else {
            Readdressed::Changed
        }
    }

    fn is_readdressed_since(&self, sent: Timestamp) -> bool {
        // Not in the same moment: then the mail may have gone to the new address already, and it is that which came back.
        self.mailing.corrections.last().is_some_and(|correction| correction.at > sent)
    }

    fn last_reopened(&self) -> Option<Timestamp> {
        let reopened = |attempt: &&super::Attempt| attempt.outcome == AttemptOutcome::Reopened;
        self.attempts.iter().rev().find(reopened).map(|attempt| attempt.at)
    }
}

/// Why an address gets no mail any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SuppressionCause {
    /// The address does not exist, or takes no mail for good.
    Bounce,
    /// Its owner called our mail spam.
    Complaint,
}

/// An address that gets no mail any more. Who mails on regardless is soon taken for a spammer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppression {
    /// The address.
    pub email: EmailAddress,
    /// Why.
    pub cause: SuppressionCause,
    /// The provider's words, without the address.
    pub reason: String,
    /// Since when.
    pub at: Timestamp,
    /// The invoice whose mail told.
    pub invoice: InvoiceId,
}

/// The name of an address where the address itself must not be seen: keys of tables show in metrics and audit trails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressHash(String);

impl AddressHash {
    /// SHA-256 of the address in lower case: no mail system of today tells `Tan@` from `tan@`.
    #[must_use]
    pub fn of(email: &EmailAddress) -> Self {
        let digest = Sha256::digest(email.as_str().to_ascii_lowercase());
        Self(digest.iter().fold(String::with_capacity(64), |mut text, byte| {
            let _ = fmt::Write::write_fmt(&mut text, format_args!("{byte:02x}"));
            text
        }))
    }
}

impl fmt::Display for AddressHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;
    use crate::domain::{
        Attempt, Billing, Currency, InvoiceContent, Line, Money, OwnerId, Parcel, ParcelId, ParcelStatus, Seller,
        StoredPdf, TaxCode, Text,
    };

    fn text<const MAX: usize>(text: &str) -> Text<MAX> {
        Text::try_from(text.to_owned()).unwrap()
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(1_790_000_000_000 + millis)
    }

    fn pdf() -> StoredPdf {
        StoredPdf { key: "invoices/x.pdf".to_owned(), sha256: "0".repeat(64) }
    }

    fn invoice(state: InvoiceState) -> Invoice {
        let parcel = Parcel {
            id: ParcelId(Uuid::nil()),
            owner: OwnerId::house(),
            tracking_number: "LCL48291057".parse().unwrap(),
            recipient: text("Tan Wei Ming"),
            email: "tan@example.com".parse().unwrap(),
            address: None,
            postal_code: None,
            phone: None,
            reference: None,
            weight: None,
            status: ParcelStatus::Created,
            created_at: at(0),
            updated_at: at(0),
            events: vec![],
            proof_expected_since: None,
        };
        let billing = Billing {
            seller: Seller {
                name: text("Seller"),
                address: text("Street 1"),
                gst_number: text("M9-0001234-5"),
                registration_number: text("201912345K"),
                email: "billing@lioncity.example".parse().unwrap(),
            },
            payment_terms_days: 14,
            delivery_fee: Money::ZERO,
        };
        let line = Line::new(text("Delivery"), 1, Money::from_minor(1250), TaxCode::Standard, Currency::Sgd).unwrap();
        Invoice {
            content: InvoiceContent::of_parcel(&parcel, vec![line], Currency::Sgd, &billing, at(0)),
            state,
            due: None,
            parks: 0,
            abandoned: 0,
            attempts: vec![],
            attempt_count: 0,
            link_secret: LinkSecret(Uuid::nil()),
            link_expires: None,
            mailing: Mailing::default(),
            updated_at: at(0),
        }
    }

    fn report(delivery: Delivery) -> MailReport {
        MailReport {
            invoice: InvoiceId(Uuid::nil()),
            message_id: ProviderMessageId("m1".to_owned()),
            to: "TAN@example.com".parse().unwrap(),
            news: MailNews::Delivery { delivery, reason: None },
            sent_at: at(1),
            at: at(2),
        }
    }

    fn correction(millis: i64) -> AddressCorrection {
        AddressCorrection { at: at(millis), email: "lim@example.com".parse().unwrap(), by: None }
    }

    fn new_address(email: &str) -> NewAddress {
        NewAddress { email: email.parse().unwrap(), by: "a test".to_owned(), link_secret: LinkSecret(Uuid::nil()) }
    }

    /// What a table does with a consequence.
    fn hear(invoice: &mut Invoice, report: &MailReport) -> Consequence {
        let consequence = invoice.consequence_of(report);
        if let (Consequence::Sends | Consequence::Updates, MailNews::Delivery { delivery, reason }) =
            (consequence, &report.news)
        {
            invoice.state = InvoiceState::Sent { pdf: pdf(), at: report.sent_at };
            invoice.mailing.message_id = Some(report.message_id.clone());
            invoice.mailing.report =
                Some(DeliveryReport { delivery: *delivery, reason: reason.clone(), at: report.at });
        }
        consequence
    }

    const KINDS: [Delivery; 4] = [Delivery::Accepted, Delivery::Delivered, Delivery::Bounced, Delivery::Complained];

    proptest! {
        #[test]
        fn in_whatever_order_and_however_often_reports_come_the_weightiest_stays(
            order in prop::collection::vec(prop::sample::select(&KINDS[..]), 1..20),
        ) {
            let mut heard = invoice(InvoiceState::Generated { pdf: pdf() });
            for (place, kind) in order.iter().enumerate() {
                let consequence = hear(&mut heard, &report(*kind));
                prop_assert_eq!(consequence == Consequence::Sends, place == 0);
                prop_assert_eq!(hear(&mut heard, &report(*kind)), Consequence::None);
            }
            prop_assert_eq!(heard.delivery(), order.into_iter().max());
        }
    }

    #[test]
    fn reports_about_former_mails_and_failed_invoices_change_nothing() {
        let failed = invoice(InvoiceState::Failed { reason: "x".to_owned(), pdf: Some(pdf()) });
        assert_eq!(failed.consequence_of(&report(Delivery::Delivered)), Consequence::None);
        assert_eq!(invoice(InvoiceState::Pending).consequence_of(&report(Delivery::Accepted)), Consequence::None);
        let mut open = invoice(InvoiceState::Generated { pdf: pdf() });
        open.mailing.retired = vec![ProviderMessageId("m1".to_owned())];
        assert_eq!(open.consequence_of(&report(Delivery::Accepted)), Consequence::None);
        let mut moved = invoice(InvoiceState::Generated { pdf: pdf() });
        moved.mailing.corrections = vec![correction(1)];
        assert_eq!(moved.consequence_of(&report(Delivery::Accepted)), Consequence::None);
        let mut reopened = invoice(InvoiceState::Generated { pdf: pdf() });
        reopened.attempts = vec![Attempt { at: at(2), outcome: AttemptOutcome::Reopened, reason: None }];
        assert_eq!(reopened.consequence_of(&report(Delivery::Accepted)), Consequence::None, "nobody had recorded it");
        assert_eq!(moved.without_address("Tan@example.com, lim@example.com"), "the recipient, the recipient");
    }

    #[test]
    fn a_letter_opens_its_invoice_once_and_a_bounced_one_needs_an_address() {
        let letter = LetterId("l1".to_owned());
        let wish = |email: Option<&str>| Reopening {
            wish: Wish::AnotherTry,
            letter: Some(letter.clone()),
            address: email.map(new_address),
            reason: String::new(),
            correlation_id: None,
            due: at(0),
            now: at(0),
        };
        let mut failed = invoice(InvoiceState::Failed { reason: "x".to_owned(), pdf: None });
        assert_eq!(failed.reopened_by(&wish(None)), Reopened::Opened);
        failed.mailing.handled_letters = vec![letter.clone()];
        assert_eq!(failed.reopened_by(&wish(None)), Reopened::HandledBefore);
        assert_eq!(failed.reopened_by(&Reopening { letter: None, ..wish(None) }), Reopened::Opened);

        let mut sent = invoice(InvoiceState::Sent { pdf: pdf(), at: at(0) });
        assert_eq!(sent.reopened_by(&wish(Some("lim@example.com"))), Reopened::Sent);
        sent.mailing.report = Some(DeliveryReport { delivery: Delivery::Bounced, reason: None, at: at(0) });
        assert_eq!(sent.reopened_by(&wish(None)), Reopened::NeedsAddress);
        for same in ["tan@example.com", "TAN@Example.com"] {
            assert_eq!(sent.reopened_by(&wish(Some(same))), Reopened::NeedsAddress);
        }
        assert_eq!(sent.reopened_by(&wish(Some("lim@example.com"))), Reopened::Opened);
        sent.mailing.corrections = vec![correction(1)];
        assert_eq!(sent.reopened_by(&wish(None)), Reopened::Opened, "readdressed since it came back");
    }

    fn another_mail(millis: i64) -> Reopening {
        let (wish, now) = (Wish::AnotherMail, at(millis));
        Reopening { wish, letter: None, address: None, reason: String::new(), correlation_id: None, due: now, now }
    }

    #[test]
    fn another_mail_of_a_finished_invoice_is_had_once_a_minute() {
        let finished = [
            InvoiceState::Sent { pdf: pdf(), at: at(0) },
            InvoiceState::Failed { reason: "x".to_owned(), pdf: Some(pdf()) },
        ];
        for state in finished {
            let mut invoice = invoice(state);
            assert_eq!(invoice.reopened_by(&another_mail(1_000)), Reopened::Opened);
            invoice.attempts = vec![
                Attempt { at: at(1_000), outcome: AttemptOutcome::Reopened, reason: None },
                Attempt { at: at(2_000), outcome: AttemptOutcome::Sent, reason: None },
            ];
            assert_eq!(invoice.reopened_by(&another_mail(1_000)), Reopened::StillOpen, "the same wish once more");
            for millis in [1_001, 60_999] {
                let until = at(61_000);
                assert_eq!(invoice.reopened_by(&another_mail(millis)), Reopened::TooSoon { until });
            }
            assert_eq!(invoice.reopened_by(&another_mail(61_000)), Reopened::Opened);
        }
        for state in [InvoiceState::Pending, InvoiceState::Generated { pdf: pdf() }] {
            assert_eq!(invoice(state).reopened_by(&another_mail(0)), Reopened::StillOpen);
        }
    }

    #[test]
    fn an_invoice_is_not_opened_or_readdressed_for_ever() {
        let mut sent = invoice(InvoiceState::Sent { pdf: pdf(), at: at(0) });
        sent.mailing.retired = (1..MAX_FORMER).map(|mail| ProviderMessageId(mail.to_string())).collect();
        assert_eq!(sent.reopened_by(&another_mail(0)), Reopened::Opened);
        sent.mailing.retired.push(ProviderMessageId("last".to_owned()));
        assert_eq!(sent.reopened_by(&another_mail(0)), Reopened::TooOften);

        let mut open = invoice(InvoiceState::Pending);
        open.mailing.corrections = vec![correction(0); MAX_FORMER];
        let to_tan = new_address("tan@example.com");
        assert_eq!(open.readdressed_by(&to_tan), Readdressed::TooOften);
        let wish = Reopening { address: Some(to_tan), ..another_mail(0) };
        assert_eq!(open.reopened_by(&wish), Reopened::TooOften);
        assert_eq!(open.readdressed_by(&new_address("lim@example.com")), Readdressed::Unchanged);
    }

    #[test]
    fn of_the_mail_that_is_recorded_news_count_also_after_the_address_was_changed() {
        let mut sent = invoice(InvoiceState::Sent { pdf: pdf(), at: at(0) });
        sent.mailing.message_id = Some(ProviderMessageId("m1".to_owned()));
        sent.mailing.corrections = vec![correction(1)];
        assert_eq!(sent.consequence_of(&report(Delivery::Bounced)), Consequence::Updates);
        sent.mailing.message_id = Some(ProviderMessageId("m2".to_owned()));
        assert_eq!(sent.consequence_of(&report(Delivery::Bounced)), Consequence::None);
    }

    #[test]
    fn the_hash_of_an_address_is_that_of_its_lower_case() {
        let hash = |email: &str| AddressHash::of(&email.parse().unwrap()).to_string();
        // printf tan@example.com | sha256sum
        assert_eq!(hash("Tan@Example.com"), "9c63d01a3d4c0c33d79d7a8a09fb24a7c9479f8105be6ceb7be70918e13cd581");
    }
}
