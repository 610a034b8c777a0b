//! Text as glyphs with their places, and lines that are never wider than asked, whatever the text.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use harfrust::{Buffer, BufferFlags, ShapeOptions, ShaperFont};
use unicode_linebreak::linebreaks;
use unicode_segmentation::UnicodeSegmentation as _;

use super::RenderError;
use super::fonts::Face;
use super::text::by_face;

/// A glyph and its place, in thousandths of the font size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Glyph {
    pub(super) id: u16,
    /// Where the text that it stands for begins in its piece. Glyphs of one cluster share this.
    pub(super) cluster: usize,
    /// How far the pen moves.
    pub(super) advance: f64,
    /// How far from the pen it is drawn.
    pub(super) shift: (f64, f64),
}

/// A stretch of a line that one face draws.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) face: Face,
    /// Drawn with an outline, since it should be bold and the face has no bold companion.
    pub(super) emboldened: bool,
    pub(super) text: String,
    pub(super) glyphs: Vec<Glyph>,
}

impl Piece {
    /// The clusters in their order: which bytes of the text, and which glyphs stand for them.
    pub(super) fn clusters(&self) -> impl Iterator<Item = (Range<usize>, &[Glyph])> {
        let clusters = self.glyphs.chunk_by(|one, other| one.cluster == other.cluster);
        let ends = clusters.clone().skip(1).map(|glyphs| glyphs[0].cluster).chain([self.text.len()]);
        clusters.zip(ends).map(|(glyphs, end)| (glyphs[0].cluster..end, glyphs))
    }
}

/// A line of text, shaped.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    pub(super) pieces: Vec<Rc<Piece>>,
    /// In thousandths of the font size.
    pub(super) width: f64,
}

/// Shapes text; the same text is shaped once per invoice.
#[derive(Default)]
pub(super) struct Shaper {
    fonts: HashMap<Face, ShaperFont<'static, 'static>>,
    known: HashMap<(Face, bool, String), Rc<Piece>>,
}

impl Shaper {
    /// The text on one line, however long.
    pub(super) fn line(&mut self, text: &str, bold: bool) -> Result<Line, RenderError> {
        let mut line = Line::default();
        for (face, text) in by_face(text) {
            let piece = self.piece(face, text, bold)?;
            line.width += piece.glyphs.iter().map(|glyph| glyph.advance).sum::<f64>();
            line.pieces.push(piece);
        }
        Ok(line)
    }

    /// The text on lines no wider than `width` (in thousandths of the font size), but for single characters that are.
    ///
    /// Lines end where Unicode allows it, and in the middle of a word that would not fit on a line of its own.
    pub(super) fn lines(&mut self, text: &str, bold: bool, width: f64) -> Result<Vec<Line>, RenderError> {
        let whole = self.line(text, bold)?;
        if whole.width <= width {
            return Ok(vec![whole]);
        }
        let reach = reach(&whole, text.len());
        let breaks: Vec<usize> = linebreaks(text).map(|(end, _)| end).collect();
        let clusters: Vec<usize> = text.grapheme_indices(true).map(|(begin, _)| begin).chain([text.len()]).collect();
        let fits = |begin: usize, end: usize| {
            let visible = begin + text[begin..end].trim_end().len();
            reach[visible] - reach[begin] <= width
        };
        let last_fitting = |ends: &[usize], begin: usize| {
            ends.iter().copied().skip_while(|end| *end <= begin).take_while(|end| fits(begin, *end)).last()
        };
        let mut lines = Vec::new();
        let mut begin = 0;
        while begin < text.len() {
            let end = last_fitting(&breaks, begin)
                .or_else(|| last_fitting(&clusters, begin))
                .or_else(|| clusters.iter().copied().find(|end| *end > begin))
                .unwrap_or(text.len());
            let line = text[begin..end].trim();
            if !line.is_empty() {
                lines.push(self.line(line, bold)?);
            }
            begin = end;
        }
        Ok(lines)
    }

