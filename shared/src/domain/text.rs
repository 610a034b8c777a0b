//! What people write and people see: short texts of one line, with something in them to be seen and nothing that moves
//! the text around it.

use std::fmt;

use icu_normalizer::ComposingNormalizerBorrowed;
use icu_properties::props::{BidiControl, CanonicalCombiningClass, DefaultIgnorableCodePoint};
use icu_properties::{CodePointMapData, CodePointSetData};
use serde::{Deserialize, Deserializer, Serialize};

const ZERO_WIDTH_JOINER: char = '\u{200d}';
const ZERO_WIDTH_NON_JOINER: char = '\u{200c}';

/// One line of text in normalization form C (Unicode Standard Annex 15): something in it can be seen, and nothing in it is
/// a control character, a line break or a bidi control. At most `MAX` characters (Unicode scalar values).
///
/// From people it comes by `try_from`: blanks and what has no width go from both ends, bidi controls from everywhere. Line
/// breaks inside are refused, not removed: in a mail header they would begin a header of the sender's choice. Rows are read
/// without a refusal, since those of earlier releases were written by a laxer rule: what is refused today is taken out of
/// them, and a text of which nothing is left is U+FFFD.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub struct Text<const MAX: usize>(String);

/// Why a text was refused, worded for the person who typed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidText {
    /// Nothing that can be seen.
    #[error("is required")]
    Missing,
    /// More characters than the bound named here.
    #[error("must be at most {0} characters long")]
    TooLong(usize),
    /// A control character or line break.
    #[error("must not contain line breaks or control characters")]
    ControlCharacter,
    /// A postal code that is not six digits.
    #[error("must be six digits such as 018956")]
    NotAPostalCode,
}

impl<const MAX: usize> Text<MAX> {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> TryFrom<String> for Text<MAX> {
    type Error = InvalidText;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let text = tidy(&text);
        if text.chars().any(moves_text) {
            return Err(InvalidText::ControlCharacter);
        }
        if !text.chars().any(is_visible) {
            return Err(InvalidText::Missing);
        }
        if text.chars().count() > MAX {
            return Err(InvalidText::TooLong(MAX));
        }
        Ok(Self(text))
    }
}

impl<'de, const MAX: usize> Deserialize<'de> for Text<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = String::deserialize(deserializer)?;
        let breaks = |character| moves_text(character) && !is_bidi_control(character);
        let shown: String = stored.chars().map(|character| if breaks(character) { ' ' } else { character }).collect();
        let shown = tidy(&shown);
        Ok(Self(if shown.chars().any(is_visible) { shown } else { char::REPLACEMENT_CHARACTER.to_string() }))
    }
}

impl<const MAX: usize> From<Text<MAX>> for String {
    fn from(text: Text<MAX>) -> Self {
        text.0
    }
}

impl<const MAX: usize> fmt::Display for Text<MAX> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Words of somebody else's program, such as a mail server's answer, that people will read: what would move other text is
/// U+FFFD. Line breaks and tabs stay.
#[must_use]
pub fn foreign_words(text: &str) -> String {
    let shown = |character| matches!(character, '\n' | '\t') || !moves_text(character);
    text.chars().map(|character| if shown(character) { character } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// Whether a character has no shape of its own: control characters, line breaks, and what Unicode calls default-ignorable,
/// such as joiners, marks of direction, selectors of form and tags.
#[must_use]
pub fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}')
        || CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(character)
}

/// The text without the blanks and the zero-width characters at both ends.
pub(super) fn trimmed(text: &str) -> &str {
    let text = text.trim_start_matches(is_edge);
    let core = text.trim_end_matches(is_edge);
    // After a virama, a joiner at the end is part of the last letter: the chillus of Malayalam were written so.
    let virama = core.chars().next_back().is_some_and(|last| {
        CodePointMapData::<CanonicalCombiningClass>::new().get(last) == CanonicalCombiningClass::Virama
    });
    match text[core.len()..].chars().next() {
        Some(joiner @ (ZERO_WIDTH_JOINER | ZERO_WIDTH_NON_JOINER)) if virama => &text[..core.len() + joiner.len_utf8()],
        _ => core,
    }
}

