//! `parcelctl invoice`: the whole story of one, and another try.

use anyhow::Result;
use parceltrack::domain::{
    AttemptOutcome, Delivery, EmailAddress, FIRST_DUE, Invoice, InvoiceId, InvoiceStatus, LetterId, LinkSecret,
    NewAddress, OwnerId, Reopened, Reopening, Suppression, Ticket, Timestamp, Wish,
};
use parceltrack::reopening;
use serde::Serialize;
use uuid::Uuid;

use crate::Outcome;
use crate::desk::Desk;
use crate::words::{age, count, print_json};

/// An invoice as an operator sees it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Story {
    id: InvoiceId,
    number: String,
    parcel_id: String,
    tracking_number: String,
    status: InvoiceStatus,
    email: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    suppressed_since: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delivery: Option<Delivery>,
    attempt_count: u32,
    /// All that happened, oldest first.
    events: Vec<Happening>,
    next_step: String,
}

/// One line of the story.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Happening {
    at: String,
    what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// What was to happen then.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'static str>,
    #[serde(skip)]
    order: Timestamp,
}

impl Story {
    /// What is known of it.
    pub(crate) async fn of(desk: &Desk, invoice: &Invoice) -> Result<Self> {
        let suppression = desk.suppressions.suppression(invoice.email()).await?;
        let content = &invoice.content;
        let mut events = happenings(invoice);
        events.sort_by_key(|happening| happening.order);
        Ok(Self {
            id: content.id,
            number: content.number.to_string(),
            parcel_id: content.parcel_id.to_string(),
            tracking_number: content.tracking_number.to_string(),
            status: invoice.state.status(),
            email: invoice.email().as_str().to_owned(),
            delivery: invoice.delivery(),
            attempt_count: invoice.attempt_count,
            events,
            next_step: next_step(invoice, suppression.as_ref(), desk.clock.now()),
            suppressed_since: suppression.map(|suppression| suppression.at.to_string()),
        })
    }

    /// For people.
    pub(crate) fn print(&self) {
        let delivery = self.delivery.map(|delivery| format!(", {delivery:?}")).unwrap_or_default();
        println!("{}  {:?}{delivery}", self.number, self.status);
        println!("  invoice  {}", self.id);
        println!("  parcel   {} ({})", self.tracking_number, self.parcel_id);
        let suppressed =
            self.suppressed_since.as_ref().map(|since| format!(" (gets no mail since {since})")).unwrap_or_default();
        println!("  mail to  {}{suppressed}", self.email);
        println!("  story    {}", count(self.attempt_count as usize, "attempt", "attempts"));
        for happening in &self.events {
            let reason = happening.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            println!("    {}  {}{reason}", happening.at, happening.what);
            if let Some(next) = happening.next {
                println!("    {:24}  → {next}", "");
            }
        }
        println!("  next     {}", self.next_step);
    }
}

fn happenings(invoice: &Invoice) -> Vec<Happening> {
    let happening = |order: Timestamp, what: String, reason: Option<String>, next| Happening {
        at: order.to_string(),
        what,
        reason,
        next,
        order,
    };
    let requested = format!("asked for, to be mailed to {}", invoice.content.email.as_str());
    let mut happenings = vec![happening(invoice.content.created_at, requested, None, Some("a ticket for a worker"))];
    happenings.extend(invoice.attempts.iter().map(|attempt| {
        let (what, next) = match attempt.outcome {
            AttemptOutcome::Sent => ("the mail provider has it", None),
            AttemptOutcome::Retried => ("tried", Some("the same ticket again, within a minute")),
            AttemptOutcome::Parked => ("tried", Some("a new ticket from the relay, when it is due")),
            AttemptOutcome::Failed => ("given up", Some("a dead letter, for a person")),
            AttemptOutcome::Reopened => ("opened again", Some("a new ticket for a worker")),
            AttemptOutcome::Dropped => ("its dead letter was dropped", None),
        };
        happening(attempt.at, what.to_owned(), attempt.reason.clone(), next)
    }));
    happenings.extend(invoice.mailing.corrections.iter().map(|correction| {
        let reason = correction.by.as_ref().map(|by| format!("by {by}"));
        happening(correction.at, format!("address changed to {}", correction.email.as_str()), reason, None)
    }));
    happenings.extend(invoice.mailing.report.iter().map(|report| {
        happening(report.at, format!("the mail provider says {:?}", report.delivery), report.reason.clone(), None)
    }));
    happenings
}

fn next_step(invoice: &Invoice, suppression: Option<&Suppression>, now: Timestamp) -> String {
    let id = invoice.content.id;
    let wrong_address = suppression.is_some() || invoice.delivery() == Some(Delivery::Bounced);
    match (invoice.state.status(), invoice.due) {
        (InvoiceStatus::Pending | InvoiceStatus::Generated, Some(due)) if due > now => {
            format!("its ticket, or the relay's at {due} (in {})", age(due.since(now)))
        }
        (InvoiceStatus::Pending | InvoiceStatus::Generated, _) => "the relay sends a ticket within a minute".to_owned(),
        (InvoiceStatus::Failed, _) if wrong_address => {
            format!("a person: parcelctl invoice retry {id} --set-email ADDRESS")
        }
        (InvoiceStatus::Failed, _) => format!("a person, once the cause is mended: parcelctl invoice retry {id}"),
        (InvoiceStatus::Sent, _) if invoice.delivery() == Some(Delivery::Bounced) => {
            format!("a person, since it came back: parcelctl invoice retry {id} --set-email ADDRESS")
        }
        (InvoiceStatus::Sent, _) => "none".to_owned(),
    }
}

