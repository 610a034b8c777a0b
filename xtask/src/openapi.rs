//! `cargo xtask openapi`: writes what the API says of itself, for programs and for people.

mod page;

use std::fs;

use anyhow::{Context, Result};

use crate::root;

const DOCUMENT: &str = "docs/openapi.json";
const PAGE: &str = "functions/api/src/pages/docs.html";

pub(crate) fn run() -> Result<()> {
    let root = root()?;
    for (path, content) in files()? {
        fs::write(root.join(path), content).with_context(|| format!("cannot write {path}"))?;
        println!("{path}");
    }
    Ok(())
}

/// Both files, as the code wants them.
fn files() -> Result<[(&'static str, String); 2]> {
    let document = api::openapi();
    Ok([(DOCUMENT, format!("{}\n", serde_json::to_string_pretty(&document)?)), (PAGE, page::render(&document))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_say_what_the_code_says() {
        let root = root().unwrap();
        for (path, content) in files().unwrap() {
            let kept = fs::read_to_string(root.join(path)).unwrap();
            assert!(kept == content, "{path} is not what the code says: run `cargo xtask openapi`, and commit it");
        }
    }
}
