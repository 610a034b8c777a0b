//! Text made fit for print: nothing in it is invisible, and every character is drawn by one of our faces or is a
//! visible U+FFFD, counted.

use parceltrack::domain::is_invisible;
use unicode_segmentation::UnicodeSegmentation as _;

use super::fonts::Face;

/// Stands for what no font can show, so that nobody reads a name with a hole in it as a shorter name.
const REPLACEMENT: char = '\u{fffd}';

/// Asks for the colourful form of a character, where there is one.
const EMOJI_FORM: char = '\u{fe0f}';

const JOINER: char = '\u{200d}';
const NON_JOINER: char = '\u{200c}';

/// The faces in the order in which they are asked for a character.
const FACES: [Face; 4] = [Face::Latin, Face::Tamil, Face::EastAsian, Face::Emoji];

/// The text as it will be printed, and how many of its characters became U+FFFD.
pub(super) fn printable(text: &str) -> (String, usize) {
    let mut printed = String::with_capacity(text.len());
    let mut missing = 0;
    let mut push = |character, face: Option<Face>| {
        missing += usize::from(face.is_none());
        printed.push(if face.is_some() { character } else { REPLACEMENT });
    };
    for cluster in text.graphemes(true) {
        // One face for what is read as one character, or else each part from the face that has it.
        let common = face_of_all(cluster);
        for character in cluster.chars() {
            match character {
                _ if character.is_whitespace() => push(' ', Some(Face::Latin)),
                JOINER | NON_JOINER if matches!(common, Some(Face::Tamil | Face::Emoji)) => push(character, common),
                '\u{fe0e}' | EMOJI_FORM | '\u{e0020}'..='\u{e007f}' if common == Some(Face::Emoji) => {
                    push(character, common);
                }
                _ if is_invisible(character) => {}
                _ => push(character, common.or_else(|| face_of(character))),
            }
        }
    }
    if printed.is_empty() && !text.is_empty() {
        return (REPLACEMENT.to_string(), 1);
    }
    (printed, missing)
}

/// Printable text in pieces that one face can draw.
pub(super) fn by_face(text: &str) -> Vec<(Face, &str)> {
    let mut pieces: Vec<(Face, usize)> = Vec::new();
    let mut add = |face, length| match pieces.last_mut() {
        Some((last, end)) if *last == face => *end += length,
        Some((_, end)) => {
            let end = *end + length;
            pieces.push((face, end));
        }
        None => pieces.push((face, length)),
    };
    for cluster in text.graphemes(true) {
        if let Some(face) = face_of_all(cluster) {
            add(face, cluster.len());
        } else {
            for character in cluster.chars() {
                add(face_of(character).unwrap_or(Face::Latin), character.len_utf8());
            }
        }
    }
    let mut begin = 0;
    pieces
        .into_iter()
        .map(|(face, end)| {
            let piece = &text[begin..end];
            begin = end;
            (face, piece)
        })
        .collect()
}

fn face_of(character: char) -> Option<Face> {
    FACES.into_iter().find(|face| face.covers(character))
}

/// The face that has every visible part of a cluster.
fn face_of_all(cluster: &str) -> Option<Face> {
    let mut characters = cluster.chars();
    if let (Some(' '..='~'), None) = (characters.next(), characters.next()) {
        return Some(Face::Latin);
    }
    let has_all =
        |face: &Face| cluster.chars().filter(|character| !is_invisible(*character)).all(|part| face.covers(part));
    if cluster.contains(EMOJI_FORM) && has_all(&Face::Emoji) {
        return Some(Face::Emoji);
    }
    FACES.into_iter().find(has_all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_script_are_printed_as_they_are() {
        for text in ["Nguyễn Thị Søren", "陈伟明 陳偉明", "முத்துலட்சுமி", "❤️ 👩‍🚀", "a\u{301}", "₹ € £ ¥", "中\u{301}"]
        {
            assert_eq!(printable(text), (text.to_owned(), 0));
        }
    }

    #[test]
    fn what_no_font_has_becomes_visible_and_is_counted() {
        assert_eq!(printable("Tan שלום"), ("Tan \u{fffd}\u{fffd}\u{fffd}\u{fffd}".to_owned(), 4));
        assert_eq!(printable("\u{10ffff}"), ("\u{fffd}".to_owned(), 1));
        assert_eq!(printable("\u{fffd}"), ("\u{fffd}".to_owned(), 0));
    }

    #[test]
    fn what_cannot_be_seen_is_removed() {
        assert_eq!(printable("a\u{202e}b\u{200b}c\u{7}d\u{ad}e\u{200d}f"), ("abcdef".to_owned(), 0));
        assert_eq!(printable("a\u{a0}b\u{3000}c\td"), ("a b c d".to_owned(), 0));
        assert_eq!(printable("\u{202e}\u{200b}"), ("\u{fffd}".to_owned(), 1), "nothing would look like no name");
    }

    #[test]
    fn each_character_is_given_to_the_face_that_has_it() {
        let faces = by_face("Tan 陈伟明 (முத்து) ❤️");
        let expected = [
            (Face::Latin, "Tan "),
            (Face::EastAsian, "陈伟明"),
            (Face::Latin, " ("),
            (Face::Tamil, "முத்து"),
            (Face::Latin, ") "),
            (Face::Emoji, "❤️"),
        ];
        assert_eq!(faces, expected);
        assert_eq!(by_face("中\u{301}"), [(Face::EastAsian, "中"), (Face::Latin, "\u{301}")]);
    }
}
