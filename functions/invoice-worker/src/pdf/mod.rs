//! The invoice as a PDF.
//!
//! [`render`] is pure: no clock, no I/O, only the invoice's own content. Another engine could take its place.

use std::io;
use std::sync::LazyLock;

use genpdf::elements::{Break, LinearLayout, Paragraph, TableLayout};
use genpdf::error::Error as GenpdfError;
use genpdf::fonts::{FontData, FontFamily};
use genpdf::style::Style;
use genpdf::{Alignment, Document, Element as _, SimplePageDecorator};
use parceltrack::domain::{Currency, InvoiceContent, Line};
use sha2::{Digest as _, Sha256};

mod text;

use text::{fit, printable};

/// A finished PDF file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pdf(Vec<u8>);

impl Pdf {
    /// The file.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// SHA-256 of the file, in lower-case hexadecimal.
    #[must_use]
    pub fn sha256(&self) -> String {
        use std::fmt::Write as _;
        Sha256::digest(&self.0).iter().fold(String::with_capacity(64), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

/// The engine refused.
#[derive(Debug, thiserror::Error)]
#[error("the PDF cannot be made: {0}")]
pub struct RenderError(#[from] GenpdfError);

static REGULAR: &[u8] = include_bytes!("fonts/NotoSans-Regular.ttf");
static BOLD: &[u8] = include_bytes!("fonts/NotoSans-Bold.ttf");

/// Widths of the item table's columns: description, quantity, unit price, amount. The narrowest holds the largest
/// quantity, the money columns `1,000,000.00`; wider words would vanish.
const COLUMNS: [usize; 4] = [8, 2, 4, 4];

const FONT_SIZE: u8 = 10;

/// Widths in millimetres into which a word must fit: on a line of its own behind a label, and in the description column.
/// A little less than there is, for the cells' padding and for kerning.
const LINE_WIDTH: f64 = 130.0;
const DESCRIPTION_WIDTH: f64 = 70.0;

fn fonts() -> Result<FontFamily<FontData>, RenderError> {
    static FAMILY: LazyLock<Result<FontFamily<FontData>, String>> = LazyLock::new(|| {
        let load = |bytes: &[u8]| FontData::new(bytes.to_vec(), None).map_err(|error| error.to_string());
        let (regular, bold) = (load(REGULAR)?, load(BOLD)?);
        Ok(FontFamily { regular: regular.clone(), bold: bold.clone(), italic: regular, bold_italic: bold })
    });
    FAMILY.clone().map_err(|error| GenpdfError::new("the embedded fonts", io::Error::other(error)).into())
}

/// Makes the PDF of an invoice.
pub fn render(invoice: &InvoiceContent) -> Result<Pdf, RenderError> {
    let mut document = Document::new(fonts()?);
    document.set_title(format!("Invoice {}", invoice.number));
    document.set_minimal_conformance();
    document.set_font_size(FONT_SIZE);
    let mut decorator = SimplePageDecorator::new();
    decorator.set_margins(18);
    document.set_page_decorator(decorator);

    document.push(heading());
    let (parties, items) = {
        let style = Style::new().with_font_size(FONT_SIZE);
        let width_of = |character| f64::from(style.char_width(document.font_cache(), character));
        (parties(invoice, &width_of), items(&invoice.lines, invoice.currency, &width_of)?)
    };
    document.push(parties);
    document.push(Break::new(1));
    document.push(items);
    document.push(Break::new(0.5));
    document.push(totals(invoice)?);
    document.push(Break::new(2));
    document.push(Paragraph::new("Amounts in Singapore dollars. Thank you for shipping with Lion City Logistics."));

    let mut bytes = Vec::new();
    document.render(&mut bytes)?;
    Ok(Pdf(bytes))
}

fn heading() -> LinearLayout {
    LinearLayout::vertical()
        .element(Paragraph::default().styled_string("Lion City Logistics", Style::new().bold().with_font_size(18)))
        .element(Paragraph::default().styled_string("Tax Invoice", Style::new().with_font_size(14)))
        .element(Break::new(1))
}

fn parties(invoice: &InvoiceContent, width_of: &dyn Fn(char) -> f64) -> LinearLayout {
    let mut layout = LinearLayout::vertical();
    let mut row = |label: &str, value: &str| {
        layout.push(Paragraph::default().styled_string(format!("{label}: "), Style::new().bold()).string(fit(
            &printable(value),
            LINE_WIDTH,
            width_of,
        )));
    };
    let date = invoice.created_at.singapore_date();
    row("Invoice number", invoice.number.as_str());
    row("Date", &format!("{} {} {}", date.day(), date.month(), date.year()));
    row("Parcel", invoice.tracking_number.as_str());
    row("Billed to", invoice.recipient.as_str());
    if let Some(address) = &invoice.address {
        row("Address", address.as_str());
    }
    if let Some(postal_code) = &invoice.postal_code {
        row("Postal code", postal_code.as_str());
    }
    layout
}

fn cell(text: String, alignment: Alignment, style: Style) -> impl genpdf::Element {
    Paragraph::default().styled_string(text, style).aligned(alignment).padded((1, 1))
}

fn items(lines: &[Line], currency: Currency, width_of: &dyn Fn(char) -> f64) -> Result<TableLayout, RenderError> {
    let mut table = TableLayout::new(COLUMNS.to_vec());
    let head = ["Description", "Quantity", "Unit price", "Amount"];
    let mut row = table.row();
    for (index, title) in head.into_iter().enumerate() {
        let alignment = if index == 0 { Alignment::Left } else { Alignment::Right };
        row.push_element(cell(title.to_owned(), alignment, Style::new().bold()));
    }
    row.push()?;
    for line in lines {
        let mut row = table.row();
        let description = fit(&printable(line.description.as_str()), DESCRIPTION_WIDTH, width_of);
        row.push_element(cell(description, Alignment::Left, Style::new()));
        for figure in [line.quantity.to_string(), line.unit_price.grouped(currency), line.amount.grouped(currency)] {
            row.push_element(cell(figure, Alignment::Right, Style::new()));
        }
        row.push()?;
    }
    Ok(table)
}

fn totals(invoice: &InvoiceContent) -> Result<TableLayout, RenderError> {
    let totals = invoice.totals();
    let mut table = TableLayout::new(vec![12, 6]);
    for (label, amount, style) in [
        ("Subtotal".to_owned(), totals.subtotal, Style::new()),
        (format!("GST {} %", invoice.tax_rate), totals.tax, Style::new()),
        ("Total".to_owned(), totals.total, Style::new().bold()),
    ] {
        table
            .row()
            .element(cell(label, Alignment::Right, style))
            .element(cell(amount.for_people(invoice.currency), Alignment::Right, style))
            .push()?;
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use parceltrack::domain::{
        InvoiceId, InvoiceNumber, Money, OwnerId, ParcelId, Seller, TaxCode, TaxRate, Text, Timestamp,
    };

    use super::*;

    fn invoice(recipient: &str, lines: Vec<Line>) -> InvoiceContent {
        let parcel = ParcelId(uuid::Uuid::nil());
        let created_at = Timestamp::from_millis(1_767_198_600_000);
        let tracking_number = "LCL48291057".parse().unwrap();
        InvoiceContent {
            id: InvoiceId::of_parcel(parcel),
            number: InvoiceNumber::new(created_at, &tracking_number),
            parcel_id: parcel,
            owner: OwnerId::house(),
            tracking_number,
            recipient: Text::try_from(recipient.to_owned()).unwrap(),
            email: "tan@example.com".parse().unwrap(),
            address: None,
            postal_code: None,
            reference: None,
            seller: Seller {
                name: Text::try_from("Lion City Logistics Pte Ltd".to_owned()).unwrap(),
                address: Text::try_from("8 Changi South Street 1, Singapore 486111".to_owned()).unwrap(),
                gst_number: Text::try_from("M9-0001234-5".to_owned()).unwrap(),
                registration_number: Text::try_from("201912345K".to_owned()).unwrap(),
                email: "billing@lioncity.example".parse().unwrap(),
            },
            payment_terms_days: 14,
            lines,
            currency: Currency::Sgd,
            tax_rate: TaxRate::GST,
            created_at,
        }
    }

    fn line(description: &str, quantity: u32, cents: i64) -> Line {
        Line::new(
            Text::try_from(description.to_owned()).unwrap(),
            quantity,
            Money::from_minor(cents),
            TaxCode::Standard,
            Currency::Sgd,
        )
        .unwrap()
    }

    fn pages(pdf: &Pdf) -> usize {
        pdf.0.windows(11).filter(|window| window == b"/Type/Page/" || window == b"/Type /Page").count()
    }

    #[test]
    fn an_invoice_becomes_a_pdf() {
        let pdf = render(&invoice("Tan Wei Ming", vec![line("Delivery of parcel LCL48291057", 1, 1250)])).unwrap();
        assert!(pdf.0.starts_with(b"%PDF-"));
        assert_eq!(pdf.sha256().len(), 64);
    }

    #[test]
    fn names_and_amounts_that_break_layout_engines_are_rendered_all_the_same() {
        for name in ["陈伟明", "முத்துலட்சுமி", &"W".repeat(200), "👩‍🚀 \u{202e}abc", "a\u{0301}", "\u{fffd}"]
        {
            let lines = vec![line(&"X".repeat(200), 10_000, 10_000), line("Box", 1, 0)];
            assert!(render(&invoice(name, lines)).is_ok(), "{name}");
        }
    }

    #[test]
    fn five_hundred_lines_go_over_many_pages() {
        let lines = (0..500).map(|number| line(&format!("Parcel {number}"), 1, 100)).collect();
        let pdf = render(&invoice("Tan Wei Ming", lines)).unwrap();
        assert!(pages(&pdf) >= 10, "{} pages", pages(&pdf));
    }
}
