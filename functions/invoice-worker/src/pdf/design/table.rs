//! The table of what is billed: one row per line, each whole, figures in columns that hold the largest amounts.

use parceltrack::domain::{Currency, Line};

use super::super::RenderError;
use super::super::blocks::Block;
use super::super::marks::{Composer, Ink, Style};
use super::head::rule;
use super::{BODY, LABEL, WIDTH, short};

pub(super) const HEAD_HEIGHT: f64 = 24.0;

/// Where the columns end; the description begins at 0.
const DESCRIPTION: f64 = 240.0;
const QUANTITY: f64 = 288.0;
const UNIT_PRICE: f64 = 368.0;
const TAX: f64 = 410.0;
const AMOUNT: f64 = WIDTH;

/// Between two columns at least.
const GAP: f64 = 8.0;

/// Above the first and below the last line of a row.
const PADDING: f64 = 5.5;

pub(super) fn head(currency: Currency, composer: &mut Composer) -> Result<Block, RenderError> {
    let mut block = Block::of_height(HEAD_HEIGHT);
    let style = Style { ink: Ink::Accent, ..LABEL };
    let label = composer.line("DESCRIPTION", style)?;
    block.left(0.0, 11.0, label);
    let amount = format!("AMOUNT ({})", currency.code());
    for (title, end) in [("QUANTITY", QUANTITY), ("UNIT PRICE", UNIT_PRICE), ("GST", TAX), (&amount, AMOUNT)] {
        let label = composer.line(title, style)?;
        block.right(end, 11.0, label);
    }
    let rule = composer.strokes(vec![rule(Ink::Accent, 0.8)]);
    block.put(0.0, HEAD_HEIGHT - 3.0, rule);
    Ok(block)
}

pub(super) fn row(line: &Line, currency: Currency, composer: &mut Composer) -> Result<Block, RenderError> {
    let mut block = Block::default();
    // The baseline of the first line: capitals stand as far from the rule above as the last baseline from that below.
    let first = PADDING + 7.0;
    let mut y = first;
    for label in composer.paragraph(line.description.as_str(), BODY, DESCRIPTION)? {
        block.left(0.0, y, label);
        y += BODY.line_height();
    }
    let figures = [
        (line.quantity.to_string(), DESCRIPTION, QUANTITY),
        (line.unit_price.grouped(currency), QUANTITY, UNIT_PRICE),
        (short(line.tax_code).to_owned(), UNIT_PRICE, TAX),
        (line.amount.grouped(currency), TAX, AMOUNT),
    ];
    for (figure, begin, end) in figures {
        let label = composer.fitting(&figure, BODY, end - begin - GAP)?;
        block.right(end, first, label);
    }
    block.height = y - BODY.line_height() + PADDING + 2.5;
    let rule = composer.strokes(vec![rule(Ink::Rule, 0.5)]);
    block.put(0.0, block.height, rule);
    Ok(block)
}
