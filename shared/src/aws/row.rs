//! Rows of DynamoDB, to and from the types that say what stands in them.

use std::collections::HashMap;
use std::fmt::Display;

use aws_sdk_dynamodb::types::AttributeValue;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ports::PortError;

/// One row: its attributes by name.
pub(super) type Row = HashMap<String, AttributeValue>;

/// A number attribute.
pub(super) fn number(value: impl Into<i64>) -> AttributeValue {
    AttributeValue::N(value.into().to_string())
}

/// A text attribute.
pub(super) fn text(value: impl Display) -> AttributeValue {
    AttributeValue::S(value.to_string())
}

/// Any other attribute.
pub(super) fn attribute(value: impl Serialize) -> Result<AttributeValue, PortError> {
    serde_dynamo::to_attribute_value(value).map_err(|_| unwritable())
}

/// A whole row.
pub(super) fn to_row(value: impl Serialize) -> Result<Row, PortError> {
    serde_dynamo::to_item(value).map_err(|_| unwritable())
}

fn unwritable() -> PortError {
    PortError::Broken("a row that cannot be written".to_owned())
}

/// What stands in a row. A row that cannot be read is broken: trying again would read the same. The reader's words are
/// left out, since they may quote the row.
pub(super) fn from_row<T: DeserializeOwned>(row: Row) -> Result<T, PortError> {
    serde_dynamo::from_item(row).map_err(|_| PortError::Broken("a row that cannot be read".to_owned()))
}