    fn piece(&mut self, face: Face, text: &str, bold: bool) -> Result<Rc<Piece>, RenderError> {
        let key = (face, bold, text.to_owned());
        if let Some(piece) = self.known.get(&key) {
            return Ok(Rc::clone(piece));
        }
        let (face, emboldened) =
            if bold { face.bold().map_or((face, true), |face| (face, false)) } else { (face, false) };
        let font = self.fonts.entry(face).or_insert_with(|| ShaperFont::new(face.font()));
        let glyphs = shape(face, font, text)?;
        let piece = Rc::new(Piece { face, emboldened, text: text.to_owned(), glyphs });
        self.known.insert(key, Rc::clone(&piece));
        Ok(piece)
    }
}

fn shape(face: Face, font: &ShaperFont<'static, 'static>, text: &str) -> Result<Vec<Glyph>, RenderError> {
    let failed = |reason: String| RenderError::Font { font: face.name(), reason };
    let mut buffer = Buffer::new();
    buffer.push_str(text);
    buffer.set_direction(face.plan().direction());
    buffer.set_script(face.plan().script());
    buffer.set_flags(BufferFlags::REMOVE_DEFAULT_IGNORABLES);
    harfrust::shape(font, &mut buffer, ShapeOptions::new().plan(Some(face.plan())))
        .map_err(|error| failed(error.to_string()))?;
    let thousandths = 1000.0 / face.units_per_em();
    buffer
        .glyph_infos()
        .iter()
        .zip(buffer.glyph_positions())
        .map(|(info, position)| {
            let id = u16::try_from(info.glyph_id).map_err(|error| failed(error.to_string()))?;
            Ok(Glyph {
                id,
                cluster: info.cluster as usize,
                advance: f64::from(position.x_advance) * thousandths,
                shift: (f64::from(position.x_offset) * thousandths, f64::from(position.y_offset) * thousandths),
            })
        })
        .collect()
}

/// How far the pen has come before each byte of the text. Within a cluster it stands still.
fn reach(line: &Line, length: usize) -> Vec<f64> {
    let mut reach = Vec::with_capacity(length + 1);
    let mut pen = 0.0;
    for piece in &line.pieces {
        let begin = reach.len();
        for (bytes, glyphs) in piece.clusters() {
            reach.resize(begin + bytes.end, pen);
            pen += glyphs.iter().map(|glyph| glyph.advance).sum::<f64>();
        }
        reach.resize(begin + piece.text.len(), pen);
    }
    reach.resize(length + 1, pen);
    reach
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: &[Line]) -> Vec<String> {
        lines.iter().map(|line| line.pieces.iter().map(|piece| piece.text.as_str()).collect()).collect()
    }

    #[test]
    fn lines_end_between_words_and_in_words_only_if_they_must() {
        let mut shaper = Shaper::default();
        let lines = shaper.lines("Delivery of one parcel to Changi", false, 8_000.0).unwrap();
        assert_eq!(texts(&lines), ["Delivery of one", "parcel to Changi"]);
        let lines = shaper.lines(&format!("a {}", "W".repeat(20)), false, 8_000.0).unwrap();
        assert_eq!(texts(&lines).concat(), format!("a{}", "W".repeat(20)));
        assert!(lines.len() > 2 && lines.iter().all(|line| line.width <= 8_000.0));
    }

    #[test]
    fn no_letter_is_lost_and_no_line_too_wide() {
        let mut shaper = Shaper::default();
        for text in ["陈伟明".repeat(60), "முத்துலட்சுமி ".repeat(9), "a\u{301}".repeat(90), "👩‍🚀".repeat(20)]
        {
            let lines = shaper.lines(&text, true, 9_000.0).unwrap();
            assert_eq!(texts(&lines).concat().replace(' ', ""), text.replace(' ', ""));
            assert!(lines.iter().all(|line| line.width <= 9_100.0), "{text}");
        }
    }

    #[test]
    fn a_column_too_narrow_for_a_letter_still_ends() {
        let lines = Shaper::default().lines("WWW 陈", false, 1.0).unwrap();
        assert_eq!(texts(&lines), ["W", "W", "W", "陈"]);
    }

    #[test]
    fn tamil_vowels_are_put_before_their_consonant() {
        let line = Shaper::default().line("கொ", false).unwrap();
        let glyphs: Vec<u16> = line.pieces[0].glyphs.iter().map(|glyph| glyph.id).collect();
        let expected: Vec<u16> = "\u{bc6}க\u{bbe}".chars().map(|part| Face::Tamil.glyph_of(part).unwrap()).collect();
        assert_eq!(glyphs, expected);
    }
}
