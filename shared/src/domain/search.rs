//! How searched texts are compared: without case, and without the differences that only encodings make.

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

use super::{InvalidText, Text};

/// How many characters of a text can be searched for. As many of the widest as this fit into an index key of DynamoDB.
const SEARCHED_CHARS: usize = 100;

/// The form of a text by which it is found: NFKC (Unicode Standard Annex 15), so that full-width letters are letters,
/// without case; the first hundred characters of that.
#[must_use]
pub fn search_form(text: &str) -> String {
    // Taken apart first, since the case of an accent must not depend on the order in which accents were typed.
    let apart = DecomposingNormalizerBorrowed::new_nfkd().normalize(text);
    // To upper case and back, so that ß and ẞ are ss and the Greek final sigma a sigma. Letter by letter, since the lower
    // case of a whole text depends on where a word ends, and a prefix ends elsewhere.
    let caseless: String = apart
        .trim()
        .chars()
        .flat_map(char::to_lowercase)
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect();
    ComposingNormalizerBorrowed::new_nfkc().normalize(&caseless).chars().take(SEARCHED_CHARS).collect()
}

/// What a text that is looked for begins with: not empty, in its search form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchPrefix(String);

impl SearchPrefix {
    /// The form that is compared.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the text begins so.
    #[must_use]
    pub fn begins(&self, text: &str) -> bool {
        search_form(text).starts_with(&self.0)
    }

    /// Whether a search for this can find a text of this search form.
    #[must_use]
    pub fn finds(&self, form: &str) -> bool {
        form.starts_with(&self.0) && form.chars().count() <= SEARCHED_CHARS
    }
}

impl TryFrom<String> for SearchPrefix {
    type Error = InvalidText;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let text = Text::<SEARCHED_CHARS>::try_from(text)?;
        let form = search_form(text.as_str());
        if form.is_empty() { Err(InvalidText::Missing) } else { Ok(Self(form)) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn prefix(text: &str) -> SearchPrefix {
        SearchPrefix::try_from(text.to_owned()).unwrap()
    }

    #[test]
    fn case_width_and_composition_make_no_difference() {
        for (typed, found) in [
            ("tan", "Tan Wei Ming"),
            ("TAN WEI", "Tan Wei Ming"),
            ("ＴＡＮ", "Tan Wei Ming"),
            ("tan\u{3000}wei", "Tan Wei Ming"),
            ("jose\u{301}", "José Lim"),
            ("STRASSE", "Straße 5"),
            ("STRAẞE", "Straße 5"),
            ("ΟΔΟΣ", "οδοσα"),
            ("οδος", "ΟΔΟΣ"),
            ("陈", "陈伟明"),
            ("முத்", "முத்து"),
            ("po-7", "PO-7123"),
        ] {
            assert!(prefix(typed).begins(found), "{typed} in {found}");
        }
        for (typed, found) in [("an", "Tan"), ("tan wei ming lim", "Tan Wei Ming"), ("po-8", "PO-7123")] {
            assert!(!prefix(typed).begins(found), "{typed} in {found}");
        }
    }

    #[test]
    fn a_search_for_nothing_too_much_or_a_line_break_is_refused() {
        let of = |text: &str| SearchPrefix::try_from(text.to_owned());
        assert_eq!(of("  "), Err(InvalidText::Missing));
        assert_eq!(of(&"a".repeat(101)), Err(InvalidText::TooLong(100)));
        assert_eq!(of("a\nb"), Err(InvalidText::ControlCharacter));
    }

    proptest! {
        #[test]
        fn a_text_is_found_by_itself_in_any_case(text in r"[\p{L}\p{N}][\p{L}\p{N}\p{P} ]{0,120}") {
            // A Greek iota below a letter becomes a letter of its own, so accents must be in order before the case changes.
            let apart = DecomposingNormalizerBorrowed::new_nfkd().normalize(&text);
            for typed in [text.clone(), apart.to_uppercase(), apart.to_lowercase()] {
                if let Ok(prefix) = SearchPrefix::try_from(typed) {
                    prop_assert!(prefix.begins(&text));
                }
            }
        }

        #[test]
        fn the_form_of_any_text_fits_into_a_key(text in r"\PC{0,200}") {
            prop_assert!(search_form(&text).len() <= 4 * SEARCHED_CHARS);
        }

        #[test]
        fn a_text_of_ascii_is_found_by_each_of_its_beginnings(text in "[!-~]([ -~]{0,80}[!-~])?", cut in 1_usize..80) {
            let beginning: String = text.chars().take(cut).collect();
            prop_assert!(prefix(&beginning.to_uppercase()).begins(&text));
        }
    }
}
