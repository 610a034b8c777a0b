//! `cargo xtask load scale`: the same requests on tables of any size. The rows are the code's own, and go straight into the
//! local stack's tables; then the API's release program works on them by way of a proxy that counts what it asks for.
//!
//! The emulator's own time may grow with its tables; what counts is that the work asked for does not.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bench::{Aws, CountedAws, Process, Work, caller, clients, settings};
use clap::Args;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use local_stack::{LocalStack, Options, Ports, StackAddresses};
use parceltrack::aws::ParcelTable;
use parceltrack::clock::SystemClock;
use parceltrack::domain::{
    OwnerId, Parcel, ParcelId, ParcelStatus, PostalCode, Text, Timestamp, TrackingEvent, TrackingEventId,
    TrackingNumber,
};
use parceltrack::ports::{Clock as _, CreateParcels as _, ParcelCreation};
use reqwest::Client;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::orders::{body, request, text};
use super::surroundings::Programs;
use crate::samples::Samples;
use crate::{progress, root};

/// Rows that `BatchWriteItem` takes at most.
const BATCH: usize = 25;

/// Parcels that are made before their rows go to the table.
const PORTION: usize = 2_500;

/// Batches that are on their way at the same time.
const AT_ONCE: usize = 8;

/// The same request is made so often for each size.
const TIMES: usize = 15;

/// Parcels on a page of the list.
const PAGE: usize = 20;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Parcels of one owner, smallest first; the table grows from one to the next
    #[arg(long, value_delimiter = ',', default_values_t = [100, 10_000, 20_000])]
    parcels: Vec<usize>,
    #[command(flatten)]
    programs: Programs,
}

pub(super) async fn run(arguments: &Arguments) -> Result<()> {
    ensure!(
        arguments.parcels.is_sorted() && arguments.parcels.first() >= Some(&(2 * PAGE)),
        "the smallest has two pages"
    );
    let programs = arguments.programs.directory().await?;
    let root = root()?;
    let stack = LocalStack::start(Options {
        ports: Ports::free(),
        state_dir: root.join(".local/scale"),
        fresh: true,
        parameters: [("SimulatorEnabled".to_owned(), "false".to_owned())].into(),
        faults: None,
        progress: progress(),
        root,
    })
    .await?;
    let result = tokio::select! {
        result = measure(arguments, stack.addresses(), &programs) => result,
        crash = stack.crashed() => Err(anyhow::anyhow!(crash)),
    };
    stack.stop().await;
    result
}

async fn measure(arguments: &Arguments, stack: &StackAddresses, programs: &Path) -> Result<()> {
    let progress = progress();
    let seeds = Seeds::new(stack).await?;
    let counted = CountedAws::start(&stack.emulator_url).await?;
    let mut variables = settings::variables(counted.url());
    variables.extend(stack.function_variables("ApiFunctionName").await?);
    variables.insert("AWS_ENDPOINT_URL".to_owned(), counted.url().to_owned());
    let api = Process::start(programs.join("api"), &[] as &[&str], &variables).await?;

    let (mut there, mut last_page) = (0, None);
    let mut seen: BTreeMap<&str, Vec<Asked>> = BTreeMap::new();
    for &size in &arguments.parcels {
        let begin = Instant::now();
        let example = seeds.sow(there..size).await?;
        let (more, took) = (size - there, begin.elapsed().as_secs_f64());
        progress(&format!("{size} parcels are there: {more} more in {took:.0} s"));
        there = size;
        let cursor = match &last_page {
            Some(cursor) => cursor,
            // A cursor is a key: this one stays that of the last page, however much is added before it.
            None => last_page.insert(cursor_of_last_page(&api).await?),
        };
        for (kind, asked) in all_kinds(&api, &counted, cursor, example).await? {
            match asked {
                Ok(asked) => {
                    println!("{size:>9} parcels  {kind:<18} {asked}");
                    seen.entry(kind).or_default().push(asked);
                }
                // The emulator looks through the whole table for a page, and the API waits no longer than for AWS.
                Err(error) if seen.contains_key(kind) => {
                    println!("{size:>9} parcels  {kind:<18} no answer in time: {:.40} ...", error.to_string());
                }
                Err(error) => return Err(error),
            }
        }
    }
    api.stop().await?;
    println!();
    for (kind, sizes) in seen {
        let (Some(smallest), Some(largest)) = (sizes.first(), sizes.last()) else { continue };
        ensure!(
            largest.calls <= smallest.calls
                && largest.rows <= smallest.rows
                && largest.bytes <= smallest.bytes * 11 / 10,
            "{kind} asks for more where there is more: {smallest}; {largest}"
        );
    }
    println!("No request that was answered asks for more where there is more.");
    Ok(())
}

