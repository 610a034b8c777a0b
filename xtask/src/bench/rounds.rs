//! The rounds: in each, every contestant is started once, in another order than before, so that whatever else the machine
//! does falls on all of them alike.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use bench::caller::KEY;
use bench::{Aws, Endpoint, Invocation, Memory, Process, events};
use local_stack::Progress;
use parceltrack::domain::OwnerId;
use serde_json::{Value, json};

use super::contestants::{Contestant, named};
use super::{API, FLOOR, PYTHON};
use crate::samples::Samples;

/// The tables of what a relay looks for, in the AWS that is measured with.
const DUE: [&str; 2] = ["invoices", "webhook-deliveries"];

/// In milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1000;

/// Parcels that are there from the start, with their invoices: two pages of a list.
const PARCELS: usize = 40;

/// In so many rounds there are warm requests as well; the others are only about the start.
const WARM_ROUNDS: u32 = 9;

/// Warm requests of each kind in each of those.
const WARM_REQUESTS: usize = 100;

/// Of an invoice that is made and mailed, which takes longer.
const WARM_INVOICES: usize = 30;

/// What was seen of one contestant.
#[derive(Default)]
pub(super) struct Seen {
    /// From the start of the process to its asking for the first event.
    pub(super) ready: Samples,
    /// Processor time until then.
    pub(super) start_processor: Samples,
    /// The first request.
    pub(super) first: Samples,
    /// Memory when it asked for its first event, one of each start.
    pub(super) resident: Vec<u64>,
    /// The most memory after all requests, one of each start with warm ones.
    pub(super) peak: Vec<u64>,
    /// The size of its package.
    pub(super) package: u64,
    /// Warm requests by kind, in the order in which they came.
    pub(super) warm: Vec<(&'static str, Warm)>,
}

/// Warm requests of one kind.
#[derive(Default)]
pub(super) struct Warm {
    /// From the event's going out to the answer's arrival.
    pub(super) took: Samples,
    /// The same without the time that AWS had them.
    pub(super) own: Samples,
    /// Processor time of one, the mean of each batch.
    pub(super) processor: Samples,
    /// How many calls of AWS the last one made.
    pub(super) calls: usize,
}

impl Seen {
    fn warm(&mut self, kind: &'static str) -> &mut Warm {
        let place = self.warm.iter().position(|(name, _)| *name == kind).unwrap_or_else(|| {
            self.warm.push((kind, Warm::default()));
            self.warm.len() - 1
        });
        &mut self.warm[place].1
    }
}

/// What every process finds: parcels, invoices, a webhook and a delivery to it, tickets of both, and the caller's key.
pub(super) struct Prepared {
    tables: Aws,
    endpoint: Endpoint,
    parcels: Vec<Value>,
    ticket: String,
    invoice: String,
    webhook_ticket: String,
}

/// Lets the functions make them. Nothing is due for a day, so that the relays find the same whenever they look.
pub(super) async fn prepare(aws: &Aws, contestants: &[Contestant]) -> Result<Prepared> {
    let endpoint = Endpoint::start().await?;
    let process = named(contestants, API).start().await?;
    aws.take_messages();
    let mut parcels = Vec::new();
    let mut invoice = String::new();
    for _ in 0..PARCELS {
        let parcel = body(&process.invoke(&creation(None)).await?)?;
        let answer = process.invoke(&invoice_request(&parcel)?).await?;
        invoice = text(&body(&answer)?["id"])?;
        parcels.push(parcel);
    }
    let ticket = aws.take_messages().pop().context("no ticket was sent")?;
    let answer = process.invoke(&registration(&endpoint.url())).await?.answer;
    ensure!(answer["statusCode"] == 201, "no webhook: {answer}");
    process.stop().await?;
    let fan_out = named(contestants, "webhook-fan-out").start().await?;
    fan_out.invoke(&parcel_created(0)).await?;
    fan_out.stop().await?;
    let webhook_ticket = aws.take_messages().pop().context("no ticket of a delivery was sent")?;
    for table in DUE {
        for mut row in aws.rows(table) {
            let due = row["due"]["N"].as_str().context("a row that is not due")?.parse::<u64>()? + DAY;
            row["due"] = json!({"N": due.to_string()});
            aws.put(table, row)?;
        }
    }
    Ok(Prepared { tables: aws.snapshot(), endpoint, parcels, ticket, invoice, webhook_ticket })
}

/// Runs all rounds.
pub(super) async fn run(
    aws: &Aws,
    prepared: &Prepared,
    contestants: &[Contestant],
    starts: u32,
    progress: &Progress,
) -> Result<BTreeMap<&'static str, Seen>> {
    let mut measured: BTreeMap<&'static str, Seen> = BTreeMap::new();
    for round in 0..starts {
        progress(&format!("Round {} of {starts}", round + 1));
        let warm = round < WARM_ROUNDS;
        let first = usize::try_from(round)? % contestants.len();
        for contestant in contestants[first..].iter().chain(&contestants[..first]) {
            aws.restore(&prepared.tables);
            let seen = measured.entry(contestant.name).or_default();
            seen.package = contestant.package;
            one_start(aws, prepared, contestant, warm, seen)
                .await
                .with_context(|| format!("cannot measure {}", contestant.name))?;
        }
    }
    Ok(measured)
}

