//! Marks: the lines of text and the strokes of an invoice, each of which is drawn exactly once.
//!
//! genpdf is given the number of a mark to print, not the mark; `finish.rs` puts the mark where the number stands. That
//! spares it the fonts, of which it would embed all, and look up a million code points in each.

use super::RenderError;
use super::shaping::{Line, Shaper};
use super::text::printable;

/// The smallest size that overlong text is set in.
const SMALLEST: f64 = 5.0;

/// Colours, the same as the web page's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    /// What is read first.
    Accent,
    /// Ordinary text.
    Dark,
    /// Labels and small print.
    Soft,
    /// Thin rules.
    Rule,
    /// Ground behind what should be noticed.
    Tint,
    /// The wordmark's own colours.
    White,
    Amber,
}

impl Ink {
    /// Red, green and blue.
    pub(super) const fn rgb(self) -> [u8; 3] {
        match self {
            Self::Accent => [0x0b, 0x55, 0x63],
            Self::Dark => [0x17, 0x23, 0x2a],
            Self::Soft => [0x55, 0x63, 0x6a],
            Self::Rule => [0xd3, 0xda, 0xd9],
            Self::Tint => [0xec, 0xf3, 0xf4],
            Self::White => [0xff, 0xff, 0xff],
            Self::Amber => [0xf4, 0xb8, 0x60],
        }
    }
}

/// How text looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Style {
    /// In points.
    pub(super) size: f64,
    pub(super) bold: bool,
    pub(super) ink: Ink,
}

impl Style {
    pub(super) const fn new(size: f64, ink: Ink) -> Self {
        Self { size, bold: false, ink }
    }

    pub(super) const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// From one baseline to the next; Tamil and Chinese need more than Latin would.
    pub(super) fn line_height(self) -> f64 {
        self.size * 1.4
    }
}

/// A stroke through points, in points from where the mark stands, y downwards.
#[derive(Clone, Debug)]
pub(super) struct Stroke {
    pub(super) ink: Ink,
    pub(super) width: f64,
    /// Round corners and ends, not square ones.
    pub(super) round: bool,
    pub(super) closed: bool,
    pub(super) points: Vec<(f64, f64)>,
}

/// What can stand on a page.
#[derive(Debug)]
pub(super) enum Mark {
    Text { line: Line, style: Style },
    Strokes(Vec<Stroke>),
}

/// The number of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MarkNumber(pub(super) usize);

/// A line of text that is ready to be placed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label {
    pub(super) mark: MarkNumber,
    /// In points.
    pub(super) width: f64,
}

/// Makes the marks of one invoice and keeps them.
#[derive(Default)]
pub(super) struct Composer {
    shaper: Shaper,
    marks: Vec<Mark>,
    missing: usize,
}

impl Composer {
    /// One line in its full size, however long.
    pub(super) fn line(&mut self, text: &str, style: Style) -> Result<Label, RenderError> {
        self.fitting(text, style, f64::INFINITY)
    }

    /// One line, set smaller if it would be wider than `width` points.
    pub(super) fn fitting(&mut self, text: &str, mut style: Style, width: f64) -> Result<Label, RenderError> {
        let (text, missing) = printable(text);
        self.missing += missing;
        let line = self.shaper.line(&text, style.bold)?;
        let natural = line.width * style.size / 1000.0;
        if natural > width {
            style.size *= width / natural;
        }
        Ok(self.label(line, style))
    }

    /// As many lines as it needs, none wider than `width` points.
    pub(super) fn paragraph(&mut self, text: &str, style: Style, width: f64) -> Result<Vec<Label>, RenderError> {
        Ok(self.compact(text, style, width, f64::INFINITY)?.0)
    }

    /// The same, set smaller if it would be higher than `height` points, as long as it can be read.
    pub(super) fn compact(
        &mut self,
        text: &str,
        mut style: Style,
        width: f64,
        height: f64,
    ) -> Result<(Vec<Label>, Style), RenderError> {
        let (text, missing) = printable(text);
        self.missing += missing;
        loop {
            let lines = self.shaper.lines(&text, style.bold, width * 1000.0 / style.size)?;
            let count = lines.len();
            #[allow(clippy::cast_precision_loss, reason = "a text has at most some hundred lines")]
            if style.size <= SMALLEST || count as f64 * style.line_height() <= height {
                return Ok((lines.into_iter().map(|line| self.label(line, style)).collect(), style));
            }
            style.size = (style.size - 0.5).max(SMALLEST);
        }
    }

    pub(super) fn strokes(&mut self, strokes: Vec<Stroke>) -> MarkNumber {
        self.keep(Mark::Strokes(strokes))
    }

    /// The marks, and how many characters no face has.
    pub(super) fn finish(self) -> (Vec<Mark>, usize) {
        (self.marks, self.missing)
    }

    fn label(&mut self, line: Line, style: Style) -> Label {
        let width = line.width * style.size / 1000.0;
        Label { mark: self.keep(Mark::Text { line, style }), width }
    }

    fn keep(&mut self, mark: Mark) -> MarkNumber {
        self.marks.push(mark);
        MarkNumber(self.marks.len() - 1)
    }
}