/// Makes rows by the code that makes them in AWS, and puts them into the stack's tables.
struct Seeds<'a> {
    stack: &'a StackAddresses,
    maker: Aws,
    parcels: ParcelTable,
    http: Client,
}

impl<'a> Seeds<'a> {
    /// With the caller's key in place, and the tables' streams off: what reads them would be busy for an hour.
    async fn new(stack: &'a StackAddresses) -> Result<Self> {
        let maker = Aws::default();
        let [parcels, numbers, keys] = ["parcels", "tracking-numbers", "idempotency"].map(str::to_owned);
        let parcels = ParcelTable::new(clients(maker.clone()).dynamodb(), parcels, numbers, keys);
        let seeds = Self { stack, maker, parcels, http: Client::new() };
        for output in ["ParcelsTableName", "InvoicesTableName"] {
            let off = json!({"TableName": stack.output(output)?, "StreamSpecification": {"StreamEnabled": false}});
            seeds.dynamodb("UpdateTable", &off).await?;
        }
        caller::issue_key(&seeds.maker).await?;
        seeds.put_all("ApiKeysTableName", seeds.maker.rows("api-keys")).await?;
        Ok(seeds)
    }

    /// Parcels of these numbers, newer than all before. Returns the id of one of them.
    async fn sow(&self, numbers: Range<usize>) -> Result<Uuid> {
        let mut example = None;
        let mut ready: (Vec<Value>, Vec<Value>) = Default::default();
        let mut next = numbers.clone();
        loop {
            let portion = next.start..numbers.end.min(next.start + PORTION);
            next.start = portion.end;
            let (parcels, tracking_numbers) = std::mem::take(&mut ready);
            if portion.is_empty() && parcels.is_empty() {
                return example.context("no parcel was made");
            }
            let (made, ..) = tokio::try_join!(
                self.make(portion),
                self.put_all("ParcelsTableName", parcels),
                self.put_all("TrackingNumbersTableName", tracking_numbers),
            )?;
            example = example.or(made);
            ready = (self.maker.rows("parcels"), self.maker.rows("tracking-numbers"));
            self.maker.clear("parcels");
            self.maker.clear("tracking-numbers");
        }
    }

    async fn make(&self, numbers: Range<usize>) -> Result<Option<Uuid>> {
        let mut example = None;
        for number in numbers {
            let now = SystemClock.now();
            let parcel = parcel(number, now)?;
            example = Some(parcel.id.0);
            let made = self.parcels.create(&parcel, None, now).await?;
            ensure!(made == ParcelCreation::Created, "no new parcel: {made:?}");
        }
        Ok(example)
    }

    async fn put_all(&self, table: &str, rows: Vec<Value>) -> Result<()> {
        let table = self.stack.output(table)?;
        let puts: Vec<Value> = rows.into_iter().map(|row| json!({"PutRequest": {"Item": row}})).collect();
        let batches = puts.chunks(BATCH).map(|batch| json!({"RequestItems": {table: batch}}));
        let batches: Vec<Value> = batches.collect();
        stream::iter(&batches)
            .map(async |batch| {
                let answer = self.dynamodb("BatchWriteItem", batch).await?;
                ensure!(answer["UnprocessedItems"].as_object().is_none_or(Map::is_empty), "not all was written");
                Ok(())
            })
            .buffer_unordered(AT_ONCE)
            .try_collect()
            .await
    }

    /// By plain HTTP: the SDK would take longer for a row than the emulator.
    async fn dynamodb(&self, operation: &str, input: &Value) -> Result<Value> {
        let signature =
            format!("AWS4-HMAC-SHA256 Credential=local/20260101/{}/dynamodb/aws4_request", self.stack.region);
        let answer = self
            .http
            .post(&self.stack.emulator_url)
            .header("x-amz-target", format!("DynamoDB_20120810.{operation}"))
            .header("content-type", "application/x-amz-json-1.0")
            .header("authorization", signature)
            .body(input.to_string())
            .send()
            .await?;
        let (status, answer) = (answer.status(), answer.text().await?);
        ensure!(status.is_success(), "{operation}: {status}: {answer}");
        Ok(serde_json::from_str(&answer)?)
    }
}

