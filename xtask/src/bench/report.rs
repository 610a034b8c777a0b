//! The tables: printed, and written into docs/performance.md between its marks.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use local_stack::FUNCTIONS;
use time::OffsetDateTime;

use super::Arguments;
use super::rounds::{Seen, Warm};
use super::{API, FLOOR, PYTHON};

const FILE: &str = "docs/performance.md";
const BEGIN: &str = "<!-- written by cargo xtask bench: begin -->\n";
const END: &str = "<!-- written by cargo xtask bench: end -->\n";

pub(super) fn write(root: &Path, measured: &BTreeMap<&'static str, Seen>, arguments: &Arguments) -> Result<()> {
    let tables = tables(measured)?;
    println!("\n{tables}");
    if arguments.print_only || arguments.quick {
        return Ok(());
    }
    let path = root.join(FILE);
    let file = fs::read_to_string(&path).with_context(|| format!("cannot read {FILE}"))?;
    fs::write(&path, replaced(&file, &tables)?)?;
    println!("{FILE}");
    Ok(())
}

fn replaced(file: &str, tables: &str) -> Result<String> {
    let (before, rest) = file.split_once(BEGIN).with_context(|| format!("{FILE} has lost its first mark"))?;
    let (_, after) = rest.split_once(END).with_context(|| format!("{FILE} has lost its second mark"))?;
    Ok(format!("{before}{BEGIN}{tables}{END}{after}"))
}

fn tables(measured: &BTreeMap<&'static str, Seen>) -> Result<String> {
    let names: Vec<&str> = [FLOOR].into_iter().chain(FUNCTIONS).chain([PYTHON]).collect();
    let seen = |name: &str| measured.get(name).with_context(|| format!("{name} was not measured"));
    let mut text = String::new();
    let starts = seen(FLOOR)?.ready.count();
    writeln!(
        text,
        "{}, {} cores of {}, `cargo xtask bench --starts {starts}`:\n",
        OffsetDateTime::now_utc().date(),
        std::thread::available_parallelism()?,
        processor(),
    )?;
    text += "| function | start to ready, ms | × hello | of it processor, ms | first request, ms | RSS at start, MB | at most, MB | package, MB |\n\
             |---|---|---|---|---|---|---|---|\n";
    let floor = seen(FLOOR)?.ready.median();
    for name in &names {
        let seen = seen(name)?;
        writeln!(
            text,
            "| {name} | {} | {:.1} | {} | {} | {} | {} | {:.2} |",
            millis(seen.ready.median()),
            ratio(seen.ready.median(), floor),
            millis(seen.start_processor.median()),
            if seen.first.count() == 0 { "–".to_owned() } else { millis(seen.first.median()) },
            megabytes(&seen.resident),
            megabytes(&seen.peak),
            bytes(seen.package),
        )?;
    }
    text += "\n| warm request | AWS calls | p50, ms | p99, ms | p50 without AWS, ms | processor, ms | requests |\n\
             |---|---|---|---|---|---|---|\n";
    for name in &names {
        for (kind, warm) in &seen(name)?.warm {
            let Warm { took, own, processor, calls } = warm;
            let (p50, p99) = (millis(took.median()), millis(took.percentile(99)));
            let (own, processor) = (millis(own.median()), millis(processor.median()));
            writeln!(text, "| {name}: {kind} | {calls} | {p50} | {p99} | {own} | {processor} | {} |", took.count())?;
        }
    }
    text += "\n| Python as a multiple of Rust | |\n|---|---|\n";
    let (rust, python) = (seen(API)?, seen(PYTHON)?);
    writeln!(text, "| start to ready | {:.0} |", ratio(python.ready.median(), rust.ready.median()))?;
    writeln!(text, "| first request | {:.0} |", ratio(python.first.median(), rust.first.median()))?;
    for ((kind, rust), (_, python)) in rust.warm.iter().zip(&python.warm) {
        writeln!(text, "| {kind}, warm p50 | {:.1} |", ratio(python.took.median(), rust.took.median()))?;
        let processor = ratio(python.processor.median(), rust.processor.median());
        writeln!(text, "| {kind}, processor | {processor:.1} |")?;
    }
    Ok(text)
}

/// What the processor calls itself.
fn processor() -> String {
    let information = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = information.lines().find_map(|line| line.strip_prefix("model name"));
    line.map_or_else(|| std::env::consts::ARCH.to_owned(), |line| line.trim_start_matches([' ', '\t', ':']).to_owned())
}

fn ratio(of: Duration, to: Duration) -> f64 {
    of.as_secs_f64() / to.as_secs_f64()
}

fn millis(duration: Duration) -> String {
    let millis = duration.as_secs_f64() * 1000.0;
    if millis < 100.0 { format!("{millis:.2}") } else { format!("{millis:.0}") }
}

/// The middle one of these sizes.
fn megabytes(sizes: &[u64]) -> String {
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).map_or_else(|| "–".to_owned(), |size| format!("{:.1}", bytes(*size)))
}

/// Bytes in millions.
#[expect(clippy::cast_precision_loss, reason = "it is shown with two digits after the point")]
fn bytes(size: u64) -> f64 {
    size as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_the_marks_is_replaced() {
        let file = format!("Before.\n{BEGIN}old\n{END}After.\n");
        assert_eq!(replaced(&file, "new\n").unwrap(), format!("Before.\n{BEGIN}new\n{END}After.\n"));
        assert!(replaced("no marks", "new\n").is_err());
    }

    #[test]
    fn the_document_has_its_marks() {
        let file = fs::read_to_string(crate::root().unwrap().join(FILE)).unwrap();
        assert!(replaced(&file, "").is_ok());
    }
}
