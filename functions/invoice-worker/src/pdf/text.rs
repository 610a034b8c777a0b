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

/// The text with words of over `longest` characters broken, since the engine drops a word wider than its column.
pub(super) fn fit(text: &str, longest: usize) -> String {
    text.split(' ')
        .map(|word| {
            let characters: Vec<char> = word.chars().collect();
            characters.chunks(longest).map(|chunk| chunk.iter().collect::<String>()).collect::<Vec<_>>().join(" ")
        })
        .collect::<Vec<_>>()
        .join(" ")
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
        assert_eq!(fit("short words stay", 10), "short words stay");
        assert_eq!(fit("abcdefghij", 4), "abcd efgh ij");
        let long = "X".repeat(200);
        assert_eq!(fit(&long, 28).replace(' ', ""), long);
        assert!(fit(&long, 28).split(' ').all(|word| word.len() <= 28));
    }
}
