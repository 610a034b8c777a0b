//! What every page says of itself: whose and which invoice it belongs to, and "Page x of y".

use parceltrack::domain::InvoiceContent;

use super::super::RenderError;
use super::super::blocks::{Block, Frame};
use super::super::marks::{Composer, Ink, Style};
use super::head::{emblem, rule};
use super::{BOTTOM, LEFT, PAGE, SMALL, TOP, TOP_OF_OTHERS, WIDTH, day};

const FOOTER: Style = Style::new(7.5, Ink::Soft);

/// Baseline of the footer.
const FOOTER_LINE: f64 = PAGE.1 - 34.0;

pub(super) fn of(
    invoice: &InvoiceContent,
    page: usize,
    pages: usize,
    composer: &mut Composer,
) -> Result<Frame, RenderError> {
    let mut marks = Block::default();
    let line = composer.strokes(vec![rule(Ink::Rule, 0.5)]);
    marks.put(LEFT, FOOTER_LINE - 14.0, line);
    let seller = format!("{} · GST Reg. No. {}", invoice.seller.name, invoice.seller.gst_number);
    let seller = composer.fitting(&seller, FOOTER, WIDTH - 90.0)?;
    marks.left(LEFT, FOOTER_LINE, seller);
    let number = composer.line(&format!("Page {page} of {pages}"), FOOTER)?;
    marks.right(LEFT + WIDTH, FOOTER_LINE, number);
    if page == 1 {
        return Ok(Frame { marks, left: LEFT, top: TOP, bottom: BOTTOM });
    }

    let emblem = composer.strokes(emblem(16.0));
    marks.put(LEFT, 38.0, emblem);
    let title = composer.line(&format!("Tax Invoice {}", invoice.number), Style::new(9.5, Ink::Accent).bold())?;
    marks.left(LEFT + 24.0, 49.5, title);
    let issued = composer.line(&format!("Issued {}", day(invoice.issued_on())), SMALL)?;
    marks.right(LEFT + WIDTH, 49.5, issued);
    Ok(Frame { marks, left: LEFT, top: TOP_OF_OTHERS, bottom: BOTTOM })
}
