//! The mail that carries an invoice: a short link, not the PDF itself.

use askama::Template;
use parceltrack::domain::{InvoiceContent, LinkSecret, LinkToken};
use parceltrack::ports::Mail;

#[derive(Template)]
#[template(path = "invoice.txt")]
struct TextPart<'a>(&'a Words);

#[derive(Template)]
#[template(path = "invoice.html")]
struct HtmlPart<'a>(&'a Words);

/// What both parts say.
struct Words {
    recipient: String,
    number: String,
    tracking_number: String,
    total: String,
    tax: String,
    link: String,
}

/// The mail for an invoice. The same invoice gives the same mail, so that a second copy says nothing new.
pub(crate) fn compose(invoice: &InvoiceContent, secret: LinkSecret, public_url: &str) -> Result<Mail, askama::Error> {
    let totals = invoice.totals();
    let words = Words {
        recipient: invoice.recipient.to_string(),
        number: invoice.number.to_string(),
        tracking_number: invoice.tracking_number.to_string(),
        total: totals.total.for_people(invoice.currency),
        tax: totals.tax.for_people(invoice.currency),
        link: format!("{public_url}/i/{}", LinkToken { invoice: invoice.id, secret }),
    };
    Ok(Mail {
        invoice: invoice.id,
        to: invoice.email.clone(),
        to_name: words.recipient.clone(),
        subject: format!("Invoice {}: {} for parcel {}", words.number, words.total, words.tracking_number),
        text: TextPart(&words).render()?,
        html: HtmlPart(&words).render()?,
    })
}

#[cfg(test)]
mod tests {
    use parceltrack::domain::TaxCode;
    use parceltrack::mime::Sender;
    use uuid::Uuid;

    use super::*;
    use crate::pdf::samples;

    fn mail_to(recipient: &str, unit_price: i64) -> Mail {
        let mut invoice =
            samples::invoice(recipient, vec![samples::line("Delivery", 1, unit_price, TaxCode::Standard)]);
        invoice.email = "tan+parcels@example.com".parse().unwrap();
        compose(&invoice, LinkSecret(Uuid::nil()), "https://parcels.example").unwrap()
    }

    #[test]
    fn the_mail_says_number_amount_tracking_number_and_link() {
        let mail = mail_to("Tan Wei Ming", 100_000_000);
        insta::assert_snapshot!("subject", mail.subject);
        insta::assert_snapshot!("text", mail.text);
        insta::assert_snapshot!("html", mail.html);
    }

    #[test]
    fn the_mail_on_the_wire_is_as_reviewed_but_for_its_date() {
        let sender = Sender::parse("Lion City Logistics <invoices@lioncity.example>").unwrap();
        let wire = String::from_utf8(sender.message(&mail_to("陈伟明", 1250)).unwrap().formatted()).unwrap();
        let wire: Vec<_> = wire.split("\r\n").filter(|line| !line.starts_with("Date: ")).collect();
        insta::assert_snapshot!("wire", wire.join("\n"));
    }

    #[test]
    fn markup_in_a_name_stays_a_name() {
        let mail = mail_to("<img src=x onerror=alert(1)> & \"Co\"", 1250);
        assert!(!mail.html.contains("<img"), "{}", mail.html);
        assert!(mail.html.contains("&#60;img") || mail.html.contains("&lt;img"));
        assert!(mail.text.contains("<img src=x onerror=alert(1)> & \"Co\""), "the text part is no markup");
    }

    #[test]
    fn a_name_that_turns_the_text_around_or_is_not_there_reaches_no_part_of_a_mail() {
        let sender = Sender::parse("Lion City Logistics <invoices@lioncity.example>").unwrap();
        let stored = |name: &str| serde_json::from_value(serde_json::json!(name)).unwrap();
        for (name, seen) in [("Tan\u{202e}gnimieW\u{202c}", "Dear TangnimieW,"), ("\u{200b}", "Dear \u{fffd},")] {
            let mut invoice = samples::invoice("-", vec![samples::line("Delivery", 1, 1250, TaxCode::Standard)]);
            invoice.recipient = stored(name);
            let mail = compose(&invoice, LinkSecret(Uuid::nil()), "https://parcels.example").unwrap();
            for part in [&mail.text, &mail.html] {
                assert!(part.contains(seen), "{part}");
            }
            let wire = String::from_utf8(sender.message(&mail).unwrap().formatted()).unwrap();
            // U+202E and U+200B in UTF-8, as quoted-printable writes them.
            assert!(!wire.contains("=E2=80"), "{wire}");
            assert!(!mail.to_name.contains(['\u{202e}', '\u{200b}']));
        }
    }

    #[test]
    fn the_same_invoice_gives_the_same_mail() {
        assert_eq!(mail_to("Tan Wei Ming", 1250), mail_to("Tan Wei Ming", 1250));
    }
}
