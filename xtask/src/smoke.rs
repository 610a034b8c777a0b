//! `cargo xtask smoke`: the main job, end to end, on one parcel.

use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::interrupt::interruptible;
use crate::target::{self, Target};

const PATIENCE: Duration = Duration::from_mins(1);
const RECIPIENT: &str = "Tan Wei Ming";

pub(crate) async fn run(arguments: &target::Arguments) -> Result<()> {
    interruptible(async {
        let target = Target::open(arguments, "smoke", [].into()).await?;
        let result = one_parcel(&target).await;
        target.close().await;
        result
    })
    .await
}

async fn one_parcel(target: &Target) -> Result<()> {
    let Target { api, inbox, .. } = target;
    println!("\nSmoke test of {}", api.url());
    let email = format!("smoke-{:08x}@example.com", fastrand::u32(..));

    let baseline = baseline(target).await?;
    step("GET /health (median of 5)", baseline);

    let parcel = api.create_parcel(RECIPIENT, &email).await?;
    step("POST parcel: 201", parcel.took);

    let accepted = api.request_invoice(&parcel.answer.id).await?;
    step("POST invoice: 202", accepted.took);

    let begin = Instant::now();
    let invoice = api.wait_until_sent(&accepted.answer.id, PATIENCE).await?;
    step("invoice is Sent", begin.elapsed());

    let begin = Instant::now();
    let to_us = |to: &String| to.contains(&email);
    let mail = inbox.wait_for_mail(|mail| mail.to.iter().any(to_us), PATIENCE).await?;
    step("mail is in the inbox", begin.elapsed());

    let begin = Instant::now();
    let link = link(&mail.text).context("the mail's text has no link")?;
    ensure!(mail.html.contains(link), "the mail's HTML part has another link than its text");
    let pdf = api.bytes(&api.redirect(link).await?).await?;
    step("link in the mail leads to the PDF", begin.elapsed());

    let begin = Instant::now();
    let text = pdf_text(&pdf).await?;
    for expected in [RECIPIENT, &invoice.total, &parcel.answer.tracking_number] {
        ensure!(text.contains(expected), "the PDF does not say {expected:?}; it says:\n{text}");
    }
    step("PDF names recipient, parcel and total", begin.elapsed());

    let emulator = baseline.min(accepted.took);
    println!(
        "\nSmoke test passed. Of the {} ms that POST invoice took, about {} ms are the emulator's own (as for\n\
         /health); the rest, {} ms, is a debug build of ParcelTrack with its calls to the local tables and queue.",
        accepted.took.as_millis(),
        emulator.as_millis(),
        accepted.took.saturating_sub(emulator).as_millis()
    );
    Ok(())
}

/// What an invocation costs that does nothing: on the laptop, the emulator's own part of every call.
async fn baseline(target: &Target) -> Result<Duration> {
    // The first call starts the function.
    target.api.health().await?;
    let mut times = Vec::new();
    for _ in 0..5 {
        times.push(target.api.health().await?.took);
    }
    times.sort();
    Ok(times[times.len() / 2])
}

fn step(name: &str, took: Duration) {
    println!("  {name:<42} {:>6} ms", took.as_millis());
}

fn link(text: &str) -> Option<&str> {
    let mut words = text.split_whitespace();
    words.find(|word| word.starts_with("http") && word.contains("/i/"))
}

async fn pdf_text(pdf: &[u8]) -> Result<String> {
    let mut command = Command::new("pdftotext");
    command.args(["-layout", "-", "-"]).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().context(
        "pdftotext is needed to read the PDF: install it (Debian or Ubuntu: apt install poppler-utils; \
         macOS: brew install poppler)",
    )?;
    let mut stdin = child.stdin.take().context("pdftotext has no input")?;
    stdin.write_all(pdf).await?;
    drop(stdin);
    let output = child.wait_with_output().await?;
    if !output.status.success() {
        bail!("that is no PDF: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8(output.stdout)?)
}
