//! What other programs find in the invoice: every word and every amount, on whole rows, in a sound file that is always
//! the same.
//!
//! The other programs are pdftotext, pdfinfo, pdffonts (Debian's poppler-utils) and qpdf.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::process::Command;

use invoice_worker::pdf::{Pdf, render, samples};
use parceltrack::domain::{InvoiceContent, Line, TaxCode, is_invisible};
use proptest::prelude::*;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

/// A rendered invoice as a file, for other programs.
struct Rendered {
    directory: TempDir,
    missing: usize,
    size: usize,
}

impl Rendered {
    fn new(invoice: &InvoiceContent) -> Self {
        let pdf = render(invoice).unwrap();
        let (directory, missing, bytes) = (tempfile::tempdir().unwrap(), pdf.missing(), pdf.into_bytes());
        std::fs::write(directory.path().join("invoice.pdf"), &bytes).unwrap();
        Self { directory, missing, size: bytes.len() }
    }

    fn of_sample(name: &str) -> Self {
        Self::new(&sample(name))
    }

    /// What a program says about the file. `invoice.pdf` is in its directory.
    fn told_by(&self, program: &str, arguments: &[&str]) -> String {
        let output = Command::new(program).args(arguments).current_dir(self.directory.path()).output();
        let output = output.unwrap_or_else(|error| panic!("{program}, see cargo xtask test --only tools: {error}"));
        let complaints = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && complaints.is_empty(), "{program}: {complaints}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The pages' text in the order in which it was written, without white space.
    fn pages(&self) -> Vec<String> {
        let text = self.told_by("pdftotext", &["-raw", "invoice.pdf", "-"]);
        text.split_terminator('\u{c}').map(squeezed).collect()
    }
}

fn sample(name: &str) -> InvoiceContent {
    samples::named(name).unwrap()
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace()).collect()
}

fn code(code: TaxCode) -> &'static str {
    match code {
        TaxCode::Standard => "SR",
        TaxCode::ZeroRated => "ZR",
        TaxCode::Exempt => "ES",
    }
}

/// A row of the table as it is read.
fn row(line: &Line, invoice: &InvoiceContent) -> String {
    let Line { description, quantity, unit_price, amount, tax_code } = line;
    let (price, amount) = (unit_price.grouped(invoice.currency), amount.grouped(invoice.currency));
    squeezed(&format!("{description}{quantity}{price}{}{amount}", code(*tax_code)))
}

/// Everything that an invoice must say, but for its rows.
fn facts(invoice: &InvoiceContent) -> Vec<String> {
    let money = |amount: parceltrack::domain::Money| amount.for_people(invoice.currency);
    let (seller, totals) = (&invoice.seller, invoice.totals());
    let taxed = invoice.lines.iter().any(|line| line.tax_code == TaxCode::Standard);
    let rate = if taxed { format!("GST {} %{}", invoice.tax_rate, money(totals.tax)) } else { money(totals.tax) };
    let mut facts = vec![
        "Tax Invoice".to_owned(),
        seller.name.to_string(),
        seller.address.to_string(),
        format!("GST Reg. No. {}", seller.gst_number),
        format!("UEN {}", seller.registration_number),
        seller.email.as_str().to_owned(),
        invoice.recipient.to_string(),
        invoice.email.as_str().to_owned(),
        format!("Invoice number {}", invoice.number),
        "Issue date 1 January 2026".to_owned(),
        format!("Due date {} {} {}", invoice.due_on().day(), invoice.due_on().month(), invoice.due_on().year()),
        format!("Tracking number {}", invoice.tracking_number.as_str()),
        format!("Total without GST {}", money(totals.subtotal)),
        rate,
        format!("Total with GST {}", money(totals.total)),
        "Payment terms:".to_owned(),
    ];
    facts.extend(invoice.address.iter().map(ToString::to_string));
    facts.extend(invoice.postal_code.iter().map(|code| format!("Singapore {}", code.as_str())));
    facts.extend(invoice.reference.iter().map(|reference| format!("Your reference {reference}")));
    let name = |code| match code {
        TaxCode::Standard => format!("Standard-rated {} %", invoice.tax_rate),
        TaxCode::ZeroRated => "Zero-rated 0 %".to_owned(),
        TaxCode::Exempt => "Exempt".to_owned(),
    };
    facts.extend(totals.by_tax_code.iter().map(|sum| {
        let (net, tax) = (sum.net.grouped(invoice.currency), sum.tax.grouped(invoice.currency));
        format!("{}{}{net}{tax}", code(sum.code), name(sum.code))
    }));
    facts.iter().map(|fact| squeezed(fact)).collect()
}

