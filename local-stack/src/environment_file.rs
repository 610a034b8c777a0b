//! The file of settings that `up` leaves for `cargo lambda watch --env-file`, `parcelctl --env-file` and a shell's `source`,
//! which runs the functions against this stack's tables and queues.
//!
//! Each of them reads in it what was written; what they would read differently is not written.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::FUNCTIONS;
use crate::addresses::StackAddresses;
use crate::aws::CREDENTIALS;
use crate::functions::resource;

const HEADER: &str = "# Written by `cargo xtask up` for `cargo lambda watch --env-file .local/env`.\n";

/// A value that some reader would change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} has a value that no quotes carry through cargo-lambda, parcelctl and a shell alike")]
pub struct NotAlike(
    /// Which variable.
    pub String,
);

/// Writes an environment file with the settings of all deployed functions.
pub(crate) async fn write(file: &Path, stack: &StackAddresses) -> Result<()> {
    let mut variables = BTreeMap::new();
    for function in FUNCTIONS {
        variables.extend(stack.function_variables(&format!("{}Name", resource(function))).await?);
    }
    for (name, value) in CREDENTIALS {
        variables.insert(name.to_owned(), value.to_owned());
    }
    variables.insert("AWS_ENDPOINT_URL".to_owned(), stack.emulator_url.clone());
    fs::write(file, environment_file(&variables)?)?;
    Ok(())
}

/// These variables as the lines of such a file.
pub fn environment_file(variables: &BTreeMap<String, String>) -> Result<String, NotAlike> {
    let mut text = HEADER.to_owned();
    for (name, value) in variables {
        let quotes = Quotes::that_carry(value).ok_or_else(|| NotAlike(name.clone()))?.mark();
        text.extend([name, "=", quotes, value, quotes, "\n"]);
    }
    Ok(text)
}

/// What a value stands in.
enum Quotes {
    /// Docker's `--env-file` knows this alone, and takes quotes for a part of the value.
    None,
    Single,
    /// Within them a shell expands.
    Double,
}

impl Quotes {
    /// The least that carries this value, if any does.
    fn that_carry(value: &str) -> Option<Self> {
        // cargo-lambda takes these two for the end of a line within quotes, and this word for a word of its own.
        if value.contains("\\n") || value.chars().any(|it| it.is_control() && it != '\t') {
            None
        } else if value.chars().all(is_plain) && value != "export" {
            Some(Self::None)
        } else if !value.contains('\'') {
            Some(Self::Single)
        } else if !value.contains(['"', '$', '`', '\\']) {
            Some(Self::Double)
        } else {
            None
        }
    }

    fn mark(&self) -> &'static str {
        match self {
            Self::None => "",
            Self::Single => "'",
            Self::Double => "\"",
        }
    }
}

/// Whether a character says nothing but itself to any reader.
fn is_plain(it: char) -> bool {
    it.is_alphanumeric() || "_-./:@%+,".contains(it)
}
