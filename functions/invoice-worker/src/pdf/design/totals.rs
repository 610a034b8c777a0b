//! What it comes to: by tax code at the left, in all at the right, and how to pay below. One block, never split.

use parceltrack::domain::{Currency, InvoiceContent, TaxCode, Totals};

use super::super::RenderError;
use super::super::blocks::Block;
use super::super::marks::{Composer, Ink, Stroke, Style};
use super::head::terms;
use super::{BODY, LABEL, SMALL, WIDTH, day, short};

const TOTAL: Style = Style::new(13.0, Ink::Accent).bold();

/// Where the columns of the summary by tax code end.
const SUMMARY_NET: f64 = 172.0;
const SUMMARY_TAX: f64 = 240.0;

/// Where the totals begin.
const TOTALS_LEFT: f64 = 288.0;

pub(super) fn block(invoice: &InvoiceContent, composer: &mut Composer) -> Result<Block, RenderError> {
    let mut block = Block::default();
    let totals = invoice.totals();
    let summary_end = summary(invoice, &totals, composer, &mut block)?;
    let totals_end = sums(invoice, &totals, composer, &mut block)?;
    let end = notes(invoice, composer, &mut block, summary_end.max(totals_end) + 34.0)?;
    block.height = end;
    Ok(block)
}

fn summary(
    invoice: &InvoiceContent,
    totals: &Totals,
    composer: &mut Composer,
    block: &mut Block,
) -> Result<f64, RenderError> {
    let mut y = 26.0;
    let label = composer.line("GST SUMMARY", LABEL)?;
    block.left(0.0, y, label);
    for (title, end) in [("NET", SUMMARY_NET), ("GST", SUMMARY_TAX)] {
        let label = composer.line(title, LABEL)?;
        block.right(end, y, label);
    }
    let rule = composer.strokes(vec![line(0.0, SUMMARY_TAX, Ink::Rule, 0.5)]);
    block.put(0.0, y + 6.0, rule);
    y += 19.0;
    for sum in &totals.by_tax_code {
        let code = composer.line(short(sum.code), BODY)?;
        block.left(0.0, y, code);
        let name = composer.line(&meaning(sum.code, invoice), SMALL)?;
        block.left(20.0, y, name);
        for (amount, end, width) in [(sum.net, SUMMARY_NET, 64.0), (sum.tax, SUMMARY_TAX, 62.0)] {
            let label = composer.fitting(&amount.grouped(invoice.currency), Style { size: 8.5, ..BODY }, width)?;
            block.right(end, y, label);
        }
        y += 14.0;
    }
    Ok(y - 14.0)
}

fn meaning(code: TaxCode, invoice: &InvoiceContent) -> String {
    match code {
        TaxCode::Standard => format!("Standard-rated {} %", invoice.tax_rate),
        TaxCode::ZeroRated => "Zero-rated 0 %".to_owned(),
        TaxCode::Exempt => "Exempt".to_owned(),
    }
}

fn sums(
    invoice: &InvoiceContent,
    totals: &Totals,
    composer: &mut Composer,
    block: &mut Block,
) -> Result<f64, RenderError> {
    let taxed = totals.by_tax_code.iter().any(|sum| sum.code == TaxCode::Standard);
    let tax = if taxed { format!("GST {} %", invoice.tax_rate) } else { "GST (nothing standard-rated)".to_owned() };
    let mut y = 26.0;
    for (label, amount) in [("Total without GST".to_owned(), totals.subtotal), (tax, totals.tax)] {
        let label = composer.line(&label, Style { ink: Ink::Soft, ..BODY })?;
        block.left(TOTALS_LEFT, y, label);
        let amount = composer.fitting(&amount.for_people(invoice.currency), BODY, 120.0)?;
        block.right(WIDTH, y, amount);
        y += 16.0;
    }
    let rule = composer.strokes(vec![line(TOTALS_LEFT, WIDTH, Ink::Accent, 1.2)]);
    block.put(0.0, y - 6.0, rule);
    y += 13.0;
    let label = composer.line("Total with GST", Style { size: 10.0, ..TOTAL })?;
    block.left(TOTALS_LEFT, y, label);
    let total = composer.fitting(&totals.total.for_people(invoice.currency), TOTAL, 126.0)?;
    block.right(WIDTH, y, total);
    Ok(y)
}

fn notes(invoice: &InvoiceContent, composer: &mut Composer, block: &mut Block, top: f64) -> Result<f64, RenderError> {
    let due = day(invoice.due_on());
    let terms = match invoice.payment_terms_days {
        0 => format!("Payment terms: due on issue, {due}."),
        days => format!("Payment terms: {} from the issue date, by {due}.", terms(days)),
    };
    let notes = [
        format!("{terms} Please quote {} with your payment.", invoice.number),
        format!(
            "All amounts are in {} ({}). Questions? Write to {}.",
            name(invoice.currency),
            invoice.currency.code(),
            invoice.seller.email.as_str()
        ),
    ];
    let mut y = top;
    for note in notes {
        for label in composer.paragraph(&note, SMALL, WIDTH)? {
            block.left(0.0, y, label);
            y += SMALL.line_height();
        }
    }
    Ok(y - SMALL.line_height() + 4.0)
}

const fn name(currency: Currency) -> &'static str {
    match currency {
        Currency::Sgd => "Singapore dollars",
        Currency::Jpy => "Japanese yen",
    }
}

fn line(begin: f64, end: f64, ink: Ink, width: f64) -> Stroke {
    Stroke { ink, width, round: false, closed: false, points: vec![(begin, 0.0), (end, 0.0)] }
}
