//! The top of the first page: who bills whom, when, for which parcel, and how much is due by when.

use parceltrack::domain::InvoiceContent;

use super::super::RenderError;
use super::super::blocks::Block;
use super::super::marks::{Composer, Ink, Stroke, Style};
use super::{BODY, LABEL, SMALL, WIDTH, day};

const NAME: Style = Style::new(13.0, Ink::Dark).bold();
const TITLE: Style = Style::new(24.0, Ink::Accent).bold();
const CUSTOMER: Style = Style::new(11.0, Ink::Dark).bold();
const AMOUNT: Style = Style::new(17.0, Ink::Accent).bold();

/// Side of the wordmark's square.
const EMBLEM: f64 = 34.0;

/// Where the seller's name begins, and how wide it and the customer's column may be.
const NAME_LEFT: f64 = EMBLEM + 12.0;
const NAME_WIDTH: f64 = 258.0;
const CUSTOMER_WIDTH: f64 = 236.0;

/// The column of facts at the right: where its labels and its values begin.
const FACTS_LEFT: f64 = 276.0;
const VALUES_LEFT: f64 = 362.0;

pub(super) fn block(invoice: &InvoiceContent, composer: &mut Composer) -> Result<Block, RenderError> {
    let mut block = Block::default();
    let seller_end = seller(invoice, composer, &mut block)?;
    let title = composer.line("Tax Invoice", TITLE)?;
    block.right(WIDTH, 25.0, title);

    let top = seller_end + 16.0;
    let rule = composer.strokes(vec![rule(Ink::Accent, 1.2)]);
    block.put(0.0, top, rule);
    let top = top + 26.0;
    let customer_end = customer(invoice, composer, &mut block, top)?;
    let facts_end = facts(invoice, composer, &mut block, top)?;
    let top = customer_end.max(facts_end) + 14.0;
    due(invoice, composer, &mut block, top)?;
    block.height = top + DUE_HEIGHT + 22.0;
    Ok(block)
}

/// The parcel of the web page's icon, in a square of this side whose upper left corner is where the mark stands.
pub(super) fn emblem(side: f64) -> Vec<Stroke> {
    // The icon's own measures, of 32.
    let scale = side / 32.0;
    let stroke = |ink, width: f64, closed, points: &[(f64, f64)]| Stroke {
        ink,
        width: width * scale,
        round: true,
        closed,
        points: points.iter().map(|(x, y)| (x * scale, y * scale)).collect(),
    };
    vec![
        // A square of half the side, as wide a stroke around it: one with round corners.
        stroke(Ink::Accent, 16.0, true, &[(8.0, 8.0), (24.0, 8.0), (24.0, 24.0), (8.0, 24.0)]),
        stroke(
            Ink::White,
            2.0,
            true,
            &[(16.0, 6.5), (24.5, 11.0), (24.5, 21.0), (16.0, 25.5), (7.5, 21.0), (7.5, 11.0)],
        ),
        stroke(Ink::White, 2.0, false, &[(7.5, 11.0), (16.0, 15.5), (24.5, 11.0)]),
        stroke(Ink::White, 2.0, false, &[(16.0, 15.5), (16.0, 25.5)]),
        stroke(Ink::Amber, 2.0, false, &[(11.8, 8.8), (20.0, 13.2), (20.0, 17.2)]),
    ]
}

/// A rule over the whole width.
pub(super) fn rule(ink: Ink, width: f64) -> Stroke {
    Stroke { ink, width, round: false, closed: false, points: vec![(0.0, 0.0), (WIDTH, 0.0)] }
}

fn seller(invoice: &InvoiceContent, composer: &mut Composer, block: &mut Block) -> Result<f64, RenderError> {
    let seller = &invoice.seller;
    let emblem = composer.strokes(emblem(EMBLEM));
    block.put(0.0, 0.0, emblem);
    let mut column = Column { block, composer, left: NAME_LEFT, width: NAME_WIDTH, y: 11.5 };
    column.text(seller.name.as_str(), NAME, 56.0)?;
    column.y -= 4.0;
    column.text(seller.address.as_str(), SMALL, 56.0)?;
    column.text(&format!("GST Reg. No. {}", seller.gst_number), SMALL, 24.0)?;
    column.text(&format!("UEN {}", seller.registration_number), SMALL, 24.0)?;
    column.text(seller.email.as_str(), SMALL, 24.0)?;
    Ok(column.y - SMALL.line_height())
}

