//! The faces of an invoice: every glyph in it comes from one of these six files, which are part of the binary.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use harfrust::{Direction, Font, Script, ShapePlan, Tag};
use subsetter::GlyphRemapper;

use super::RenderError;

/// A font file. Where each comes from stands in `fonts/README.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Face {
    /// Noto Sans: Latin with all accents, Greek, Cyrillic, currency signs; and U+FFFD.
    Latin,
    /// The same in bold.
    LatinBold,
    /// Noto Sans Tamil.
    Tamil,
    /// The same in bold.
    TamilBold,
    /// Droid Sans Fallback: Chinese, simplified and traditional, and Japanese.
    EastAsian,
    /// Noto Emoji, in one colour.
    Emoji,
}

/// What a face needs before its first glyph is drawn, made once per process.
struct Loaded {
    file: &'static [u8],
    font: Font,
    plan: ShapePlan,
}

impl Loaded {
    /// # Panics
    /// If a font of the binary is no font, which the first test to draw a glyph would find.
    fn new(file: &'static [u8], script: [u8; 4]) -> Self {
        let font = Font::new(file, 0).expect("the fonts of the binary are fonts");
        let script = Script::from_iso15924_tag(Tag::new(&script));
        let plan = ShapePlan::new(&font, Direction::LeftToRight, script, None, &[]);
        Self { file, font, plan }
    }
}

macro_rules! loaded {
    ($file:literal, $script:literal) => {
        LazyLock::new(|| Loaded::new(include_bytes!(concat!("fonts/", $file)), *$script))
    };
}

/// In the order of [`Face`]; each is loaded when first used.
static LOADED: [LazyLock<Loaded>; 6] = [
    loaded!("NotoSans-Regular.ttf", b"Latn"),
    loaded!("NotoSans-Bold.ttf", b"Latn"),
    loaded!("NotoSansTamil-Regular.ttf", b"Taml"),
    loaded!("NotoSansTamil-Bold.ttf", b"Taml"),
    loaded!("DroidSansFallbackFull.ttf", b"Hani"),
    loaded!("NotoEmoji-Regular.ttf", b"Zyyy"),
];

impl Face {
    /// The name that the PDF gives the font.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Latin => "NotoSans-Regular",
            Self::LatinBold => "NotoSans-Bold",
            Self::Tamil => "NotoSansTamil-Regular",
            Self::TamilBold => "NotoSansTamil-Bold",
            Self::EastAsian => "DroidSansFallback",
            Self::Emoji => "NotoEmoji-Regular",
        }
    }

    /// The bold companion, if there is one.
    pub(super) const fn bold(self) -> Option<Self> {
        match self {
            Self::Latin | Self::LatinBold => Some(Self::LatinBold),
            Self::Tamil | Self::TamilBold => Some(Self::TamilBold),
            Self::EastAsian | Self::Emoji => None,
        }
    }

    fn loaded(self) -> &'static Loaded {
        &LOADED[self as usize]
    }

    pub(super) fn font(self) -> &'static Font {
        &self.loaded().font
    }

    pub(super) fn plan(self) -> &'static ShapePlan {
        &self.loaded().plan
    }

    pub(super) fn units_per_em(self) -> f64 {
        f64::from(self.font().units_per_em())
    }

    /// The glyph that the face has for a character by itself.
    pub(super) fn glyph_of(self, character: char) -> Option<u16> {
        let glyph = self.font().charmap().map_unicode(character)?;
        u16::try_from(glyph.to_u32()).ok().filter(|glyph| *glyph != 0)
    }

    pub(super) fn covers(self, character: char) -> bool {
        match self {
            Self::Latin | Self::LatinBold if matches!(character, ' '..='~') => true,
            _ => self.glyph_of(character).is_some(),
        }
    }

    /// How far a glyph moves the pen by itself, in thousandths of the font size.
    pub(super) fn advance(self, glyph: u16) -> f64 {
        let advance = self.font().glyph_metrics().h_advance(u32::from(glyph).into());
        f64::from(advance) * 1000.0 / self.units_per_em()
    }

    /// The font with these glyphs and no others.
    pub(super) fn subset(self, glyphs: &BTreeSet<u16>) -> Result<Subset, RenderError> {
        let mut numbers = GlyphRemapper::new();
        for glyph in glyphs {
            numbers.remap(*glyph);
        }
        let file = subsetter::subset(self.loaded().file, 0, &numbers)
            .map_err(|error| RenderError::Font { font: self.name(), reason: error.to_string() })?;
        Ok(Subset { file, numbers })
    }
}

/// A font with the glyphs of one invoice, numbered anew.
pub(super) struct Subset {
    pub(super) file: Vec<u8>,
    numbers: GlyphRemapper,
}

impl Subset {
    /// The number that a glyph has in this font; 0, which draws a box, for one that it was made without.
    pub(super) fn number(&self, glyph: u16) -> u16 {
        self.numbers.get(glyph).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signs_of_every_invoice_are_covered() {
        for character in "AZaz09éÜñåœß₹€£¥$·–—…\u{fffd}".chars() {
            assert!(Face::Latin.covers(character) && Face::LatinBold.covers(character), "{character}");
        }
        for character in "முத்துலட்சுமி".chars() {
            assert!(Face::Tamil.covers(character) && Face::TamilBold.covers(character), "{character}");
        }
        assert!("陈伟明陳偉明體國國号，。（）あア".chars().all(|character| Face::EastAsian.covers(character)));
        assert!("📦🚀💰❤👩".chars().all(|character| Face::Emoji.covers(character)));
    }

    #[test]
    fn a_subset_is_small_and_keeps_its_glyphs_apart() {
        let glyphs = "ABC".chars().map(|character| Face::Latin.glyph_of(character).unwrap()).collect();
        let subset = Face::Latin.subset(&glyphs).unwrap();
        let numbers: BTreeSet<u16> = glyphs.iter().map(|glyph| subset.number(*glyph)).collect();
        assert_eq!(numbers, [1, 2, 3].into());
        assert!(subset.file.len() < 4_000, "{} bytes", subset.file.len());
    }
}
