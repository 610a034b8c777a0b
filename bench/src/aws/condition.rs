//! Conditions as DynamoDB has them, as far as they are used here: comparisons, `BETWEEN`, `IN`, `begins_with`,
//! `attribute_exists`, `attribute_not_exists`, `AND`, `OR` and brackets.
//! <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html>

use std::cmp::Ordering;

use serde_json::Value;

/// An expression that this is no reader of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unreadable;

/// Whether a condition holds for a row; `input` has the names and values that it stands on.
pub(super) fn holds(expression: &str, row: &Value, input: &Value) -> Result<bool, Unreadable> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace(',', " , ");
    let mut reader = Reader { words: spaced.split_whitespace().collect(), at: 0, row, input };
    let holds = reader.either()?;
    if reader.at == reader.words.len() { Ok(holds) } else { Err(Unreadable) }
}

struct Reader<'a> {
    words: Vec<&'a str>,
    at: usize,
    row: &'a Value,
    input: &'a Value,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<&'a str, Unreadable> {
        let word = *self.words.get(self.at).ok_or(Unreadable)?;
        self.at += 1;
        Ok(word)
    }

    fn took(&mut self, word: &str) -> bool {
        let there = self.words.get(self.at).is_some_and(|next| next.eq_ignore_ascii_case(word));
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, word: &str) -> Result<(), Unreadable> {
        if self.took(word) { Ok(()) } else { Err(Unreadable) }
    }

    fn either(&mut self) -> Result<bool, Unreadable> {
        let mut holds = self.both()?;
        while self.took("OR") {
            holds |= self.both()?;
        }
        Ok(holds)
    }

    fn both(&mut self) -> Result<bool, Unreadable> {
        let mut holds = self.one()?;
        while self.took("AND") {
            holds &= self.one()?;
        }
        Ok(holds)
    }

    fn one(&mut self) -> Result<bool, Unreadable> {
        if self.took("(") {
            let holds = self.either()?;
            self.expect(")")?;
            return Ok(holds);
        }
        match self.words.get(self.at).copied() {
            Some("attribute_not_exists") => Ok(!self.exists()?),
            Some("attribute_exists") => self.exists(),
            Some("begins_with") => self.begins(),
            _ => self.comparison(),
        }
    }

    fn exists(&mut self) -> Result<bool, Unreadable> {
        self.next()?;
        self.expect("(")?;
        let there = self.operand()?.is_some();
        self.expect(")")?;
        Ok(there)
    }

    fn begins(&mut self) -> Result<bool, Unreadable> {
        self.next()?;
        self.expect("(")?;
        let text = self.operand()?;
        self.expect(",")?;
        let prefix = self.operand()?;
        self.expect(")")?;
        let of = |value: Option<&'a Value>| value.and_then(|value| value["S"].as_str());
        Ok(matches!((of(text), of(prefix)), (Some(text), Some(prefix)) if text.starts_with(prefix)))
    }

    fn comparison(&mut self) -> Result<bool, Unreadable> {
        let left = self.operand()?;
        match self.next()? {
            operator @ ("BETWEEN" | "between") => {
                debug_assert!(!operator.is_empty());
                let low = order(left, self.operand()?);
                self.expect("AND")?;
                let high = order(left, self.operand()?);
                Ok(low.is_some_and(Ordering::is_ge) && high.is_some_and(Ordering::is_le))
            }
            "IN" => {
                self.expect("(")?;
                let mut among = false;
                loop {
                    among |= order(left, self.operand()?).is_some_and(Ordering::is_eq);
                    if !self.took(",") {
                        break;
                    }
                }
                self.expect(")")?;
                Ok(among)
            }
            operator => {
                let order = order(left, self.operand()?);
                match operator {
                    "=" => Ok(order.is_some_and(Ordering::is_eq)),
                    "<>" => Ok(!order.is_some_and(Ordering::is_eq)),
                    "<" => Ok(order.is_some_and(Ordering::is_lt)),
                    "<=" => Ok(order.is_some_and(Ordering::is_le)),
                    ">" => Ok(order.is_some_and(Ordering::is_gt)),
                    ">=" => Ok(order.is_some_and(Ordering::is_ge)),
                    _ => Err(Unreadable),
                }
            }
        }
    }

    /// A value of the call, or the row's attribute at a path; `None` if the row has none there.
    fn operand(&mut self) -> Result<Option<&'a Value>, Unreadable> {
        let word = self.next()?;
        if word.starts_with(':') {
            return self.input["ExpressionAttributeValues"].get(word).map(Some).ok_or(Unreadable);
        }
        let mut names = word.split('.').map(|name| name_of(name, self.input));
        let first = names.next().ok_or(Unreadable)??;
        names.try_fold(self.row.get(first), |value, name| Ok(value.and_then(|value| value["M"].get(name.ok()?))))
    }
}

/// The attribute that a name or its stand-in (`#owner`) means.
pub(super) fn name_of<'a>(name: &'a str, input: &'a Value) -> Result<&'a str, Unreadable> {
    if name.starts_with('#') { input["ExpressionAttributeNames"][name].as_str().ok_or(Unreadable) } else { Ok(name) }
}

/// Values of one type are in order: numbers by what they are worth, texts by their bytes.
pub(super) fn order(left: Option<&Value>, right: Option<&Value>) -> Option<Ordering> {
    let (left, right) = (left?, right?);
    if let (Some(left), Some(right)) = (left["N"].as_str(), right["N"].as_str()) {
        return left.parse::<f64>().ok()?.partial_cmp(&right.parse::<f64>().ok()?);
    }
    if let (Some(left), Some(right)) = (left["S"].as_str(), right["S"].as_str()) {
        return Some(left.cmp(right));
    }
    (left == right).then_some(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row() -> Value {
        json!({
            "id": {"S": "b"}, "due": {"N": "10"}, "status": {"S": "Pending"}, "lease": {"M": {"until": {"N": "9"}}},
        })
    }

    fn weighed(expression: &str) -> Result<bool, Unreadable> {
        let input = json!({
            "ExpressionAttributeNames": {"#status": "status", "#until": "until"},
            "ExpressionAttributeValues": {
                ":two": {"N": "2"}, ":ten": {"N": "10"}, ":a": {"S": "a"}, ":b": {"S": "b"},
                ":pending": {"S": "Pending"}, ":p": {"S": "Pend"},
            },
        });
        holds(expression, &row(), &input)
    }

    #[test]
    fn conditions_of_every_kind_are_weighed() {
        for (expression, expected) in [
            ("attribute_not_exists(id)", false),
            ("attribute_not_exists(lease.#until)", false),
            ("attribute_not_exists(gone) AND attribute_exists(due)", true),
            ("attribute_not_exists(id) OR due <= :ten", true),
            ("attribute_not_exists(id) OR (due < :ten AND id = :b)", false),
            ("#status IN (:a, :pending) AND (attribute_not_exists(lease) OR lease.#until <= :ten)", true),
            ("due BETWEEN :two AND :ten", true),
            ("due = :two OR id = :b AND due > :two", true),
            ("begins_with(#status, :p)", true),
            ("gone = :a", false),
            ("gone <> :a", true),
        ] {
            assert_eq!(weighed(expression), Ok(expected), "{expression}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_said_and_not_guessed() {
        for expression in ["", "id", "size(id) > :two", "id = :unknown", "id = :b AND", "NOT id = :b", "#gone = :b"] {
            assert_eq!(weighed(expression), Err(Unreadable), "{expression}");
        }
    }
}