async fn one_start(aws: &Aws, prepared: &Prepared, contestant: &Contestant, warm: bool, seen: &mut Seen) -> Result<()> {
    let process = contestant.start().await?;
    seen.ready.add(process.started_in());
    seen.start_processor.add(process.processor_time()?);
    seen.resident.push(process.memory()?.resident);
    let clock = Stopwatch { aws, process: &process };
    match contestant.name {
        API | PYTHON => {
            seen.first.add(clock.time(&creation(Some(0)), 201).await?.took);
            if warm {
                clock.api(prepared, seen).await?;
            }
        }
        FLOOR => clock.repeat("hello", seen, &health(), warm, WARM_REQUESTS).await?,
        "invoice-worker" => {
            let event = events::messages(std::slice::from_ref(&prepared.ticket));
            clock.repeat("make and mail one invoice", seen, &event, warm, WARM_INVOICES).await?;
        }
        "mail-events" => {
            let event = events::delivery(&prepared.invoice);
            clock.repeat("note one delivery", seen, &event, warm, WARM_REQUESTS).await?;
        }
        "outbox-relay" => clock.repeat("look for due invoices", seen, &events::schedule(), warm, WARM_REQUESTS).await?,
        "domain-events" => {
            clock.repeat("tell the bus of two changes", seen, &events::changes(), warm, WARM_REQUESTS).await?;
        }
        "webhook-fan-out" => {
            seen.first.add(clock.invoke(&parcel_created(1)).await?.took);
            if warm {
                let created: Vec<Value> = (2..).take(WARM_REQUESTS).map(parcel_created).collect();
                clock.batch("make one delivery of an event", seen, &created, None).await?;
            }
        }
        "webhook-worker" => {
            let event = events::messages(std::slice::from_ref(&prepared.webhook_ticket));
            let before = prepared.endpoint.taken().len();
            clock.repeat("call an endpoint", seen, &event, warm, WARM_REQUESTS).await?;
            let calls = prepared.endpoint.taken().len() - before;
            let tickets = if warm { WARM_REQUESTS + 1 } else { 1 };
            ensure!(calls == tickets, "{calls} calls of the endpoint for {tickets} tickets");
        }
        "webhook-relay" => {
            clock.repeat("look for due deliveries", seen, &events::schedule(), warm, WARM_REQUESTS).await?;
        }
        // It works for as long as it may, so there is nothing to time.
        _ => {}
    }
    if warm {
        let Memory { peak, .. } = process.memory()?;
        seen.peak.push(peak);
    }
    process.stop().await
}

/// Hands events to a process and takes the time.
struct Stopwatch<'a> {
    aws: &'a Aws,
    process: &'a Process,
}

struct Timed {
    took: Duration,
    own: Duration,
    calls: usize,
    answer: Invocation,
}

