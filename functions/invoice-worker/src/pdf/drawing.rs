//! The content of a page: the marks at their places, each glyph where shaping put it, and readable for other programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::RenderError;
use super::embed::{UsedFont, utf16};
use super::fonts::Face;
use super::marks::{Ink, Mark, Stroke, Style};
use super::placed::Placed;
use super::shaping::{Glyph, Line, Piece};

/// The width of the outline that makes a face bold, as a part of the font size.
const EMBOLDENING: f64 = 0.032;

/// Writes the content of one page.
pub(super) struct Drawing<'a> {
    fonts: &'a BTreeMap<Face, UsedFont>,
    content: String,
    fill: Option<Ink>,
    stroke: Option<Ink>,
}

impl<'a> Drawing<'a> {
    pub(super) fn new(fonts: &'a BTreeMap<Face, UsedFont>) -> Self {
        Self { fonts, content: String::new(), fill: None, stroke: None }
    }

    pub(super) fn draw(&mut self, mark: &Mark, place: Placed) -> Result<(), RenderError> {
        match mark {
            Mark::Text { line, style } => self.text(line, *style, place)?,
            Mark::Strokes(strokes) => strokes.iter().for_each(|stroke| self.stroke(stroke, place)),
        }
        Ok(())
    }

    pub(super) fn finish(self) -> String {
        self.content
    }

    fn stroke(&mut self, stroke: &Stroke, place: Placed) {
        self.stroke_ink(stroke.ink);
        let ends = i32::from(stroke.round);
        let _ = write!(self.content, "{} w {ends} J {ends} j ", Decimal(stroke.width));
        for (index, (x, y)) in stroke.points.iter().enumerate() {
            let operator = if index == 0 { "m" } else { "l" };
            let _ = write!(self.content, "{} {} {operator} ", Decimal(place.x + x), Decimal(place.y - y));
        }
        self.content.push_str(if stroke.closed { "s\n" } else { "S\n" });
    }

    fn text(&mut self, line: &Line, style: Style, place: Placed) -> Result<(), RenderError> {
        self.fill_ink(style.ink);
        let emboldened = line.pieces.iter().any(|piece| piece.emboldened);
        if emboldened {
            self.stroke_ink(style.ink);
            let _ = writeln!(self.content, "{} w 1 j", Decimal(style.size * EMBOLDENING));
        }
        let _ = write!(self.content, "BT {} {} Td ", Decimal(place.x), Decimal(place.y));
        for piece in &line.pieces {
            let font = self.fonts.get(&piece.face).ok_or(RenderError::Unreadable("a font".to_owned()))?;
            let _ = write!(self.content, "/{} {} Tf ", font.resource(), Decimal(style.size));
            if emboldened {
                let _ = write!(self.content, "{} Tr ", if piece.emboldened { 2 } else { 0 });
            }
            PieceWriter { font, size: style.size, pen: 0.0, open: false, content: &mut self.content }.write(piece);
        }
        self.content.push_str(if emboldened { "0 Tr ET\n" } else { "ET\n" });
        Ok(())
    }

    fn fill_ink(&mut self, ink: Ink) {
        if self.fill.replace(ink) != Some(ink) {
            let _ = writeln!(self.content, "{} rg", Colour(ink));
        }
    }

    fn stroke_ink(&mut self, ink: Ink) {
        if self.stroke.replace(ink) != Some(ink) {
            let _ = writeln!(self.content, "{} RG", Colour(ink));
        }
    }
}

/// Writes the glyphs of one piece, cluster by cluster.
struct PieceWriter<'a> {
    font: &'a UsedFont,
    size: f64,
    /// How far the pen must still move, in thousandths of the font size: what shaping wants more than the font does.
    pen: f64,
    /// Within the brackets of a list of glyphs.
    open: bool,
    content: &'a mut String,
}

impl PieceWriter<'_> {
    fn write(mut self, piece: &Piece) {
        for (bytes, glyphs) in piece.clusters() {
            self.cluster(glyphs, &piece.text[bytes]);
        }
        self.close();
    }

    /// Glyphs, with their text beside them if by themselves they would be read as another.
    fn cluster(&mut self, glyphs: &[Glyph], text: &str) {
        if self.font.reads(glyphs, text) {
            self.glyphs(glyphs);
            return;
        }
        self.close();
        let _ = write!(self.content, "/Span <</ActualText <FEFF{}>>> BDC ", utf16(text));
        self.glyphs(glyphs);
        self.close();
        self.content.push_str("EMC ");
    }

    fn glyphs(&mut self, glyphs: &[Glyph]) {
        for glyph in glyphs {
            self.glyph(*glyph);
        }
    }

    fn glyph(&mut self, glyph: Glyph) {
        let (right, up) = glyph.shift;
        self.pen += right;
        let raised = up.abs() >= 0.5;
        if raised {
            self.close();
            let _ = write!(self.content, "{} Ts ", Decimal(up * self.size / 1000.0));
        }
        if !self.open {
            self.content.push('[');
            self.open = true;
        }
        let steps = self.pen.round();
        if steps != 0.0 {
            let _ = write!(self.content, "{}", Decimal(-steps));
            self.pen -= steps;
        }
        if self.content.ends_with('>') {
            // Glyphs side by side share their brackets.
            self.content.pop();
        } else {
            self.content.push('<');
        }
        let _ = write!(self.content, "{:04X}>", self.font.number(glyph.id));
        self.pen += glyph.advance - self.font.face.advance(glyph.id) - right;
        if raised {
            self.close();
            self.content.push_str("0 Ts ");
        }
    }

    fn close(&mut self) {
        if self.open {
            self.content.push_str("]TJ ");
            self.open = false;
        }
    }
}

/// A number with two decimals at most, as short as can be.
struct Decimal(f64);

impl std::fmt::Display for Decimal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = format!("{:.2}", self.0);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        formatter.write_str(if text == "-0" { "0" } else { text })
    }
}

/// Red, green and blue, from 0 to 1.
struct Colour(Ink);

impl std::fmt::Display for Colour {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [red, green, blue] = self.0.rgb().map(|part| format!("{:.3}", f64::from(part) / 255.0));
        write!(formatter, "{red} {green} {blue}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (number, text) in [(0.0, "0"), (-0.001, "0"), (9.0, "9"), (9.5, "9.5"), (-12.345, "-12.35"), (100.0, "100")]
        {
            assert_eq!(Decimal(number).to_string(), text);
        }
    }
}
