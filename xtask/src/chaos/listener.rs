//! A merchant who listens. Whatever goes wrong, each event comes, if need be twice or late.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use bench::Endpoint;
use serde::Deserialize;
use tokio::time::{Instant, sleep};

use super::{figure, retrying};
use crate::api::Api;

/// An event's type, and the id of the parcel or invoice that it is about.
pub(super) type Expected = (&'static str, String);

/// An endpoint that wants to hear everything.
pub(super) struct Listener {
    endpoint: Endpoint,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    sequence: u64,
    parcel_id: String,
    data: Data,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    invoice_id: Option<String>,
}

impl Event {
    fn subject(&self) -> &str {
        self.data.invoice_id.as_deref().unwrap_or(&self.parcel_id)
    }
}

impl Listener {
    /// One whom this API knows.
    pub(super) async fn register(api: &Api) -> Result<Self> {
        let endpoint = Endpoint::start().await?;
        let url = endpoint.url();
        retrying(|| api.register_webhook(&url, "chaos")).await?;
        Ok(Self { endpoint })
    }

    /// Waits until all of these have come, and says how they came.
    ///
    /// # Errors
    /// If one does not come in time, or if a subject's numbers have a gap.
    pub(super) async fn judge(&self, expected: &BTreeSet<Expected>, patience: Duration) -> Result<()> {
        let begin = Instant::now();
        let events = loop {
            let events = self.events()?;
            let heard: HashSet<(&str, &str)> = events.iter().map(|it| (it.kind.as_str(), it.subject())).collect();
            let missing: Vec<_> = expected.iter().filter(|(kind, id)| !heard.contains(&(*kind, id.as_str()))).collect();
            if missing.is_empty() {
                break events;
            }
            if begin.elapsed() >= patience {
                bail!("{} events never came: {missing:?}", missing.len());
            }
            sleep(Duration::from_secs(1)).await;
        };
        figure("all events told after", &format!("{:.0} s more", begin.elapsed().as_secs_f32()));
        let mut told: BTreeMap<&str, BTreeMap<u64, &str>> = BTreeMap::new();
        let (mut repeats, mut late) = (0, 0);
        for event in &events {
            let of_subject = told.entry(event.subject()).or_default();
            if of_subject.last_key_value().is_some_and(|(last, _)| event.sequence < *last)
                && !of_subject.contains_key(&event.sequence)
            {
                late += 1;
            }
            match of_subject.insert(event.sequence, &event.id) {
                None => {}
                Some(id) if id == event.id => repeats += 1,
                Some(id) => bail!("{id} and {} bear the same number of {}", event.id, event.subject()),
            }
        }
        for (subject, events) in &told {
            let last = events.keys().next_back().copied().unwrap_or_default();
            ensure!(u64::try_from(events.len())? == last, "of {subject} came {:?} alone", events.keys());
        }
        figure("events told", &(events.len() - repeats).to_string());
        figure("  again, with the same id", &repeats.to_string());
        figure("  later than one that followed it", &late.to_string());
        Ok(())
    }

    fn events(&self) -> Result<Vec<Event>> {
        let bodies = self.endpoint.taken();
        bodies.iter().map(|body| serde_json::from_slice(body).context("what came is no event")).collect()
    }
}
