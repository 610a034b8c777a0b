//! Reads a JSON object field by field into domain types, and gathers everything that is wrong with it at once.

use std::fmt::Display;

use serde_json::{Map, Value};

use crate::problem::{FieldProblem, MOST_NAMED, Problem};

/// From here on, not every whole number has a float of its own: 2⁵³.
const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;

/// What is wrong so far.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    first: Vec<FieldProblem>,
    number: usize,
}

impl Problems {
    /// One more.
    pub(crate) fn add(&mut self, field: impl AsRef<str>, message: impl Display) {
        self.number += 1;
        if self.number <= MOST_NAMED {
            self.first.push(FieldProblem::new(field.as_ref(), &message.to_string()));
        }
    }

    /// The value that was read, unless anything was wrong.
    pub(crate) fn into_result<T>(self, value: Option<T>) -> Result<T, Problem> {
        match value {
            Some(value) if self.number == 0 => Ok(value),
            _ => Err(Problem::InvalidFields { first: self.first, number: self.number }),
        }
    }
}

/// A whole number from 0 on. JSON does not tell 3.0 from 3 (RFC 8259 section 6), and some languages write the one.
pub(crate) fn whole_number(value: &Value) -> Option<u64> {
    let written_with_point = || {
        let number = value.as_f64().filter(|number| number.fract() == 0.0 && *number <= LARGEST_EXACT)?;
        format!("{number:.0}").parse().ok()
    };
    value.as_u64().or_else(written_with_point)
}

/// An object that is being read. Fields that nobody took are unknown, and refused by [`Fields::finish`].
pub(crate) struct Fields {
    object: Map<String, Value>,
    path: String,
}

impl Fields {
    /// The object at `path`; empty for the body itself.
    pub(crate) fn of(value: Value, path: &str, problems: &mut Problems) -> Option<Self> {
        if let Value::Object(object) = value {
            return Some(Self { object, path: path.to_owned() });
        }
        problems.add(if path.is_empty() { "body" } else { path }, "must be a JSON object");
        None
    }

    /// The name of a field of this object, as problems call it.
    pub(crate) fn name(&self, field: &str) -> String {
        if self.path.is_empty() { field.to_owned() } else { format!("{}.{field}", self.path) }
    }

    /// The field's value as it is; `None` for null, which says no more than absence.
    pub(crate) fn take(&mut self, field: &str) -> Option<Value> {
        self.object.remove(field).filter(|value| !value.is_null())
    }

    /// A text that must be there.
    pub(crate) fn required<T, E: Display>(
        &mut self,
        field: &str,
        problems: &mut Problems,
        parse: impl FnOnce(String) -> Result<T, E>,
    ) -> Option<T> {
        if self.object.get(field).is_none_or(Value::is_null) {
            self.object.remove(field);
            problems.add(self.name(field), "is required");
            return None;
        }
        self.optional(field, problems, parse).flatten()
    }

    /// A text that may be there. `None` if it is wrong, `Some(None)` if it is absent.
    #[expect(clippy::option_option, reason = "wrong and absent are two things")]
    pub(crate) fn optional<T, E: Display>(
        &mut self,
        field: &str,
        problems: &mut Problems,
        parse: impl FnOnce(String) -> Result<T, E>,
    ) -> Option<Option<T>> {
        match self.take(field) {
            None => Some(None),
            Some(Value::String(text)) => match parse(text) {
                Ok(value) => Some(Some(value)),
                Err(error) => {
                    problems.add(self.name(field), error);
                    None
                }
            },
            Some(_) => {
                problems.add(self.name(field), "must be a string");
                None
            }
        }
    }

    /// A whole number that may be there. `None` if it is wrong, `Some(None)` if it is absent.
    #[expect(clippy::option_option, reason = "wrong and absent are two things")]
    pub(crate) fn number<T, E: Display>(
        &mut self,
        field: &str,
        problems: &mut Problems,
        parse: impl FnOnce(u64) -> Result<T, E>,
    ) -> Option<Option<T>> {
        let Some(value) = self.take(field) else { return Some(None) };
        // What is no whole number above 0 is refused in the words that are for 0.
        match parse(whole_number(&value).unwrap_or(0)) {
            Ok(number) => Some(Some(number)),
            Err(error) => {
                problems.add(self.name(field), error);
                None
            }
        }
    }

    /// Refuses the fields that are left.
    pub(crate) fn finish(self, problems: &mut Problems) {
        for field in self.object.keys() {
            problems.add(self.name(field), "is not a known field");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_fifty_problems_are_named_shortly_and_all_are_counted() {
        let mut problems = Problems::default();
        for index in 0..1000 {
            problems.add(format!("{index}{}", "陈".repeat(10_000)), "is not a known field");
        }
        let Err(Problem::InvalidFields { first, number }) = problems.into_result(Some(())) else {
            panic!("it is wrong")
        };
        assert_eq!((first.len(), number), (50, 1000));
        assert!(first.iter().all(|problem| problem.field.chars().count() == 201 && problem.field.ends_with("陈…")));
    }

    #[test]
    fn a_whole_number_is_one_however_it_is_written() {
        for (value, number) in [(json!(500), 500), (json!(500.0), 500), (json!(5e2), 500), (json!(0), 0)] {
            assert_eq!(whole_number(&value), Some(number), "{value}");
        }
        for value in [json!(1.5), json!(-1), json!(-1.0), json!(1e300), json!("1"), json!(true), json!([1])] {
            assert_eq!(whole_number(&value), None, "{value}");
        }
    }
}