/// Without bidi controls, composed, and trimmed. Composed afterwards, since a control may stand between a letter and its
/// accent.
fn tidy(text: &str) -> String {
    let text: String = text.chars().filter(|character| !is_bidi_control(*character)).collect();
    trimmed(&ComposingNormalizerBorrowed::new_nfc().normalize(&text)).to_owned()
}

/// What says nothing at the beginning or the end of a text. Selectors and tags are not among it: an emoji may end with one.
fn is_edge(character: char) -> bool {
    character.is_whitespace()
        || is_bidi_control(character)
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// Whether it would move or reorder the text around it: control characters, line breaks, bidi controls.
pub(crate) fn moves_text(character: char) -> bool {
    // U+2028 and U+2029 are line breaks to Unicode, though not control characters.
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}') || is_bidi_control(character)
}

fn is_bidi_control(character: char) -> bool {
    !character.is_ascii() && CodePointSetData::new::<BidiControl>().contains(character)
}

/// Whether a reader sees it. Three blanks are neither white space nor default-ignorable to Unicode.
fn is_visible(character: char) -> bool {
    !character.is_whitespace()
        && !is_invisible(character)
        && !matches!(character, '\u{2800}' | '\u{16fe4}' | '\u{1d159}')
}

/// A Singapore postal code: six digits, kept as text, since `018956` is not 18956.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PostalCode(String);

impl PostalCode {
    /// The six digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for PostalCode {
    type Error = InvalidText;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_digit()) {
            Ok(Self(text))
        } else {
            Err(InvalidText::NotAPostalCode)
        }
    }
}