impl Stopwatch<'_> {
    async fn invoke(&self, event: &Value) -> Result<Timed> {
        self.aws.take_calls();
        let answer = self.process.invoke(event).await?;
        let failures = answer.answer["batchItemFailures"].as_array();
        ensure!(failures.is_none_or(Vec::is_empty), "a record was handed back: {}", answer.answer);
        let calls = self.aws.take_calls();
        let elsewhere: Duration = calls.iter().map(|call| call.answered.duration_since(call.arrived)).sum();
        let took = answer.took;
        Ok(Timed { took, own: took.saturating_sub(elsewhere), calls: calls.len(), answer })
    }

    /// A request of the API that must be answered with this status.
    async fn time(&self, event: &Value, status: u16) -> Result<Timed> {
        let timed = self.invoke(event).await?;
        ensure!(timed.answer.answer["statusCode"] == status, "not {status}: {}", timed.answer.answer);
        Ok(timed)
    }

    /// The same event again and again.
    async fn repeat(&self, kind: &'static str, seen: &mut Seen, event: &Value, warm: bool, times: usize) -> Result<()> {
        seen.first.add(self.invoke(event).await?.took);
        if warm {
            let events = vec![event.clone(); times];
            self.batch(kind, seen, &events, None).await?;
        }
        Ok(())
    }

    /// Events of one kind, one after the other, each to be answered with this status if it is a request of the API.
    async fn batch(
        &self,
        kind: &'static str,
        seen: &mut Seen,
        events: &[Value],
        status: Option<u16>,
    ) -> Result<Vec<Invocation>> {
        let warm = seen.warm(kind);
        let before = self.process.processor_time()?;
        let mut answers = Vec::with_capacity(events.len());
        for event in events {
            let timed = match status {
                Some(status) => self.time(event, status).await?,
                None => self.invoke(event).await?,
            };
            warm.took.add(timed.took);
            warm.own.add(timed.own);
            warm.calls = timed.calls;
            answers.push(timed.answer);
        }
        let batch = self.process.processor_time()?.saturating_sub(before);
        warm.processor.add(batch / u32::try_from(events.len())?);
        Ok(answers)
    }

    /// The API's four. Lists first, as long as there are only the prepared parcels to list.
    async fn api(&self, prepared: &Prepared, seen: &mut Seen) -> Result<()> {
        let lists = vec![get("/api/parcels", "limit=20"); WARM_REQUESTS];
        for page in self.batch("list 20 parcels", seen, &lists, Some(200)).await? {
            ensure!(body(&page)?["parcels"].as_array().is_some_and(|parcels| parcels.len() == 20), "no page");
        }
        let looks = prepared.parcels.iter().cycle().take(WARM_REQUESTS).map(|parcel| Ok(get(&path(parcel)?, "")));
        let looks = looks.collect::<Result<Vec<_>>>()?;
        self.batch("get a parcel", seen, &looks, Some(200)).await?;
        let creations: Vec<Value> = (1..=WARM_REQUESTS).map(|number| creation(Some(number))).collect();
        let created = self.batch("create a parcel", seen, &creations, Some(201)).await?;
        let requests = created.iter().map(|parcel| invoice_request(&body(parcel)?)).collect::<Result<Vec<_>>>()?;
        self.batch("request an invoice", seen, &requests, Some(202)).await?;
        Ok(())
    }
}

/// A webhook at this URL that wants what [`parcel_created`] tells.
fn registration(url: &str) -> Value {
    let webhook = json!({"url": url, "eventTypes": ["ParcelCreated"], "contactEmail": "shop@example.com"});
    events::request("POST", "/api/webhooks", "", KEY, &[], Some(&webhook))
}

/// What the fan-out hears of the caller's parcel of this number.
fn parcel_created(number: u128) -> Value {
    events::parcel_created(OwnerId::house().as_str(), number)
}

fn health() -> Value {
    get("/health", "")
}

fn get(path: &str, query: &str) -> Value {
    events::request("GET", path, query, KEY, &[], None)
}

/// A new parcel, with an idempotency key of this number if there is one.
fn creation(key: Option<usize>) -> Value {
    let parcel = json!({
        "recipient": "Tan Wei Ming",
        "email": "tan@example.com",
        "address": "21 Choa Chu Kang Avenue 4, #05-12",
        "postalCode": "689812",
        "phone": "+6591234567",
        "reference": "PO-2026-1130",
    });
    let key = key.map(|number| format!("measured-{number}"));
    let headers: Vec<_> = key.iter().map(|key| ("idempotency-key", key.as_str())).collect();
    events::request("POST", "/api/parcels", "", KEY, &headers, Some(&parcel))
}

fn invoice_request(parcel: &Value) -> Result<Value> {
    Ok(events::request("POST", &format!("{}/invoice", path(parcel)?), "", KEY, &[], None))
}

fn path(parcel: &Value) -> Result<String> {
    Ok(format!("/api/parcels/{}", text(&parcel["id"])?))
}

/// The body of an answer of the API.
pub(super) fn body(answer: &Invocation) -> Result<Value> {
    Ok(serde_json::from_str(answer.answer["body"].as_str().context("an answer without a body")?)?)
}

fn text(value: &Value) -> Result<String> {
    Ok(value.as_str().context("not a text")?.to_owned())
}