fn customer(
    invoice: &InvoiceContent,
    composer: &mut Composer,
    block: &mut Block,
    top: f64,
) -> Result<f64, RenderError> {
    let mut column = Column { block, composer, left: 0.0, width: CUSTOMER_WIDTH, y: top };
    column.text("BILLED TO", LABEL, LABEL.line_height())?;
    column.y += 6.5;
    column.text(invoice.recipient.as_str(), CUSTOMER, 80.0)?;
    if let Some(address) = &invoice.address {
        column.text(address.as_str(), BODY, 104.0)?;
    }
    if let Some(postal_code) = &invoice.postal_code {
        column.text(&format!("Singapore {}", postal_code.as_str()), BODY, BODY.line_height())?;
    }
    column.text(invoice.email.as_str(), Style { ink: Ink::Soft, ..BODY }, 26.0)?;
    Ok(column.y - BODY.line_height())
}

/// Texts below each other.
struct Column<'a> {
    block: &'a mut Block,
    composer: &'a mut Composer,
    left: f64,
    width: f64,
    /// The next baseline.
    y: f64,
}

impl Column<'_> {
    /// Sets a text in as many lines as it needs, smaller if they would be higher than `height`: the head of an invoice
    /// with the longest name and address must fit on a page.
    fn text(&mut self, text: &str, style: Style, height: f64) -> Result<(), RenderError> {
        let (lines, smaller) = self.composer.compact(text, style, self.width, height)?;
        for line in lines {
            self.block.left(self.left, self.y, line);
            self.y += smaller.line_height();
        }
        // What comes next may be set in its full size.
        self.y += style.line_height() - smaller.line_height();
        Ok(())
    }
}

fn facts(invoice: &InvoiceContent, composer: &mut Composer, block: &mut Block, top: f64) -> Result<f64, RenderError> {
    let mut facts = vec![
        ("Invoice number", invoice.number.as_str().to_owned()),
        ("Issue date", day(invoice.issued_on())),
        ("Due date", day(invoice.due_on())),
        ("Payment terms", terms(invoice.payment_terms_days)),
        ("Tracking number", invoice.tracking_number.as_str().to_owned()),
    ];
    if let Some(reference) = &invoice.reference {
        facts.push(("Your reference", reference.as_str().to_owned()));
    }
    let mut y = top;
    for (name, value) in facts {
        let name = composer.line(name, Style { size: BODY.size, ..SMALL })?;
        block.left(FACTS_LEFT, y, name);
        let mut column = Column { block, composer, left: VALUES_LEFT, width: WIDTH - VALUES_LEFT, y };
        column.text(&value, BODY, 64.0)?;
        y = column.y + 3.0;
    }
    Ok(y - BODY.line_height() - 3.0)
}

const DUE_HEIGHT: f64 = 38.0;

/// The one figure that most readers look for.
fn due(invoice: &InvoiceContent, composer: &mut Composer, block: &mut Block, top: f64) -> Result<(), RenderError> {
    let middle = DUE_HEIGHT / 2.0;
    let corner = 5.0;
    let points = vec![
        (corner, corner),
        (WIDTH - corner, corner),
        (WIDTH - corner, DUE_HEIGHT - corner),
        (corner, DUE_HEIGHT - corner),
    ];
    // A band with round corners: its border, and a stroke as wide as what is inside.
    let border = Stroke { ink: Ink::Tint, width: 2.0 * corner, round: true, closed: true, points };
    let inside = Stroke {
        ink: Ink::Tint,
        width: DUE_HEIGHT - 2.0 * corner,
        round: false,
        closed: false,
        points: vec![(corner, middle), (WIDTH - corner, middle)],
    };
    let band = composer.strokes(vec![border, inside]);
    block.put(0.0, top, band);
    let label = composer.line(&format!("Amount due by {}", day(invoice.due_on())), Style::new(10.0, Ink::Dark))?;
    block.left(14.0, top + middle + 3.5, label);
    let amount = invoice.totals().total.for_people(invoice.currency);
    let amount = composer.fitting(&amount, AMOUNT, WIDTH / 2.0)?;
    block.right(WIDTH - 14.0, top + middle + 6.0, amount);
    Ok(())
}

/// The payment terms in words.
pub(super) fn terms(days: u16) -> String {
    match days {
        0 => "Due on issue".to_owned(),
        1 => "1 day".to_owned(),
        days => format!("{days} days"),
    }
}
