//! How long an invoice takes: `cargo bench -p invoice-worker`.
//!
//! `plain_genpdf` is the baseline, measured in the same run: the same invoice with genpdf as its documentation shows it,
//! which embeds whole fonts, and drops what its fonts lack.

#![allow(clippy::print_stdout, reason = "a benchmark speaks through its output")]

use divan::{Bencher, black_box};
use genpdf::elements::{Paragraph, TableLayout};
use genpdf::fonts::{FontData, FontFamily};
use genpdf::{Document, Element as _, SimplePageDecorator};
use invoice_worker::pdf::{render, samples};
use parceltrack::domain::InvoiceContent;

fn main() {
    for name in ["eight-lines", "mixed-scripts", "thousand-lines"] {
        let size = render(&sample(name)).expect("a sample").into_bytes().len();
        println!("{name}: {size} bytes; plain genpdf: {} bytes", plain(&sample(name)).len());
    }
    divan::main();
}

/// The samples whose times are bounded: 10, 20 and 250 ms, warm.
#[divan::bench(args = ["one-line", "eight-lines", "mixed-scripts", "five-hundred-lines", "thousand-lines"])]
fn invoice(bencher: Bencher<'_, '_>, name: &str) {
    let invoice = sample(name);
    bencher.bench(|| render(black_box(&invoice)).expect("a sample"));
}

#[divan::bench(args = ["eight-lines", "mixed-scripts", "thousand-lines"], sample_count = 10)]
fn plain_genpdf(bencher: Bencher<'_, '_>, name: &str) {
    let invoice = sample(name);
    bencher.bench(|| plain(black_box(&invoice)));
}

fn sample(name: &str) -> InvoiceContent {
    samples::named(name).expect("a sample")
}

fn plain(invoice: &InvoiceContent) -> Vec<u8> {
    let load = |file: &[u8]| FontData::new(file.to_vec(), None).expect("a font");
    let regular = load(include_bytes!("../src/pdf/fonts/NotoSans-Regular.ttf"));
    let bold = load(include_bytes!("../src/pdf/fonts/NotoSans-Bold.ttf"));
    let family = FontFamily { regular: regular.clone(), bold: bold.clone(), italic: regular, bold_italic: bold };
    let mut document = Document::new(family);
    document.set_minimal_conformance();
    let mut decorator = SimplePageDecorator::new();
    decorator.set_margins(18);
    document.set_page_decorator(decorator);
    let heading = [invoice.seller.name.as_str(), "Tax Invoice", invoice.number.as_str(), invoice.recipient.as_str()];
    for text in heading {
        document.push(Paragraph::new(text));
    }
    let mut table = TableLayout::new(vec![8, 2, 4, 4]);
    for line in &invoice.lines {
        let (quantity, price) = (line.quantity.to_string(), line.unit_price.grouped(invoice.currency));
        let mut row = table.row();
        // Chinese without a space would make genpdf panic.
        let description: String =
            line.description.as_str().chars().map(|it| if it.is_ascii() { it } else { ' ' }).collect();
        for text in [description, quantity, price, line.amount.grouped(invoice.currency)] {
            row.push_element(Paragraph::new(text).padded(1));
        }
        row.push().expect("a row");
    }
    document.push(table);
    document.push(Paragraph::new(invoice.totals().total.for_people(invoice.currency)));
    let mut file = Vec::new();
    document.render(&mut file).expect("a document");
    file
}
