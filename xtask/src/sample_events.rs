//! The sample events of `events/`, and what comes out of each on a stack that has just been started. `events/README.md` says
//! it in words.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use local_stack::FUNCTIONS;
use serde_json::{Value, json};

/// One of them.
pub(crate) struct SampleEvent {
    pub(crate) name: String,
    pub(crate) file: PathBuf,
    pub(crate) function: &'static str,
    expected: Expected,
}

enum Expected {
    /// An HTTP answer with this status.
    Status(u16),
    /// Just this.
    Answer(Value),
    /// A report with these members, whatever their numbers.
    Report(&'static [&'static str]),
}

/// All of them, by name.
pub(crate) fn all(root: &Path) -> Result<Vec<SampleEvent>> {
    let mut files = fs::read_dir(root.join("events"))?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files.into_iter().map(SampleEvent::of).collect()
}

impl SampleEvent {
    fn of(file: PathBuf) -> Result<Self> {
        let name = file.file_stem().and_then(|name| name.to_str()).context("an event's name is no text")?.to_owned();
        let function = FUNCTIONS.into_iter().find(|function| name.starts_with(function));
        let function = function.with_context(|| format!("{name} is for no function"))?;
        Ok(Self { expected: expected(&name)?, name, file, function })
    }

    /// Compares, and says in few words what came.
    pub(crate) fn check(&self, answer: &Value) -> Result<String> {
        self.expected.check(answer).with_context(|| format!("{} answers {} with {answer}", self.function, self.name))
    }
}

fn expected(event: &str) -> Result<Expected> {
    Ok(match event {
        "api-health" | "api-list-parcels" | "api-queue" => Expected::Status(200),
        "api-create-parcel" => Expected::Status(201),
        "api-request-invoice" | "api-track" | "api-report-event" | "api-cancel-parcel" | "api-upload-proof" => {
            Expected::Status(404)
        }
        "invoice-worker-tickets" => Expected::Answer(json!({"batchItemFailures": [
            {"itemIdentifier": "0d1f6c1e-4a0b-4f7e-9d0a-5b8c2f3e1a01"},
            {"itemIdentifier": "0d1f6c1e-4a0b-4f7e-9d0a-5b8c2f3e1a03"},
        ]})),
        "domain-events-parcel" | "domain-events-invoice" | "webhook-fan-out-events" | "webhook-worker-tickets" => {
            Expected::Answer(json!({"batchItemFailures": []}))
        }
        "outbox-relay-schedule" | "webhook-relay-schedule" => {
            Expected::Report(&["sent", "refused", "overtaken", "failed"])
        }
        "parcel-simulator-schedule" => Expected::Report(&["moved"]),
        mail if mail.starts_with("mail-events-") => Expected::Answer(json!("Nothing")),
        _ => bail!("nothing is known of what comes out of {event}: say it in {} and in events/README.md", file!()),
    })
}

impl Expected {
    fn check(&self, answer: &Value) -> Result<String> {
        match self {
            Self::Status(status) => {
                ensure!(answer["statusCode"] == *status, "{status} was expected");
                Ok(status.to_string())
            }
            Self::Answer(wanted) => {
                ensure!(answer == wanted, "{wanted} was expected");
                Ok(match answer["batchItemFailures"].as_array() {
                    Some(failures) => format!("{} records come back", failures.len()),
                    None => answer.to_string(),
                })
            }
            Self::Report(members) => {
                let numbers = members.iter().all(|member| answer[member].is_u64());
                ensure!(numbers, "numbers called {} were expected", members.join(", "));
                Ok(answer.to_string())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_has_sample_events_and_the_readme_tells_of_each() {
        let root = crate::root().unwrap();
        let events = all(&root).unwrap();
        let readme = fs::read_to_string(root.join("events/README.md")).unwrap();
        for event in &events {
            let row = format!("| `{}.json` | `{}` |", event.name, event.function);
            assert!(readme.contains(&row), "{row}");
        }
        for function in FUNCTIONS {
            assert!(events.iter().any(|event| event.function == function), "{function}");
        }
    }

    #[test]
    fn another_answer_than_expected_is_told() {
        assert!(Expected::Status(200).check(&json!({"statusCode": 503})).is_err());
        assert!(Expected::Answer(json!("Nothing")).check(&json!("Sent")).is_err());
        assert!(Expected::Report(&["moved"]).check(&json!({})).is_err());
    }
}
