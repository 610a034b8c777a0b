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
        subject: format!("Invoice {} for parcel {}", words.number, words.tracking_number),
        text: TextPart(&words).render()?,
        html: HtmlPart(&words).render()?,
    })
}