fn parcel(number: usize, now: Timestamp) -> Result<Parcel> {
    let text = |text: &str| text.to_owned();
    Ok(Parcel {
        id: ParcelId(Uuid::new_v4()),
        owner: OwnerId::house(),
        tracking_number: TrackingNumber::draw(u64::try_from(number)?, 1),
        recipient: Text::try_from(text("Tan Wei Ming"))?,
        email: format!("customer{number}@example.com").parse()?,
        address: Some(Text::try_from(text("21 Choa Chu Kang Avenue 4, #05-12"))?),
        postal_code: Some(PostalCode::try_from(text("689812"))?),
        phone: Some(Text::try_from(text("+6591234567"))?),
        reference: Some(Text::try_from(format!("PO-2026-{number:07}"))?),
        weight: None,
        status: ParcelStatus::Created,
        created_at: now,
        updated_at: now,
        events: vec![TrackingEvent::now(TrackingEventId(Uuid::new_v4()), ParcelStatus::Created, now)],
        proof_expected_since: None,
    })
}

/// What one request asked for, the median of several.
struct Asked {
    calls: usize,
    rows: usize,
    bytes: usize,
    own: Duration,
    emulator: Duration,
}

impl fmt::Display for Asked {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { calls, rows, bytes, own, emulator } = self;
        let (own, emulator) = (own.as_secs_f64() * 1000.0, emulator.as_secs_f64() * 1000.0);
        write!(formatter, "{calls} calls, {rows:>2} rows, {bytes:>6} bytes, own {own:.1} ms, emulator {emulator:.1} ms")
    }
}

/// Walks to the end of the list, and returns the cursor of the last page that has parcels.
async fn cursor_of_last_page(api: &Process) -> Result<String> {
    let (mut cursor, mut before) = (None::<String>, None);
    loop {
        let query =
            cursor.as_ref().map_or_else(|| format!("limit={PAGE}"), |cursor| format!("limit={PAGE}&cursor={cursor}"));
        let page = body(&request(api, "GET", "/api/parcels", &query, None, 200).await?)?;
        let empty = page["parcels"].as_array().is_none_or(Vec::is_empty);
        match page["nextCursor"].as_str() {
            Some(next) => before = cursor.replace(next.to_owned()),
            None => return if empty { before } else { cursor }.context("the list has one page only"),
        }
    }
}

async fn all_kinds(
    api: &Process,
    aws: &CountedAws,
    last_page: &str,
    example: Uuid,
) -> Result<Vec<(&'static str, Result<Asked>)>> {
    let get = format!("/api/parcels/{example}");
    let mut kinds = vec![
        ("get", asked(aws, async |_| Ok(request(api, "GET", &get, "", None, 200).await?.took)).await),
        ("create", asked(aws, async |_| create(api).await.map(|(took, _)| took)).await),
    ];
    let mut waiting = Vec::new();
    for _ in 0..TIMES {
        waiting.push(create(api).await?.1);
    }
    let invoice = async |number: usize| {
        let path = format!("/api/parcels/{}/invoice", waiting[number]);
        Ok(request(api, "POST", &path, "", None, 202).await?.took)
    };
    kinds.push(("request invoice", asked(aws, invoice).await));
    // Last, since the emulator goes on with a page that nobody waits for any longer.
    for (kind, query) in [
        ("first page", format!("limit={PAGE}")),
        ("last page", format!("limit={PAGE}&cursor={last_page}")),
        ("search, first page", format!("limit={PAGE}&q=Tan")),
    ] {
        let list = async |_| Ok(request(api, "GET", "/api/parcels", &query, None, 200).await?.took);
        kinds.push((kind, asked(aws, list).await));
    }
    Ok(kinds)
}

async fn create(api: &Process) -> Result<(Duration, String)> {
    let parcel = json!({"recipient": "Siti Aminah", "email": "siti@example.com", "address": "18 Raffles Quay"});
    let answer = request(api, "POST", "/api/parcels", "", Some(&parcel), 201).await?;
    Ok((answer.took, text(&body(&answer)?["id"])?))
}

/// Makes the same request some times.
async fn asked(aws: &CountedAws, once: impl AsyncFn(usize) -> Result<Duration>) -> Result<Asked> {
    let [mut own, mut emulator] = [(); 2].map(|()| Samples::default());
    let mut work: Vec<Work> = Vec::new();
    for time in 0..TIMES {
        aws.take();
        let took = once(time).await?;
        work = aws.take();
        let elsewhere = work.iter().map(|call| call.took).sum();
        own.add(took.saturating_sub(elsewhere));
        emulator.add(elsewhere);
    }
    Ok(Asked {
        calls: work.len(),
        rows: work.iter().map(|call| call.rows).sum(),
        bytes: work.iter().map(|call| call.bytes).sum(),
        own: own.median(),
        emulator: emulator.median(),
    })
}
