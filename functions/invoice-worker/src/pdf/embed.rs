//! Fonts as PDF objects: with exact widths, only the glyphs that the invoice uses, and what each of them stands for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use lopdf::{Dictionary, Document, Object, ObjectId, StringFormat, dictionary};
use sha2::{Digest as _, Sha256};

use super::RenderError;
use super::finish::compressed;
use super::fonts::{Face, Subset};
use super::marks::Mark;
use super::shaping::{Glyph, Piece};

/// A face with the glyphs of one invoice.
pub(super) struct UsedFont {
    pub(super) face: Face,
    glyphs: BTreeSet<u16>,
    subset: Subset,
    meanings: BTreeMap<u16, String>,
}

impl UsedFont {
    /// The fonts that the marks need.
    pub(super) fn all(marks: &[Mark]) -> Result<BTreeMap<Face, Self>, RenderError> {
        let mut glyphs = BTreeMap::<Face, BTreeSet<u16>>::new();
        let mut meanings = BTreeMap::<Face, BTreeMap<u16, String>>::new();
        let lines = marks.iter().filter_map(|mark| match mark {
            Mark::Text { line, .. } => Some(line),
            Mark::Strokes(_) => None,
        });
        for piece in lines.flat_map(|line| &line.pieces) {
            glyphs.entry(piece.face).or_default().extend(piece.glyphs.iter().map(|glyph| glyph.id));
            learn(piece, meanings.entry(piece.face).or_default());
        }
        glyphs
            .into_iter()
            .map(|(face, glyphs)| {
                let subset = face.subset(&glyphs)?;
                Ok((face, Self { face, glyphs, subset, meanings: meanings.remove(&face).unwrap_or_default() }))
            })
            .collect()
    }

    /// The number by which the page's content calls a glyph.
    pub(super) fn number(&self, glyph: u16) -> u16 {
        self.subset.number(glyph)
    }

    /// Whether a reader that knows only each glyph's meaning reads this text.
    pub(super) fn reads(&self, glyphs: &[Glyph], text: &str) -> bool {
        let mut rest = text;
        let understood = glyphs.iter().all(|glyph| {
            let tail = self.meanings.get(&glyph.id).and_then(|meaning| rest.strip_prefix(meaning.as_str()));
            tail.map(|tail| rest = tail).is_some()
        });
        understood && rest.is_empty()
    }

    /// The name by which a page's content calls the font.
    pub(super) fn resource(&self) -> String {
        format!("F{}", self.face as usize)
    }

    /// Puts the font into the document.
    pub(super) fn embed(&self, document: &mut Document) -> Result<ObjectId, RenderError> {
        let name = format!("{}+{}", tag(&self.subset.file), self.face.name());
        let length = i64::try_from(self.subset.file.len()).unwrap_or(i64::MAX);
        let file = document.add_object(compressed(dictionary! { "Length1" => length }, &self.subset.file));
        let metrics = self.face.font().metrics();
        let thousandths = 1000.0 / self.face.units_per_em();
        let line = metrics.hhea_line.ok_or_else(|| self.damaged("no hhea table"))?;
        let scaled = |value: f64| Object::Real(value * thousandths);
        let bounds = metrics.bounds;
        let descriptor = document.add_object(dictionary! {
            "Type" => "FontDescriptor",
            "FontName" => name.clone(),
            "Flags" => 4,
            "FontBBox" => vec![
                scaled(bounds.x_min.to_f64()), scaled(bounds.y_min.to_f64()),
                scaled(bounds.x_max.to_f64()), scaled(bounds.y_max.to_f64()),
            ],
            "ItalicAngle" => 0,
            "Ascent" => scaled(line.ascender.to_f64()),
            "Descent" => scaled(line.descender.to_f64()),
            "CapHeight" => scaled(metrics.cap_height.unwrap_or(line.ascender).to_f64()),
            "StemV" => 80,
            "FontFile2" => file,
        });
        let descendant = document.add_object(dictionary! {
            "Type" => "Font",
            "Subtype" => "CIDFontType2",
            "BaseFont" => name.clone(),
            "CIDSystemInfo" => dictionary! {
                "Registry" => Object::String(b"Adobe".to_vec(), StringFormat::Literal),
                "Ordering" => Object::String(b"Identity".to_vec(), StringFormat::Literal),
                "Supplement" => 0,
            },
            "CIDToGIDMap" => "Identity",
            "FontDescriptor" => descriptor,
            "DW" => 0,
            "W" => self.widths(),
        });
        let to_unicode = document.add_object(compressed(Dictionary::new(), self.to_unicode().as_bytes()));
        Ok(document.add_object(dictionary! {
            "Type" => "Font",
            "Subtype" => "Type0",
            "BaseFont" => name,
            "Encoding" => "Identity-H",
            "DescendantFonts" => vec![descendant.into()],
            "ToUnicode" => to_unicode,
        }))
    }

