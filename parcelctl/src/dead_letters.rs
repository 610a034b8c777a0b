//! `parcelctl dead-letters`.
//!
//! SQS lets nobody look without taking. So letters are taken into the hand, hidden from others meanwhile, and put back;
//! if this program dies with letters in its hand, they show up again by themselves after a while.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use parceltrack::domain::{EmailAddress, Invoice, InvoiceStatus, Ticket, Timestamp};
use parceltrack::ports::BuriedTicket;
use serde::Serialize;

use crate::Outcome;
use crate::desk::Desk;
use crate::invoice::{Handled, Story, try_again};
use crate::select::{Selection, group, reason};
use crate::words::{age, count, print_json};

/// How long letters stay hidden that are only looked at.
const LOOKING: Duration = Duration::from_mins(1);

/// How long letters stay hidden that something is to be done with.
const HANDLING: Duration = Duration::from_mins(15);

/// Work ends this long before the letters show up again for others.
const MARGIN: Duration = Duration::from_mins(1);

/// How many invoices are read at once.
const READS: usize = 16;

/// A letter in hand, with its invoice as it stands.
struct Held {
    letter: BuriedTicket,
    invoice: Option<Invoice>,
}

impl Held {
    fn number(&self) -> Option<String> {
        self.invoice.as_ref().map(|invoice| invoice.content.number.to_string())
    }

    /// How to call it in one word.
    fn name(&self) -> String {
        self.number().unwrap_or_else(|| match Ticket::parse(&self.letter.body) {
            Ok(ticket) => ticket.invoice_id.to_string(),
            Err(_) => "not a ticket".to_owned(),
        })
    }

    /// The first characters of its name, enough to tell it from others.
    fn short(&self) -> &str {
        self.letter.letter.0.get(..8).unwrap_or(&self.letter.letter.0)
    }
}

/// A letter, for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LetterOut {
    letter: String,
    reason: String,
    body: String,
    since: String,
    age_seconds: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    invoice_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<InvoiceStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts: Option<u32>,
}

impl LetterOut {
    fn new(held: &Held, now: Timestamp) -> Self {
        Self {
            letter: held.letter.letter.to_string(),
            reason: reason(&held.letter).to_owned(),
            body: held.letter.body.clone(),
            since: held.letter.since.to_string(),
            age_seconds: now.since(held.letter.since).as_secs(),
            invoice_id: Ticket::parse(&held.letter.body).ok().map(|ticket| ticket.invoice_id.to_string()),
            number: held.number(),
            status: held.invoice.as_ref().map(|invoice| invoice.state.status()),
            attempts: held.invoice.as_ref().map(|invoice| invoice.attempt_count),
        }
    }
}

/// Takes all letters that are in nobody's hand, the oldest first.
async fn take_all(desk: &Desk, hidden_for: Duration) -> Result<Vec<Held>> {
    // The same message may come twice; the later receipt is the one that counts.
    let mut letters = BTreeMap::new();
    loop {
        let taken = desk.letters.take(hidden_for).await?;
        let before = letters.len();
        let none = taken.is_empty();
        letters.extend(taken.into_iter().map(|letter| ((letter.since, letter.letter.clone()), letter)));
        if none || letters.len() == before {
            break;
        }
    }
    let reads = letters.into_values().map(async |letter| {
        let invoice = match Ticket::parse(&letter.body) {
            Ok(ticket) => desk.invoices.invoice(ticket.invoice_id).await?,
            Err(_) => None,
        };
        anyhow::Ok(Held { letter, invoice })
    });
    stream::iter(reads).buffered(READS).try_collect().await
}

async fn put_back(desk: &Desk, letters: &[Held]) -> Result<()> {
    stream::iter(letters)
        .map(|held| desk.letters.put_back(&held.letter))
        .buffer_unordered(READS)
        .try_collect::<()>()
        .await?;
    Ok(())
}

