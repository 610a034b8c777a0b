//! Text made fit for an engine that drops what it cannot place or draw.

/// Stands for what the font cannot show, so that nobody reads a name with a hole in it as a shorter name.
const REPLACEMENT: char = '\u{fffd}';

/// The text with every character that the font lacks made visible.
pub(super) fn printable(text: &str) -> String {
    text.chars().map(|character| if is_in_font(character) { character } else { REPLACEMENT }).collect()
}

/// The blocks that Noto Sans covers: Latin, Greek and Cyrillic with accents, general punctuation, currency signs.
fn is_in_font(character: char) -> bool {
    matches!(u32::from(character),
        0x20..=0x7e | 0xa0..=0x24f | 0x300..=0x36f | 0x391..=0x3a1 | 0x3a3..=0x3ce | 0x400..=0x45f | 0x1e00..=0x1eff
        | 0x2010..=0x2015 | 0x2018..=0x201e | 0x2020..=0x2022 | 0x2026 | 0x20a9 | 0x20ab..=0x20ac | 0x20b9 | 0x2122)
}

/// The text with words broken that are wider than `width`, since the engine drops a word wider than its column.
pub(super) fn fit(text: &str, width: f64, width_of: impl Fn(char) -> f64) -> String {
    let mut fitted = String::with_capacity(text.len());
    let mut word_width = 0.0;
    for character in text.chars() {
        let character_width = width_of(character);
        if character == ' ' {
            word_width = 0.0;
        } else if word_width > 0.0 && word_width + character_width > width {
            fitted.push(' ');
            word_width = character_width;
        } else {
            word_width += character_width;
        }
        fitted.push(character);
    }
    fitted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_font_lacks_is_made_visible() {
        assert_eq!(printable("Tan Søren 陈伟明 €5 ₹"), "Tan Søren \u{fffd}\u{fffd}\u{fffd} €5 ₹");
    }

    #[test]
    fn long_words_are_broken_and_nothing_is_lost() {
        let width_of = |character| if character == 'W' { 2.0 } else { 1.0 };
        assert_eq!(fit("short words stay", 10.0, width_of), "short words stay");
        assert_eq!(fit("abcdefghij", 4.0, width_of), "abcd efgh ij");
        assert_eq!(fit("WWWaaa", 4.0, width_of), "WW Waa a");
        assert_eq!(fit("a WWWW", 4.0, width_of), "a WW WW");
    }
}