#[test]
fn every_word_and_amount_of_every_sample_is_read_by_another_program() {
    for name in samples::NAMES {
        let (invoice, rendered) = (sample(name), Rendered::of_sample(name));
        let text = rendered.pages().concat();
        for fact in facts(&invoice) {
            assert!(text.contains(&fact), "{name}: {fact}\nis not in\n{text}");
        }
        for line in &invoice.lines {
            assert!(text.contains(&row(line, &invoice)), "{name}: {}", row(line, &invoice));
        }
        assert_eq!(rendered.missing, 0, "{name}");
        assert!(!text.contains('\u{fffd}'), "{name}");
    }
}

#[test]
fn rows_are_whole_heads_are_repeated_and_the_totals_are_not_alone() {
    for name in samples::NAMES {
        let (invoice, pages) = (sample(name), Rendered::of_sample(name).pages());
        let head = format!("DESCRIPTIONQUANTITYUNITPRICEGSTAMOUNT({})", invoice.currency.code());
        let mut next = 0;
        for (index, page) in pages.iter().enumerate() {
            assert!(page.contains(&format!("Page{}of{}", index + 1, pages.len())), "{name}: {page}");
            let on_page = invoice.lines[next..].iter().take_while(|line| page.contains(&row(line, &invoice))).count();
            next += on_page;
            assert_eq!(page.matches(&head).count(), usize::from(on_page > 0), "{name}, page {}", index + 1);
            let is_last = index + 1 == pages.len();
            assert!(on_page > 0 || !is_last, "{name}: the totals are alone");
            for part in ["GSTSUMMARY", "TotalwithoutGST", "TotalwithGST", "Pleasequote"] {
                assert_eq!(page.contains(part), is_last, "{name}, page {}: {part}", index + 1);
            }
            assert!(index == 0 || page.contains(&format!("TaxInvoice{}", invoice.number)), "{name}: whose page?");
        }
        assert_eq!(next, invoice.lines.len(), "{name}: every row, in order, each on one page");
    }
}

#[test]
fn an_invoice_of_any_length_keeps_the_totals_with_a_row() {
    let line = samples::line("Delivery", 1, 1250, TaxCode::Standard);
    for count in 10..=70 {
        let invoice = samples::invoice("Tan Wei Ming", vec![line.clone(); count]);
        let last = Rendered::new(&invoice).pages().pop().unwrap();
        assert!(last.contains("TotalwithGST") && last.contains(&row(&line, &invoice)), "{count} lines: {last}");
    }
}

#[test]
fn the_files_are_sound_and_say_what_they_are() {
    for name in samples::NAMES {
        let (invoice, rendered) = (sample(name), Rendered::of_sample(name));
        let verdict = rendered.told_by("qpdf", &["--check", "invoice.pdf"]);
        assert!(verdict.contains("No syntax or stream encoding errors found"), "{name}: {verdict}");

        let about = rendered.told_by("pdfinfo", &["-isodates", "invoice.pdf"]);
        let says = |field: &str, value: &str| {
            let expected = format!("{:<17}{value}\n", format!("{field}:"));
            assert!(about.contains(&expected), "{name}: {expected}not in\n{about}");
        };
        says("Title", &format!("Tax Invoice {}", invoice.number));
        says("Author", invoice.seller.name.as_str());
        says("CreationDate", "2026-01-01T00:30:00+08");
        let catalog = rendered.told_by("qpdf", &["--show-object=trailer", "invoice.pdf"]);
        assert!(catalog.contains("/ID"), "{name}: {catalog}");
        let objects = rendered.told_by("qpdf", &["--qdf", "invoice.pdf", "-"]);
        assert!(objects.contains("/Lang (en-SG)"), "{name}: no language");

        // Two lines of heading; then columns: name, type, encoding, emb, sub, uni, object.
        for font in rendered.told_by("pdffonts", &["invoice.pdf"]).lines().skip(2) {
            assert!(font.contains("Identity-H       yes yes yes"), "{name}: embedded, a subset, readable: {font}");
        }
    }
}

