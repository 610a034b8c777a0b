//! What is measured: each function, the least that a function can be, and the API in Python.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Result;
use bench::{Process, settings};
use local_stack::FUNCTIONS;

use super::packages::Built;
use super::{API, FLOOR, PYTHON};

/// A program that is measured.
pub(super) struct Contestant {
    pub(super) name: &'static str,
    /// The size of its package, in bytes.
    pub(super) package: u64,
    program: PathBuf,
    arguments: Vec<OsString>,
    variables: BTreeMap<String, String>,
}

impl Contestant {
    pub(super) async fn start(&self) -> Result<Process> {
        // What is no function of template.yaml is measured beside the API.
        let time_limit = settings::timeout(self.name).or_else(|_| settings::timeout(API))?;
        Process::start(&self.program, &self.arguments, &self.variables, time_limit).await
    }
}

/// All of them, with their AWS at this URL.
pub(super) fn all(built: &Built, aws_url: &str, root: &Path) -> Vec<Contestant> {
    let variables = settings::variables(aws_url);
    let functions = [FLOOR].into_iter().chain(FUNCTIONS).map(|name| Contestant {
        name,
        package: built.packages[name],
        program: built.programs.join(name),
        arguments: Vec::new(),
        variables: variables.clone(),
    });
    let mut python_variables = variables.clone();
    let sources = root.join("bench/peers/python").to_string_lossy().into_owned();
    // The directory of a package cannot be written to in AWS either.
    python_variables.extend([("PYTHONPATH", sources), ("PYTHONDONTWRITEBYTECODE", "1".to_owned())].map(owned));
    let python = Contestant {
        name: PYTHON,
        package: built.packages[PYTHON],
        program: built.python.join("bin/python"),
        arguments: ["-m", "awslambdaric", "app.handler"].map(OsString::from).to_vec(),
        variables: python_variables,
    };
    functions.chain([python]).collect()
}

fn owned((name, value): (&str, String)) -> (String, String) {
    (name.to_owned(), value)
}

/// The one of this name.
pub(super) fn named<'a>(contestants: &'a [Contestant], name: &str) -> &'a Contestant {
    contestants.iter().find(|contestant| contestant.name == name).expect("one of all()")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_may_take_as_long_as_template_yaml_says() {
        let limits = FUNCTIONS.map(|function| settings::timeout(function).unwrap().as_secs());
        // The worker of webhooks begins no call that would not fit into a time as short as the API's.
        let [api, worker] = ["api", "webhook-worker"].map(|name| settings::timeout(name).unwrap());
        assert!(worker > api && limits.iter().all(|limit| *limit > 0), "{limits:?}");
    }
}
