//! What an invoice looks like: every fact of a Singapore tax invoice has its place here, and none is left out.

use std::collections::VecDeque;

use parceltrack::domain::{InvoiceContent, TaxCode};
use time::Date;

use super::RenderError;
use super::blocks::{Block, Frame, Table};
use super::marks::{Composer, Ink, Style};
use super::pagination::{Room, pages};

mod frame;
mod head;
mod table;
mod totals;

/// A4, in points.
pub(super) const PAGE: (f64, f64) = (595.28, 841.89);

/// The margins at the left and the right, and what is left between them.
const LEFT: f64 = 48.0;
const WIDTH: f64 = PAGE.0 - 2.0 * LEFT;

/// Where the content begins on the first page, and on the others below their running head.
const TOP: f64 = 44.0;
const TOP_OF_OTHERS: f64 = 82.0;

/// Where the content ends, above the footer.
const BOTTOM: f64 = PAGE.1 - 66.0;

const LABEL: Style = Style::new(7.5, Ink::Soft).bold();
const BODY: Style = Style::new(9.0, Ink::Dark);
const SMALL: Style = Style::new(8.0, Ink::Soft);

/// An invoice, composed and paginated: what genpdf is to put on pages.
pub(super) struct Design {
    pub(super) frames: VecDeque<Frame>,
    pub(super) head: Block,
    pub(super) table: Table,
    pub(super) totals: Block,
}

impl Design {
    pub(super) fn of(invoice: &InvoiceContent, composer: &mut Composer) -> Result<Self, RenderError> {
        let head = head::block(invoice, composer)?;
        let rows = invoice
            .lines
            .iter()
            .map(|line| table::row(line, invoice.currency, composer))
            .collect::<Result<Vec<_>, _>>()?;
        let totals = totals::block(invoice, composer)?;

        let heights: Vec<f64> = rows.iter().map(|row| row.height).collect();
        let room = Room {
            first: BOTTOM - TOP - head.height,
            next: BOTTOM - TOP_OF_OTHERS,
            head: table::HEAD_HEIGHT,
            totals: totals.height,
        };
        let pages: VecDeque<_> = pages(&heights, room).into();
        let with_rows = pages.iter().filter(|rows| !rows.is_empty()).count();
        let heads = (0..with_rows).map(|_| table::head(invoice.currency, composer)).collect::<Result<_, _>>()?;
        let frames =
            (1..=pages.len()).map(|page| frame::of(invoice, page, pages.len(), composer)).collect::<Result<_, _>>()?;
        Ok(Self { frames, head, table: Table { heads, rows, pages }, totals })
    }
}

/// As the invoice's Singapore days are written: `1 January 2026`.
fn day(date: Date) -> String {
    format!("{} {} {}", date.day(), date.month(), date.year())
}

/// The short form of a tax code on a line, after the tax authority's list for accounting software.
const fn short(code: TaxCode) -> &'static str {
    match code {
        TaxCode::Standard => "SR",
        TaxCode::ZeroRated => "ZR",
        TaxCode::Exempt => "ES",
    }
}