/// `parcelctl dead-letters list`.
pub(crate) async fn list(desk: &Desk, text: Option<&str>, json: bool) -> Result<Outcome> {
    #[derive(Serialize)]
    struct Out {
        count: usize,
        groups: Vec<GroupOut>,
    }
    #[derive(Serialize)]
    struct GroupOut {
        reason: String,
        count: usize,
        letters: Vec<LetterOut>,
    }

    let held = take_all(desk, LOOKING).await?;
    put_back(desk, &held).await?;
    let selection = text.map_or(Selection::All, |text| Selection::Group(text.to_owned()));
    let held: Vec<_> = held.into_iter().filter(|held| selection.means(&held.letter, None)).collect();
    let mut groups: BTreeMap<String, Vec<&Held>> = BTreeMap::new();
    for held in &held {
        groups.entry(group(reason(&held.letter))).or_default().push(held);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, letters)| std::cmp::Reverse(letters.len()));
    let now = desk.clock.now();
    if json {
        let groups = groups.into_iter().map(|(reason, letters)| GroupOut {
            reason,
            count: letters.len(),
            letters: letters.into_iter().map(|held| LetterOut::new(held, now)).collect(),
        });
        print_json(&Out { count: held.len(), groups: groups.collect() })?;
    } else if held.is_empty() {
        println!("No dead letters.");
    } else {
        let reasons = count(groups.len(), "reason", "reasons");
        println!("{}, {reasons}", count(held.len(), "dead letter", "dead letters"));
        for (reason, letters) in groups {
            println!("\n{} × {reason}", letters.len());
            println!("  {:<10} {:<38} {:<10} {:>8}  {:>8}", "LETTER", "INVOICE", "STATUS", "ATTEMPTS", "AGE");
            for held in letters {
                let out = LetterOut::new(held, now);
                println!(
                    "  {:<10} {:<38} {:<10} {:>8}  {:>8}",
                    held.short(),
                    held.name(),
                    out.status.map_or("unknown".to_owned(), |status| format!("{status:?}")),
                    out.attempts.map_or("-".to_owned(), |attempts| attempts.to_string()),
                    age(now.since(held.letter.since)),
                );
            }
        }
    }
    Ok(if held.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}

/// `parcelctl dead-letters show`.
pub(crate) async fn show(desk: &Desk, which: String, json: bool) -> Result<Outcome> {
    #[derive(Serialize)]
    struct Out {
        #[serde(flatten)]
        letter: LetterOut,
        #[serde(skip_serializing_if = "Option::is_none")]
        invoice: Option<Story>,
    }

    let held = take_all(desk, LOOKING).await?;
    put_back(desk, &held).await?;
    let selection = Selection::Named(vec![which]);
    let now = desk.clock.now();
    let mut shown = Vec::new();
    for held in held.iter().filter(|held| selection.means(&held.letter, held.number().as_deref())) {
        let invoice = match &held.invoice {
            Some(invoice) => Some(Story::of(desk, invoice).await?),
            None => None,
        };
        shown.push(Out { letter: LetterOut::new(held, now), invoice });
    }
    if json {
        print_json(&shown)?;
    } else {
        for (place, Out { letter, invoice }) in shown.iter().enumerate() {
            if place > 0 {
                println!();
            }
            println!("{}", letter.letter);
            println!("  reason   {}", letter.reason);
            println!("  since    {} ({} ago)", letter.since, age(Duration::from_secs(letter.age_seconds)));
            println!("  body     {}", letter.body);
            match invoice {
                Some(story) => story.print(),
                None => println!("  invoice  unknown"),
            }
        }
    }
    if shown.is_empty() {
        eprintln!("No such dead letter.");
        return Ok(Outcome::NothingFound);
    }
    Ok(Outcome::Done)
}

/// The letters that are meant, in hand; the others are put back.
async fn take_selected(desk: &Desk, selection: &Selection) -> Result<Vec<Held>> {
    let (selected, others): (Vec<_>, Vec<_>) = take_all(desk, HANDLING)
        .await?
        .into_iter()
        .partition(|held| selection.means(&held.letter, held.number().as_deref()));
    put_back(desk, &others).await?;
    // A prefix that several letters share names none of them.
    if let Selection::Named(names) = selection {
        for name in names {
            let called: Vec<_> =
                selected.iter().filter(|held| held.letter.letter.0.starts_with(name.as_str())).collect();
            if called.len() > 1 {
                put_back(desk, &selected).await?;
                bail!("{name} is the beginning of {} letters: say more of it", called.len());
            }
        }
    }
    Ok(selected)
}

/// What was done with one letter.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HandledOut {
    letter: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    invoice_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<Handled>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl HandledOut {
    fn new(held: &Held, outcome: Option<Handled>, error: Option<&anyhow::Error>) -> Self {
        Self {
            letter: held.letter.letter.to_string(),
            invoice_id: held.invoice.as_ref().map(|invoice| invoice.content.id.to_string()),
            outcome,
            error: error.map(|error| format!("{error:#}")),
        }
    }
}