impl From<PostalCode> for String {
    fn from(code: PostalCode) -> Self {
        code.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name(text: &str) -> Result<Text<200>, InvalidText> {
        Text::try_from(text.to_owned())
    }

    fn stored(text: &str) -> Text<200> {
        serde_json::from_value(serde_json::json!(text)).unwrap()
    }

    #[test]
    fn names_of_every_script_are_kept_as_they_are() {
        for text in [
            "Tan Wei Ming",
            "陈伟明",
            "முத்து",
            "O'Neil-Søren",
            "<b>Ah Beng</b>",
            "👩\u{200d}🚀",
            "❤\u{fe0f}",
            "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "ක\u{dca}\u{200d}ර",
            "അവന\u{d4d}\u{200d}",
            "می\u{200c}خواهم",
            "שלום",
        ] {
            assert_eq!(name(text).unwrap().as_str(), text);
        }
        assert!(name(&"陈".repeat(200)).is_ok());
    }

    #[test]
    fn what_says_nothing_at_the_ends_is_taken_off() {
        for text in [
            "  Tan ",
            "Tan\n",
            "\tTan\r\n",
            "\u{a0}Tan\u{3000}",
            "\u{feff}Tan\u{200b}",
            "Tan\u{2028}",
            "Tan \u{200d}\u{ad} ",
        ] {
            assert_eq!(name(text).unwrap().as_str(), "Tan", "{text:?}");
        }
        assert_eq!(trimmed("\u{200b}\tTan\u{200d}\u{a0}"), "Tan");
    }

    #[test]
    fn directions_are_taken_out_and_accents_are_composed() {
        assert_eq!(name("Tan\u{202e}gnimieW\u{202c}").unwrap().as_str(), "TangnimieW");
        assert_eq!(name("\u{2067}\u{61c}שלום\u{2069}\u{200f}").unwrap().as_str(), "שלום");
        assert_eq!(name("Jose\u{200e}\u{301}").unwrap().as_str(), "José");
    }

    #[test]
    fn empty_overlong_and_broken_names_are_refused() {
        for text in [
            "",
            " \u{3000} ",
            "\u{200b}",
            "\u{202e}\u{202c}",
            "\u{3164}",
            "\u{2800}",
            "\u{fe0f}\u{200d}",
            "\u{e0041}",
            "\n",
        ] {
            assert_eq!(name(text), Err(InvalidText::Missing), "{text:?}");
        }
        assert_eq!(name(&"a".repeat(201)), Err(InvalidText::TooLong(200)));
        for text in ["a\nb", "a\r\nBcc: x", "\u{0}", "a\u{7f}", "a\u{85}b", "a\u{2028}b"] {
            assert_eq!(name(text), Err(InvalidText::ControlCharacter), "{text:?}");
        }
    }

    #[test]
    fn a_row_of_an_earlier_release_is_shown_safely() {
        for (text, shown) in [
            ("Tan Wei Ming", "Tan Wei Ming"),
            ("Tan\u{202e}gnimieW", "TangnimieW"),
            ("\u{200b}", "\u{fffd}"),
            ("a\u{2028}b", "a b"),
        ] {
            assert_eq!(stored(text).as_str(), shown, "{text:?}");
        }
    }

    #[test]
    fn words_of_a_server_move_nothing() {
        assert_eq!(foreign_words("550\u{202e}no\u{1b}[2J\n\tsuch"), "550\u{fffd}no\u{fffd}[2J\n\tsuch");
    }

    /// Text with many more marks, joiners, blanks and controls than people write.
    fn any_text() -> impl Strategy<Value = String> {
        let character = prop_oneof![
            3 => prop::char::range(' ', '~'),
            1 => prop::char::range('\0', '\u{a0}'),
            2 => prop::char::range('\u{300}', '\u{36f}'),
            2 => prop::char::range('\u{900}', '\u{d7f}'),
            2 => prop::char::range('\u{2000}', '\u{2070}'),
            1 => prop::char::range('\u{1f300}', '\u{1faff}'),
            1 => prop::char::range('\u{e0000}', '\u{e01ff}'),
            1 => prop::sample::select(vec!['\u{61c}', '\u{3164}', '\u{fe0f}', '\u{feff}', '\u{2800}', '\u{200d}']),
            1 => prop::char::any(),
        ];
        prop::collection::vec(character, 0..40).prop_map(String::from_iter)
    }

    proptest! {
        #[test]
        fn what_is_accepted_is_seen_moves_nothing_and_is_accepted_again(text in any_text()) {
            let text = match name(&text) {
                Ok(text) => text,
                Err(_) => stored(&text),
            };
            prop_assert!(text.as_str().chars().any(is_visible));
            prop_assert!(!text.as_str().chars().any(moves_text));
            prop_assert!(ComposingNormalizerBorrowed::new_nfc().is_normalized(text.as_str()));
            prop_assert_eq!(&stored(text.as_str()), &text);
            if text.as_str().chars().count() <= 200 {
                prop_assert_eq!(name(text.as_str()), Ok(text));
            }
        }

        #[test]
        fn only_directions_and_the_ends_are_lost(text in any_text()) {
            // As canonical equivalents, since composing changes code points and no text.
            if let Ok(kept) = name(&text) {
                let without: String = text.chars().filter(|character| !is_bidi_control(*character)).collect();
                let composed = ComposingNormalizerBorrowed::new_nfc().normalize(&without).into_owned();
                let (before, after) = composed.split_once(kept.as_str()).unwrap();
                prop_assert!(before.chars().chain(after.chars()).all(is_edge));
            }
        }

        #[test]
        fn joiners_within_a_word_stay(start in "[\u{915}-\u{939}]\u{94d}", joiner in "[\u{200c}\u{200d}]", end in "[\u{915}-\u{939}]") {
            let word = format!("{start}{joiner}{end}");
            prop_assert_eq!(name(&word).map(String::from), Ok(word));
        }
    }

    #[test]
    fn a_postal_code_keeps_its_leading_zero() {
        assert_eq!(PostalCode::try_from("018956".to_owned()).unwrap().as_str(), "018956");
        for text in ["18956", "0189567", "01895a", "", "０１８９５６"] {
            assert_eq!(PostalCode::try_from(text.to_owned()), Err(InvalidText::NotAPostalCode), "{text}");
        }
    }
}
