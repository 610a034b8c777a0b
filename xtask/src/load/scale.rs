//! `cargo xtask load scale`: the same requests on tables of any size. The rows are the code's own, and go straight into the
//! tables; then the API's release program works on them by way of a proxy that counts what it asks for.
//!
//! The tables' own time is `SQLite`'s; what counts is that the work asked for does not grow.

mod seeds;
mod tables;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bench::{Aws, CountedTables, Process, Work, settings};
use clap::Args;
use serde_json::json;
use uuid::Uuid;

use self::seeds::Seeds;
use self::tables::Tables;
use super::orders::{body, request, text};
use super::surroundings::Programs;
use crate::samples::Samples;
use crate::{progress, root};

/// The same request is made so often for each size.
const TIMES: usize = 15;

/// Parcels on a page of the list.
const PAGE: usize = 20;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Parcels of one owner, smallest first; the table grows from one to the next
    #[arg(long, value_delimiter = ',', default_values_t = [100, 10_000, 1_000_000])]
    parcels: Vec<usize>,
    #[command(flatten)]
    programs: Programs,
}

impl Arguments {
    /// Two sizes that are there in seconds.
    pub(super) fn smallest(programs: Programs) -> Self {
        Self { parcels: vec![100, 400], programs }
    }
}

pub(super) async fn run(arguments: &Arguments) -> Result<()> {
    ensure!(
        arguments.parcels.is_sorted() && arguments.parcels.first() >= Some(&(2 * PAGE)),
        "the smallest has two pages"
    );
    let programs = arguments.programs.directory().await?;
    let progress = progress();
    progress("Tables: installing dynoxide into .local/tools, unless it is there");
    let tables = Tables::start(&root()?).await?;
    measure(&arguments.parcels, &tables, &programs).await
}

async fn measure(sizes: &[usize], tables: &Tables, programs: &Path) -> Result<()> {
    let progress = progress();
    let seeds = Seeds::new(tables).await?;
    let counted = CountedTables::start(tables.url(), Aws::default()).await?;
    let variables = settings::variables(counted.url());
    let api = Process::start(programs.join("api"), &[] as &[&str], &variables, settings::timeout("api")?).await?;

    let (mut there, mut last_page) = (0, None);
    let mut seen: BTreeMap<&str, Vec<Asked>> = BTreeMap::new();
    for &size in sizes {
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
            println!("{size:>9} parcels  {kind:<18} {asked}");
            seen.entry(kind).or_default().push(asked);
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
    println!("No request asks for more where there is more.");
    Ok(())
}

/// What one request asked for, the median of several.
struct Asked {
    calls: usize,
    rows: usize,
    bytes: usize,
    own: Duration,
    tables: Duration,
}

impl fmt::Display for Asked {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { calls, rows, bytes, own, tables } = self;
        let (own, tables) = (own.as_secs_f64() * 1000.0, tables.as_secs_f64() * 1000.0);
        write!(formatter, "{calls} calls, {rows:>2} rows, {bytes:>6} bytes, own {own:.1} ms, tables {tables:.1} ms")
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
    tables: &CountedTables,
    last_page: &str,
    example: Uuid,
) -> Result<Vec<(&'static str, Asked)>> {
    let get = format!("/api/parcels/{example}");
    let mut kinds = vec![
        ("get", asked(tables, async |_| Ok(request(api, "GET", &get, "", None, 200).await?.took)).await?),
        ("create", asked(tables, async |_| create(api).await.map(|(took, _)| took)).await?),
    ];
    let mut waiting = Vec::new();
    for _ in 0..TIMES {
        waiting.push(create(api).await?.1);
    }
    let invoice = async |number: usize| {
        let path = format!("/api/parcels/{}/invoice", waiting[number]);
        Ok(request(api, "POST", &path, "", None, 202).await?.took)
    };
    kinds.push(("request invoice", asked(tables, invoice).await?));
    for (kind, query) in [
        ("first page", format!("limit={PAGE}")),
        ("last page", format!("limit={PAGE}&cursor={last_page}")),
        ("search, first page", format!("limit={PAGE}&q=Tan")),
    ] {
        let list = async |_| Ok(request(api, "GET", "/api/parcels", &query, None, 200).await?.took);
        kinds.push((kind, asked(tables, list).await?));
    }
    Ok(kinds)
}

async fn create(api: &Process) -> Result<(Duration, String)> {
    let parcel = json!({"recipient": "Siti Aminah", "email": "siti@example.com", "address": "18 Raffles Quay"});
    let answer = request(api, "POST", "/api/parcels", "", Some(&parcel), 201).await?;
    Ok((answer.took, text(&body(&answer)?["id"])?))
}

/// Makes the same request some times.
async fn asked(tables: &CountedTables, once: impl AsyncFn(usize) -> Result<Duration>) -> Result<Asked> {
    let [mut own, mut elsewhere] = [(); 2].map(|()| Samples::default());
    let mut work: Vec<Work> = Vec::new();
    for time in 0..TIMES {
        tables.take();
        let took = once(time).await?;
        work = tables.take();
        let theirs = work.iter().map(|call| call.took).sum();
        own.add(took.saturating_sub(theirs));
        elsewhere.add(theirs);
    }
    Ok(Asked {
        calls: work.len(),
        rows: work.iter().map(|call| call.rows).sum(),
        bytes: work.iter().map(|call| call.bytes).sum(),
        own: own.median(),
        tables: elsewhere.median(),
    })
}
