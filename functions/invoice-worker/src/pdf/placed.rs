//! Reads where genpdf put the marks. What it does not know, it refuses, so that nothing is overlooked.

use super::RenderError;
use super::marks::MarkNumber;

/// A mark at its place on a page, in points from the lower left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placed {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) mark: MarkNumber,
}

/// The marks of a page, in the order in which they were drawn, from the page's content as genpdf wrote it:
/// for each, `x y Td` and `[<0034><0032>] TJ`, the number in digits of two bytes each.
pub(super) fn read(content: &[u8]) -> Result<Vec<Placed>, RenderError> {
    let content = std::str::from_utf8(content).map_err(|_| unreadable("bytes that are no text"))?;
    let mut placed = Vec::new();
    let mut place = None;
    let mut operands: Vec<&str> = Vec::new();
    for token in content.split_ascii_whitespace() {
        match token {
            "Td" => {
                let [.., x, y] = operands[..] else { return Err(unreadable(token)) };
                place = Some((number(x)?, number(y)?));
            }
            "TJ" => {
                let (x, y) = place.take().ok_or_else(|| unreadable(token))?;
                placed.push(Placed { x, y, mark: mark(&operands)? });
            }
            "BT" | "ET" | "TL" | "Tf" | "BDC" | "EMC" | "q" | "Q" => {}
            operand if operand.starts_with(|first: char| first.is_ascii_digit() || "/[<-".contains(first)) => {
                operands.push(operand);
                continue;
            }
            _ => return Err(unreadable(token)),
        }
        operands.clear();
    }
    Ok(placed)
}

fn mark(operands: &[&str]) -> Result<MarkNumber, RenderError> {
    let digits: String = operands
        .concat()
        .split(['[', ']', '<', '>'])
        .filter(|code| !code.is_empty())
        .map(|code| u32::from_str_radix(code, 16).ok().and_then(char::from_u32).unwrap_or('?'))
        .collect();
    digits.parse().map(MarkNumber).map_err(|_| unreadable(&digits))
}

fn number(text: &str) -> Result<f64, RenderError> {
    text.parse().map_err(|_| unreadable(text))
}

fn unreadable(what: &str) -> RenderError {
    RenderError::Unreadable(what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_with_their_places() {
        let content =
            b"/OC /MC0 BDC\nq\nBT\n1.36 TL\n48.00 799.50 Td\n/Helvetica 1 Tf\n[<0034><0032>] TJ\nET\nQ\nEMC\n";
        assert_eq!(read(content).unwrap(), [Placed { x: 48.0, y: 799.5, mark: MarkNumber(42) }]);
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for content in ["BT 1 2 Td [<0041>] TJ ET", "[<0031>] TJ", "1 Td", "1 2 Td (1) Tj", "0 0 1 rg"] {
            assert!(read(content.as_bytes()).is_err(), "{content}");
        }
    }
}