#[test]
fn the_files_are_small() {
    for (name, most) in
        [("one-line", 25_000), ("eight-lines", 25_000), ("mixed-scripts", 45_000), ("thousand-lines", 200_000)]
    {
        let size = Rendered::of_sample(name).size;
        assert!(size <= most, "{name}: {size} bytes");
    }
}

#[test]
fn what_no_font_has_is_seen_and_counted() {
    let lines = vec![samples::line("Parcel for שלום", 1, 1250, TaxCode::Standard)];
    let rendered = Rendered::new(&samples::invoice("\u{202e}gnimieW\u{10ffff}", lines));
    let text = rendered.pages().concat();
    assert!(text.contains("gnimieW\u{fffd}"), "{text}");
    assert!(text.contains("Parcelfor\u{fffd}\u{fffd}\u{fffd}\u{fffd}1"), "{text}");
    assert_eq!(rendered.missing, 5);
}

#[test]
fn the_longest_texts_of_the_widest_characters_find_room() {
    for wide in ["\u{2e3b}", "🏋️", "\u{10ffff}", "ௌ"] {
        let filled = |length: usize| wide.repeat(length / wide.chars().count());
        let mut invoice = sample("largest");
        invoice.seller.name = filled(100).try_into().unwrap();
        invoice.seller.address = filled(300).try_into().unwrap();
        invoice.recipient = filled(200).try_into().unwrap();
        invoice.address = Some(filled(300).try_into().unwrap());
        invoice.reference = Some(filled(100).try_into().unwrap());
        for line in &mut invoice.lines {
            line.description = filled(200).try_into().unwrap();
        }
        let text = Rendered::new(&invoice).pages().concat();
        let shown = if wide == "\u{10ffff}" { "\u{fffd}" } else { wide };
        assert!(text.matches(shown).count() >= 1600 / wide.chars().count(), "{wide}");
    }
}

/// Pinned: a stored invoice is compared with one made again by this digest, maybe by another machine. A change of design
/// or of fonts changes it; then render the samples, look at them, and pin the new digests.
const DIGESTS: [(&str, &str); 2] = [
    ("one-line", "cda9c8f26dc33dbd5837aace6e0a40eec8d214731cb9016618f0ad3ab863dc85"),
    ("mixed-scripts", "755cb9853c287a6715a0539d5cbc7a134df6e65af3ceeab4f0c47631fe1ed2f2"),
];

fn digests() -> String {
    samples::NAMES.map(|name| format!("{name} {}\n", render(&sample(name)).unwrap().sha256())).concat()
}

/// Set in the processes that this test starts: there it prints its digests instead.
const PRINT_DIGESTS: &str = "PARCELTRACK_PRINT_DIGESTS";

#[test]
#[allow(clippy::print_stdout, reason = "the way from one process to the other")]
fn the_same_invoice_is_the_same_file_in_every_process_and_machine() {
    let here = digests();
    if std::env::var_os(PRINT_DIGESTS).is_some() {
        println!("\n{here}");
        return;
    }
    for (name, digest) in DIGESTS {
        assert!(here.contains(&format!("{name} {digest}\n")), "{name} is not as pinned:\n{here}");
    }
    let itself = std::env::current_exe().unwrap();
    for _ in 0..2 {
        let this_test = ["--exact", "the_same_invoice_is_the_same_file_in_every_process_and_machine", "--nocapture"];
        let mut process = Command::new(&itself);
        process.args(this_test).env(PRINT_DIGESTS, "1").env("LANG", "C").env("TZ", "Asia/Tokyo");
        let there = String::from_utf8(process.output().unwrap().stdout).unwrap();
        assert!(there.contains(&here), "{there}");
    }
}