    /// The glyphs are numbered from 1 without a gap, so one list has them all.
    fn widths(&self) -> Vec<Object> {
        let by_number: BTreeMap<u16, f64> =
            self.glyphs.iter().map(|glyph| (self.number(*glyph), self.face.advance(*glyph))).collect();
        let width = |width: f64| {
            // lopdf writes two decimals, which most widths do not need.
            #[allow(clippy::cast_possible_truncation, reason = "a whole number of some thousand at most")]
            if width.fract() == 0.0 { Object::Integer(width as i64) } else { Object::Real(width) }
        };
        vec![1.into(), by_number.into_values().map(width).collect::<Vec<_>>().into()]
    }

    fn to_unicode(&self) -> String {
        let mut map = String::from(
            "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n\
             /CIDSystemInfo <</Registry (Adobe) /Ordering (UCS) /Supplement 0>> def\n\
             /CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n\
             1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n",
        );
        let meanings: Vec<_> = self.meanings.iter().map(|(glyph, text)| (self.number(*glyph), text)).collect();
        // A hundred at most in one list, says the specification of these maps.
        for meanings in meanings.chunks(100) {
            let _ = writeln!(map, "{} beginbfchar", meanings.len());
            for (number, text) in meanings {
                let _ = writeln!(map, "<{number:04X}> <{}>", utf16(text));
            }
            map.push_str("endbfchar\n");
        }
        map.push_str("endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n");
        map
    }

    fn damaged(&self, reason: &str) -> RenderError {
        RenderError::Font { font: self.face.name(), reason: reason.to_owned() }
    }
}

/// Notes what glyphs stand for. The first meaning stays: where a glyph means something else, the page says so.
fn learn(piece: &Piece, meanings: &mut BTreeMap<u16, String>) {
    for (bytes, glyphs) in piece.clusters() {
        let text = &piece.text[bytes];
        if let [glyph] = glyphs {
            meanings.entry(glyph.id).or_insert_with(|| text.to_owned());
            continue;
        }
        // Some letters have their usual glyph; the others are paired with what is left, in their order. So a vowel that
        // stands behind its consonant, in a form that suits it, is read without more ado.
        let mut others: Vec<u16> = glyphs.iter().map(|glyph| glyph.id).collect();
        let mut letters: Vec<char> = text.chars().collect();
        letters.retain(|letter| {
            let usual = piece.face.glyph_of(*letter);
            let place = others.iter().position(|glyph| Some(*glyph) == usual);
            if let Some(place) = place {
                meanings.entry(others.remove(place)).or_insert_with(|| letter.to_string());
            }
            place.is_none()
        });
        for (glyph, letter) in others.into_iter().zip(letters) {
            meanings.entry(glyph).or_insert_with(|| letter.to_string());
        }
    }
}

/// UTF-16 in hexadecimal, as PDF writes Unicode.
pub(super) fn utf16(text: &str) -> String {
    text.encode_utf16().fold(String::new(), |mut hexadecimal, unit| {
        let _ = write!(hexadecimal, "{unit:04X}");
        hexadecimal
    })
}

/// Six letters that tell one subset from another.
fn tag(file: &[u8]) -> String {
    Sha256::digest(file).iter().take(6).map(|byte| char::from(b'A' + byte % 26)).collect()
}
