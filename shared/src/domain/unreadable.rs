//! What may be said of a text that is not what it should be.

use serde_json::error::Category;

/// Where a JSON text stops being what it should be. The reader's own words are left out, since they may quote the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} at line {line}, column {column}")]
pub struct UnreadableJson {
    what: &'static str,
    line: usize,
    column: usize,
}

impl From<serde_json::Error> for UnreadableJson {
    fn from(error: serde_json::Error) -> Self {
        let what = match error.classify() {
            Category::Io | Category::Eof => "it ends",
            Category::Syntax => "no JSON",
            Category::Data => "JSON of another form",
        };
        Self { what, line: error.line(), column: error.column() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::InvoiceId;

    #[test]
    fn it_says_where_and_not_what() {
        let told = |text| UnreadableJson::from(serde_json::from_str::<InvoiceId>(text).unwrap_err()).to_string();
        assert_eq!(told(r#""zebedee@example.com""#), "JSON of another form at line 1, column 21");
        assert_eq!(told("zebedee"), "no JSON at line 1, column 1");
        assert_eq!(told(r#""zebedee"#), "it ends at line 1, column 8");
        let value: Value = json!("zebedee@example.com");
        let error = serde_json::from_value::<InvoiceId>(value).unwrap_err();
        assert_eq!(UnreadableJson::from(error).to_string(), "JSON of another form at line 0, column 0");
    }
}