#[test]
fn the_digest_is_that_of_the_bytes() {
    let pdf: Pdf = render(&sample("one-line")).unwrap();
    let digest = pdf.sha256();
    assert_eq!(digest, format!("{:x}", Sha256::digest(pdf.into_bytes())));
}

/// What is removed before printing: it has no shape.
fn may_vanish(character: char) -> bool {
    character.is_whitespace() || is_invisible(character)
}

/// What is left of `page` after `text`, in which characters may have become U+FFFD.
fn without<'a>(page: &'a str, text: &str) -> Option<&'a str> {
    let mut rest = page.chars();
    for character in text.chars() {
        let before = rest.clone();
        match rest.next() {
            Some(read) if read == character => {}
            _ if may_vanish(character) => rest = before,
            Some('\u{fffd}') => {}
            _ => return None,
        }
    }
    Some(rest.as_str())
}

fn shows(page: &str, text: &str, then: &str) -> bool {
    let begins = page.char_indices().map(|(index, _)| &page[index..]);
    begins.filter_map(|page| without(page, text)).any(|rest| rest.trim_start_matches('\u{fffd}').starts_with(then))
}

/// Text as anybody might type it, and as nobody would.
fn any_text(length: usize) -> impl Strategy<Value = String> {
    let character = prop_oneof![
        4 => prop::char::range(' ', '~'),
        2 => prop::char::range('\u{a0}', '\u{24f}'),
        2 => prop::char::range('\u{b80}', '\u{bff}'),
        2 => prop::char::range('\u{4e00}', '\u{9fff}'),
        1 => prop::char::range('\u{300}', '\u{36f}'),
        1 => prop::char::range('\u{2000}', '\u{20bf}'),
        1 => prop::char::range('\u{1f300}', '\u{1faff}'),
        1 => prop::sample::select(vec!['\u{200d}', '\u{fe0f}', '\u{202e}', '\u{200b}', '\u{2066}', '\u{1f3fd}']),
        2 => prop::char::any(),
    ];
    prop::collection::vec(character, 1..length).prop_map(String::from_iter)
}

fn any_line() -> impl Strategy<Value = Line> {
    let description = any_text(200).prop_filter_map("a description", |text| text.try_into().ok());
    let code = prop::sample::select(TaxCode::ALL.to_vec());
    (description, 1..=10_000_u32, 0..=10_000_i64, code).prop_map(|(description, quantity, price, code)| Line {
        description,
        ..samples::line("-", quantity, price, code)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_text_and_any_amount_is_read_again_or_is_visibly_replaced(
        recipient in any_text(200).prop_filter_map("a name", |text| text.try_into().ok()),
        lines in prop::collection::vec(any_line(), 1..30),
    ) {
        let invoice = InvoiceContent { recipient, ..samples::invoice("-", lines) };
        let text = Rendered::new(&invoice).pages().concat();
        prop_assert!(shows(&text, &squeezed(invoice.recipient.as_str()), "customer@"), "{:?}\n{text}", invoice.recipient);
        for line in &invoice.lines {
            let (price, amount) = (line.unit_price.grouped(invoice.currency), line.amount.grouped(invoice.currency));
            let figures = format!("{}{price}{}{amount}", line.quantity, code(line.tax_code));
            prop_assert!(shows(&text, &squeezed(line.description.as_str()), &figures), "{:?}\n{figures}\n{text}", line.description);
        }
        let total = squeezed(&format!("Total with GST {}", invoice.totals().total.for_people(invoice.currency)));
        prop_assert!(text.contains(&total), "{total}");
    }
}