/// What was done with one letter, for people.
fn line(held: &Held, result: Result<&str, &anyhow::Error>) -> String {
    let words = result.map_or_else(|error| format!("left alone: {error:#}"), str::to_owned);
    format!("{:<10} {:<38} {words}", held.short(), held.name())
}

/// What was done with all of them.
#[derive(Serialize)]
struct SummaryOut {
    handled: usize,
    left: usize,
    letters: Vec<HandledOut>,
}

impl SummaryOut {
    fn print(&self, done: &str, json: bool) -> Result<Outcome> {
        if json {
            print_json(self)?;
        } else if self.letters.is_empty() {
            println!("No such dead letters.");
        } else {
            println!("{} {done}, {} left", self.handled, self.left);
        }
        Ok(match (self.letters.len(), self.left) {
            (0, _) => Outcome::NothingFound,
            (_, 0) => Outcome::Done,
            _ => Outcome::Incomplete,
        })
    }
}

/// `parcelctl dead-letters retry`.
pub(crate) async fn retry(
    desk: &Desk,
    selection: &Selection,
    rate: f64,
    email: Option<EmailAddress>,
    json: bool,
) -> Result<Outcome> {
    let begin = Instant::now();
    let selected = take_selected(desk, selection).await?;
    let one_invoice = selected.windows(2).all(|pair| pair[0].letter.body == pair[1].letter.body);
    if email.is_some() && !one_invoice {
        put_back(desk, &selected).await?;
        eprintln!("error: --set-email is for one invoice, and these are several");
        return Ok(Outcome::Usage);
    }
    let pause = Duration::from_secs_f64(1.0 / rate);
    let mut turn = tokio::time::Instant::now();
    let mut letters = Vec::with_capacity(selected.len());
    let mut left = Vec::new();
    for held in selected {
        tokio::time::sleep_until(turn).await;
        turn += pause;
        let result = if begin.elapsed() + MARGIN < HANDLING {
            retry_letter(desk, &held.letter, email.clone()).await
        } else {
            Err(anyhow::anyhow!("no time left for it in this run: ask again"))
        };
        let settled = result.as_ref().is_ok_and(|retried| retried.is_settled());
        if !json {
            println!("{}", line(&held, result.as_ref().map(|retried| retried.words())));
        }
        letters.push(HandledOut::new(&held, result.as_ref().ok().copied(), result.as_ref().err()));
        if !settled {
            left.push(held);
        }
    }
    put_back(desk, &left).await?;
    let summary = SummaryOut { handled: letters.len() - left.len(), left: left.len(), letters };
    summary.print("retried", json)
}

/// Tries a dead letter's invoice again. First the invoice, then the letter: after a crash in between the letter is still
/// there, and finds its work done.
pub async fn retry_letter(desk: &Desk, letter: &BuriedTicket, email: Option<EmailAddress>) -> Result<Handled> {
    let Ok(ticket) = Ticket::parse(&letter.body) else { return Ok(Handled::NotATicket) };
    let retried = try_again(desk, ticket.invoice_id, Some(letter.letter.clone()), email).await?;
    if retried.is_settled() {
        desk.letters.remove(letter).await?;
    }
    Ok(retried)
}

/// `parcelctl dead-letters drop`.
pub(crate) async fn drop(desk: &Desk, selection: &Selection, why: &str, json: bool) -> Result<Outcome> {
    let selected = take_selected(desk, selection).await?;
    let mut letters = Vec::with_capacity(selected.len());
    let mut left = Vec::new();
    for held in selected {
        let result = drop_one(desk, &held, why).await;
        if !json {
            println!("{}", line(&held, result.as_ref().map(|words| *words)));
        }
        letters.push(HandledOut::new(&held, None, result.as_ref().err()));
        if result.is_err() {
            left.push(held);
        }
    }
    put_back(desk, &left).await?;
    SummaryOut { handled: letters.len() - left.len(), left: left.len(), letters }.print("dropped", json)
}

/// First the note, then the letter: a note too many says nothing wrong.
async fn drop_one(desk: &Desk, held: &Held, why: &str) -> Result<&'static str> {
    let words = match &held.invoice {
        None => "dropped",
        Some(invoice) if desk.notes.note_drop(invoice.content.id, why, desk.clock.now()).await? => {
            "dropped, and noted on its invoice"
        }
        Some(_) => "dropped; its invoice is open, and goes on",
    };
    desk.letters.remove(&held.letter).await?;
    Ok(words)
}
