//! What docs/security.md and docs/reliability.md claim is held by tests, and the tests that they name are there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::deployed::{ENVIRONMENTS, of_type, permissions};

const DOCUMENTS: [&str; 2] = ["docs/security.md", "docs/reliability.md"];

/// What ends a section whose claims stand in prose.
const HELD_BY: &str = "Held by ";

/// How to do something, and what was seen when it was done. They claim nothing that a test could hold.
const SECTIONS_WITHOUT_CLAIMS: [&str; 2] = ["Fuzzing", "What it found"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A section's title, and the lists of tests in it: the last cell of each row of a table of claims, and what it is held by.
struct Section {
    title: String,
    tests: Vec<String>,
}

fn sections(document: &str) -> Vec<Section> {
    let text = fs::read_to_string(root().join(document)).unwrap();
    let mut sections: Vec<Section> = Vec::new();
    let mut in_table_of_claims = false;
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ").or_else(|| line.strip_prefix("### ")) {
            sections.push(Section { title: title.to_owned(), tests: vec![] });
        }
        let Some(section) = sections.last_mut() else { continue };
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        match cells.as_slice() {
            ["", .., "test" | "tests", ""] => in_table_of_claims = true,
            ["", .., last, ""] if in_table_of_claims && !last.starts_with("---") => {
                section.tests.push((*last).to_owned());
            }
            ["", .., _, ""] => {}
            _ => in_table_of_claims = false,
        }
        if let Some(tests) = line.strip_prefix(HELD_BY) {
            section.tests.push(tests.to_owned());
        }
    }
    sections
}

/// Every test of the workspace by its name, and every command of `cargo xtask`.
fn tests_and_commands() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut directories = vec![root()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !name.starts_with('.') && name != "target" {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "py") {
                found.extend(tests_in(&fs::read_to_string(path).unwrap()));
            }
        }
    }
    let commands = fs::read_to_string(root().join("xtask/src/main.rs")).unwrap();
    let (_, commands) = commands.split_once("enum Command {").unwrap();
    let (commands, _) = commands.split_once("\n}").unwrap();
    let variants = commands.lines().map(str::trim).filter(|line| line.starts_with(char::is_uppercase));
    found.extend(variants.map(|line| {
        let name: String = line.chars().take_while(char::is_ascii_alphanumeric).collect();
        format!("cargo xtask {}", name.to_lowercase())
    }));
    found
}

fn tests_in(text: &str) -> Vec<String> {
    let mut tests = Vec::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        let function = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ");
        let python = line.strip_prefix("def test_").map(|rest| format!("test_{rest}"));
        if line.starts_with("#[") {
            is_test |= line == "#[test]" || line.starts_with("#[tokio::test");
            continue;
        }
        let declared = function.filter(|_| is_test).map(ToOwned::to_owned).or(python);
        tests.extend(
            declared.map(|declared| declared.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()),
        );
        is_test = false;
    }
    tests
}

#[test]
fn every_claim_names_a_test_that_exists() {
    let known = tests_and_commands();
    let mut wrong = Vec::new();
    for document in DOCUMENTS {
        for Section { title, tests } in sections(document) {
            if tests.is_empty() && !SECTIONS_WITHOUT_CLAIMS.contains(&title.as_str()) {
                wrong.push(format!("{document}, {title}: no claim names a test"));
            }
            for claim in tests {
                let named: Vec<&str> = claim.split('`').skip(1).step_by(2).collect();
                if named.is_empty() {
                    wrong.push(format!("{document}, {title}: {claim:?} names no test"));
                }
                let unknown = named.into_iter().filter(|name| !known.contains(name.split(" -").next().unwrap_or(name)));
                wrong.extend(unknown.map(|name| format!("{document}, {title}: there is no test {name}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The first cells of the table under this title, as far as they are names.
fn names_under(document: &str, title: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(root().join(document)).unwrap();
    let (_, section) = text.split_once(&format!("## {title}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let names = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    names.map(ToOwned::to_owned).collect()
}

#[test]
fn every_table_bucket_and_queue_says_what_personal_data_it_holds() {
    let said = names_under("docs/security.md", "Where personal data is");
    for (environment, template) in &*ENVIRONMENTS {
        let kinds = ["AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::SQS::Queue"];
        let there: BTreeSet<String> =
            kinds.into_iter().flat_map(|kind| of_type(template, kind)).map(|(id, _)| id.clone()).collect();
        assert_eq!(said, there, "{environment}");
    }
}

#[test]
fn the_secrets_of_webhooks_are_read_by_three_functions() {
    for (environment, template) in &*ENVIRONMENTS {
        let reads = |role| {
            permissions(role).iter().any(|(action, on)| {
                on == "WebhooksTable"
                    && ["dynamodb:GetItem", "dynamodb:Query", "dynamodb:BatchGetItem"].contains(&action.as_str())
            })
        };
        let readers: BTreeSet<&str> =
            of_type(template, "AWS::IAM::Role").filter(|(_, role)| reads(role)).map(|(id, _)| id.as_str()).collect();
        assert_eq!(readers, BTreeSet::from(["ApiRole", "WebhookFanOutRole", "WebhookWorkerRole"]), "{environment}");
    }
}