/// `parcelctl invoice show`.
pub(crate) async fn show(desk: &Desk, id: Uuid, json: bool) -> Result<Outcome> {
    let Some(invoice) = desk.invoices.invoice(InvoiceId(id)).await? else {
        eprintln!("There is no invoice {id}.");
        return Ok(Outcome::NothingFound);
    };
    let story = Story::of(desk, &invoice).await?;
    if json {
        print_json(&story)?;
    } else {
        story.print();
    }
    Ok(Outcome::Done)
}

/// How a wish to try again ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Handled {
    /// It is open again, and has a ticket.
    Retried,
    /// It was open, goes to the new address, and has a ticket.
    Readdressed,
    /// It was open, and has one more ticket.
    WasOpen,
    /// It was sent meanwhile.
    WasSent,
    /// The same letter has been retried before.
    WasRetried,
    /// A worker has it right now, so its address stays.
    HeldByWorker,
    /// The mail came back; only another address helps.
    NeedsAddress,
    /// The address gets no mail any more.
    Suppressed,
    /// It was opened or readdressed so often that it is enough.
    TooOften,
    /// There is no such invoice.
    Unknown,
    /// The letter names no invoice.
    NotATicket,
}

impl Handled {
    /// Whether nothing is left to do.
    #[must_use]
    pub fn is_settled(self) -> bool {
        match self {
            Self::Retried | Self::Readdressed | Self::WasOpen | Self::WasSent | Self::WasRetried => true,
            Self::HeldByWorker
            | Self::NeedsAddress
            | Self::Suppressed
            | Self::TooOften
            | Self::Unknown
            | Self::NotATicket => false,
        }
    }

    /// For people.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Retried => "is being tried again",
            Self::Readdressed => "was open; goes to the new address",
            Self::WasOpen => "was open already; has a new ticket",
            Self::WasSent => "was sent meanwhile; nothing to do",
            Self::WasRetried => "was retried before, by this same letter; nothing to do",
            Self::HeldByWorker => "left alone: a worker has it right now; try again in a minute",
            Self::NeedsAddress => "left alone: its mail came back, so it needs --set-email",
            Self::Suppressed => {
                "left alone: the address gets no mail any more; use --set-email, or allow it by parcelctl suppression remove"
            }
            Self::TooOften => "left alone: it was opened again, or had another address, a hundred times",
            Self::Unknown => "left alone: there is no such invoice; drop it",
            Self::NotATicket => "left alone: it names no invoice; drop it",
        }
    }
}

/// Opens an invoice again and sends its ticket. Asked twice, it does no more than asked once.
pub(crate) async fn try_again(
    desk: &Desk,
    id: InvoiceId,
    letter: Option<LetterId>,
    email: Option<EmailAddress>,
) -> Result<Handled> {
    let now = desk.clock.now();
    let by = "an operator".to_owned();
    let reason = format!("by {by}");
    let address = email.map(|email| NewAddress { email, by, link_secret: LinkSecret(Uuid::new_v4()) });
    let wish =
        Reopening { wish: Wish::AnotherTry, letter, address, reason, correlation_id: None, due: now + FIRST_DUE, now };
    let (invoices, suppressions, reopening) = (&*desk.invoices, &*desk.suppressions, &*desk.reopening);
    let handled = match reopening::reopen(invoices, suppressions, reopening, id, &wish).await? {
        Reopened::Opened => Handled::Retried,
        Reopened::Readdressed => Handled::Readdressed,
        Reopened::StillOpen => Handled::WasOpen,
        Reopened::HeldByWorker => return Ok(Handled::HeldByWorker),
        Reopened::HandledBefore => return Ok(Handled::WasRetried),
        Reopened::Sent => return Ok(Handled::WasSent),
        Reopened::NeedsAddress => return Ok(Handled::NeedsAddress),
        Reopened::Suppressed => return Ok(Handled::Suppressed),
        // The first is only for those who want another mail.
        Reopened::TooSoon { .. } | Reopened::TooOften => return Ok(Handled::TooOften),
        Reopened::Unknown => return Ok(Handled::Unknown),
    };
    // However many an operator sends, they are one group beside the merchants'.
    if let Err(error) = desk.tickets.send(Ticket { invoice_id: id }, &OwnerId::house(), None).await {
        // It has a due time, so nothing is lost.
        eprintln!("warning: the queue took no ticket for {id} ({error}); the relay sends one when it is due");
    }
    Ok(handled)
}

/// `parcelctl invoice retry`.
pub(crate) async fn retry(desk: &Desk, id: Uuid, email: Option<EmailAddress>, json: bool) -> Result<Outcome> {
    let retried = try_again(desk, InvoiceId(id), None, email).await?;
    if json {
        print_json(&serde_json::json!({"invoiceId": id, "outcome": retried}))?;
    } else {
        println!("{id}  {}", retried.words());
    }
    Ok(match retried {
        Handled::Unknown => Outcome::NothingFound,
        retried if retried.is_settled() => Outcome::Done,
        _ => Outcome::Incomplete,
    })
}
