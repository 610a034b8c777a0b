//! The invoice as a PDF.
//!
//! [`render`] is pure: no clock, no I/O, no randomness, only the invoice's own content; the same invoice is the same file
//! in every process. Another engine could take its place.
//!
//! The way of a text: made printable (`text`), shaped and broken into lines (`shaping`), given a place in the design
//! (`design`) as a numbered mark (`marks`), put on a page by genpdf (`blocks`, `pagination`), and drawn there with just
//! the glyphs that the invoice uses (`finish`, `drawing`, `embed`).

use std::sync::LazyLock;

use genpdf::Document;
use genpdf::error::Error as GenpdfError;
use genpdf::fonts::{FontData, FontFamily};
use parceltrack::domain::InvoiceContent;
use printpdf::BuiltinFont;
use sha2::{Digest as _, Sha256};

mod blocks;
mod design;
mod drawing;
mod embed;
mod finish;
mod fonts;
mod marks;
mod pagination;
mod placed;
pub mod samples;
mod shaping;
mod text;

use blocks::Frames;
use design::Design;
use marks::Composer;

/// A finished PDF file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pdf {
    bytes: Vec<u8>,
    missing: usize,
}

impl Pdf {
    /// The file.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// SHA-256 of the file, in lower-case hexadecimal.
    #[must_use]
    pub fn sha256(&self) -> String {
        use std::fmt::Write as _;
        Sha256::digest(&self.bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// How many characters of the invoice no font has: each shows as U+FFFD, and somebody should add a font.
    #[must_use]
    pub fn missing(&self) -> usize {
        self.missing
    }
}

/// No file, rather than one that lacks something.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The layout engine refused.
    #[error("the PDF cannot be laid out")]
    Layout(#[from] GenpdfError),
    /// A font of ours cannot be used for this text.
    #[error("the PDF cannot be set in {font}: {reason}")]
    Font {
        /// Its name.
        font: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The layout engine wrote what we do not understand.
    #[error("the PDF's layout has an unexpected {0:?}")]
    Unreadable(String),
    /// The layout engine left something out, or drew it twice.
    #[error("the PDF's layout lost mark {mark}")]
    Lost {
        /// Which.
        mark: usize,
    },
    /// The file cannot be read or written.
    #[error("the PDF cannot be written: {0}")]
    File(#[from] lopdf::Error),
}

/// Makes the PDF of an invoice.
pub fn render(invoice: &InvoiceContent) -> Result<Pdf, RenderError> {
    let mut composer = Composer::default();
    let design = Design::of(invoice, &mut composer)?;
    let (marks, missing) = composer.finish();
    let laid_out = lay_out(design)?;
    let bytes = finish::file(&laid_out, &marks, invoice)?;
    Ok(Pdf { bytes, missing })
}

/// Has genpdf put the marks' numbers on pages.
fn lay_out(design: Design) -> Result<Vec<u8>, RenderError> {
    let mut document = Document::new(number_font()?);
    document.set_minimal_conformance();
    document.set_page_decorator(Frames(design.frames));
    document.push(design.head);
    document.push(design.table);
    document.push(design.totals);
    let mut laid_out = Vec::new();
    document.render(&mut laid_out)?;
    Ok(laid_out)
}

/// The font of the marks' numbers. Marked as one that readers have, so that genpdf does not embed it.
fn number_font() -> Result<FontFamily<FontData>, RenderError> {
    static FONT: LazyLock<Result<FontData, String>> = LazyLock::new(|| {
        let file = include_bytes!("fonts/NotoSansTamil-Regular.ttf").to_vec();
        FontData::new(file, Some(BuiltinFont::Helvetica)).map_err(|error| error.to_string())
    });
    let font = FONT.clone().map_err(|reason| RenderError::Font { font: "the font of numbers", reason })?;
    Ok(FontFamily { regular: font.clone(), bold: font.clone(), italic: font.clone(), bold_italic: font })
}
