//! One ticket, from claim to sent; and what becomes of it when something fails on the way.
//!
//! The rule behind every branch: a ticket is only a hint. The invoice in the table has a due time until it is `Sent` or
//! `Failed`, and the relay brings a new ticket then. So on its last receive a ticket is never handed back to the queue,
//! which would bury it: it is acknowledged, and the due time does the rest. Only what a person must see is buried.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use parceltrack::domain::{
    Attempt, AttemptOutcome, FIRST_DUE, Invoice, InvoiceId, InvoiceStatus, LINK_LIFETIME, Lease, LeaseHolder, LetterId,
    ProviderMessageId, Reopened, Reopening, SmtpReply, StoredPdf, SuppressionCause, Ticket, Timestamp, Wish,
    park_backoff, retry_delay,
};
use parceltrack::ports::{
    Claim, Clock, CountSends, DeadLetter, Held, LetGo, Mail, MailError, NoteProvider, PortError, PostponeTicket,
    ReadSuppressions, ReopenInvoices, SendMail, StorePdf, WorkOnInvoices,
};
use parceltrack::telemetry::{self, FailureReason, Metric};
use uuid::Uuid;

use crate::breaker::{Breaker, Permit};
use crate::deadline::Deadline;
use crate::delivery::Verdict;
use crate::mail;
use crate::pace::Pace;
use crate::render::{PdfEngine, RenderPdf};
use crate::settings::Rules;
use crate::tally::Tally;

/// How long the provider may take for one mail.
pub const MAIL_TIMEOUT: Duration = Duration::from_secs(3);

/// A mail is begun only if this much of the function's time is left: the mail itself, and the record of it, for which
/// the table may take its time. A mail that is out and not recorded would be sent again.
const TIME_TO_SEND: Duration = Duration::from_secs(6);

/// An invoice is begun only if this much of the function's time is left.
const TIME_TO_WORK: Duration = Duration::from_secs(7);

/// An invoice that so many workers in a row died over is given up: it is probably what kills them.
const MAX_DEATHS: u32 = 10;

/// Why an invoice was not sent over which the code panicked.
const PANICKED: &str = "the worker panicked";

/// How long a ticket waits that could not be begun in time.
const NEXT_INVOCATION: Duration = Duration::from_secs(1);

/// The record of a sent mail is tried once more only if this much of the function's time is left.
const TIME_TO_RECORD: Duration = Duration::from_secs(1);

/// The wait for the next turn leaves so much of the function's time.
const TIME_TO_ANSWER: Duration = Duration::from_secs(1);

/// How long the record of a sent mail waits before the next try: the first time, and at most.
const RECORD_PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));

/// The worker: its ports, and what it remembers from one invocation to the next.
pub struct Worker {
    invoices: Arc<dyn WorkOnInvoices>,
    pdfs: Arc<dyn StorePdf>,
    mail: Arc<dyn SendMail>,
    tickets: Arc<dyn PostponeTicket>,
    dead_letters: Arc<dyn DeadLetter>,
    suppressions: Option<Arc<dyn ReadSuppressions>>,
    reopening: Option<Arc<dyn ReopenInvoices>>,
    clock: Arc<dyn Clock>,
    renderer: Arc<dyn RenderPdf>,
    rules: Rules,
    pace: Pace,
    breaker: Breaker,
    tally: Tally,
}

/// Why an invoice was not sent this time.
#[derive(Debug)]
enum Trouble {
    /// It will not succeed by itself.
    Permanent(FailureReason, String),
    /// It may succeed soon.
    Passing(String),
    /// The provider did not answer: the mail may be out. Wait for its event before trying again.
    AnswerLost(String),
    /// The provider is away for everyone: not worth a try now.
    ProviderAway,
    /// The function's time is nearly up.
    OutOfTime,
    /// The code panicked. The log says where; over what is not told, since it may quote the invoice.
    Panic,
    /// Somebody else has the invoice now.
    LeaseLost,
}

impl From<PortError> for Trouble {
    fn from(error: PortError) -> Self {
        Self::Passing(error.to_string())
    }
}

impl Worker {
    /// A worker that has sent nothing yet.
    pub fn new(
        invoices: Arc<dyn WorkOnInvoices>,
        pdfs: Arc<dyn StorePdf>,
        mail: Arc<dyn SendMail>,
        tickets: Arc<dyn PostponeTicket>,
        dead_letters: Arc<dyn DeadLetter>,
        clock: Arc<dyn Clock>,
        rules: Rules,
    ) -> Self {
        let pace = Pace::new(rules.pace);
        Self {
            invoices,
            pdfs,
            mail,
            tickets,
            dead_letters,
            suppressions: None,
            reopening: None,
            clock,
            renderer: Arc::new(PdfEngine),
            rules,
            pace,
            breaker: Breaker::default(),
            tally: Tally::default(),
        }
    }

    /// The same worker with another PDF engine.
    #[must_use]
    pub fn with_renderer(self, renderer: Arc<dyn RenderPdf>) -> Self {
        Self { renderer, ..self }
    }

    /// One that mails to nobody whose address bounced or who complained.
    #[must_use]
    pub fn heeding(mut self, suppressions: Arc<dyn ReadSuppressions>) -> Self {
        self.suppressions = Some(suppressions);
        self
    }

    /// One that tries a failed invoice again when its dead letter is redriven.
    #[must_use]
    pub fn reopening(mut self, invoices: Arc<dyn ReopenInvoices>) -> Self {
        self.reopening = Some(invoices);
        self
    }

    /// One that counts the mails it sends and notes whether the provider takes them, so that people see how the work goes.
    #[must_use]
    pub fn counting(mut self, sends: Arc<dyn CountSends>, provider: Arc<dyn NoteProvider>) -> Self {
        self.tally = Tally::kept_in(sends, provider);
        self
    }

    /// Waits until this worker's next turn. Between two invocations the pace would otherwise be lost: the next may be
    /// another process's, which knows nothing of this one's mails.
    pub async fn end_turn(&self, deadline: Deadline) {
        let next = self.pace.next();
        if deadline.leaves(next, TIME_TO_ANSWER) {
            tokio::time::sleep_until(next).await;
        }
    }

    /// Adds what was sent since the last time to the count of all workers, and notes whether the provider takes mail.
    pub(crate) async fn report_sends(&self, deadline: Deadline) {
        self.tally.report(self.breaker.found(), self.clock.now(), deadline).await;
    }

    /// Brings the ticket's invoice as far as it gets, delivered for the `receives`-th time, the dead letters by which
    /// it came back among the deliveries.
    pub(crate) async fn deal_with(
        &self,
        ticket: Ticket,
        letters: &[LetterId],
        receives: u32,
        deadline: Deadline,
    ) -> Verdict {
        let id = ticket.invoice_id;
        if !deadline.leaves(tokio::time::Instant::now(), TIME_TO_WORK) {
            return self.not_begun(letters, receives, Verdict::ReturnAfter(NEXT_INVOCATION));
        }
        let now = self.clock.now();
        let holder = LeaseHolder(Uuid::new_v4());
        match self.claim(id, letters, Lease { holder, until: now + self.rules.lease }, now).await {
            Ok(Claim::Granted(invoice)) => self.work_on(&invoice, holder, ticket, receives, deadline).await,
            Ok(Claim::Finished(status)) => {
                tracing::info!(event = "repeat_skipped", invoice = %id, ?status);
                telemetry::record(Metric::RepeatsSkipped, now);
                self.put_down(ticket, letters, receives, now).await
            }
            Ok(Claim::HeldByAnother) => self.not_begun(letters, receives, Verdict::ReturnByVisibility),
            Ok(Claim::Unknown) if self.is_last(receives) => {
                self.bury(&ticket.to_body(), "there is no such invoice", receives).await
            }
            Ok(Claim::Unknown) => Verdict::ReturnAfter(retry_delay(receives, fastrand::f64())),
            Err(PortError::Unavailable(cause)) => {
                tracing::warn!(event = "claim_failed", invoice = %id, cause);
                self.not_begun(letters, receives, Verdict::ReturnAfter(retry_delay(receives, fastrand::f64())))
            }
            Err(PortError::Broken(cause)) => {
                tracing::error!(event = "claim_failed", invoice = %id, cause);
                if self.is_last(receives) {
                    self.bury(&ticket.to_body(), &cause, receives).await
                } else {
                    Verdict::ReturnAfter(retry_delay(receives, fastrand::f64()))
                }
            }
        }
    }

    /// Claims the invoice. A ticket of a failed one is an old repeat, unless it is a dead letter that somebody redrove:
    /// that asks for one more try, and each letter gets one.
    async fn claim(
        &self,
        id: InvoiceId,
        letters: &[LetterId],
        lease: Lease,
        now: Timestamp,
    ) -> Result<Claim, PortError> {
        let claim = self.invoices.claim(id, lease, now).await?;
        let (Claim::Finished(InvoiceStatus::Failed), Some(reopening)) = (&claim, &self.reopening) else {
            return Ok(claim);
        };
        for letter in letters {
            if matches!(reopening.reopen(id, &redriven(letter, now)).await?, Reopened::Opened | Reopened::StillOpen) {
                tracing::info!(event = "invoice_reopened", invoice = %id);
                return self.invoices.claim(id, lease, now).await;
            }
        }
        Ok(claim)
    }

    /// Acknowledges a ticket of a finished invoice. A redriven letter of one whose mail came back goes back to the dead
    /// letters: a redrive brings no better address, and nobody would see it any more.
    async fn put_down(&self, ticket: Ticket, letters: &[LetterId], receives: u32, now: Timestamp) -> Verdict {
        let (Some(reopening), Some(letter)) = (&self.reopening, letters.first()) else { return Verdict::Acknowledge };
        match reopening.reopen(ticket.invoice_id, &redriven(letter, now)).await {
            Ok(Reopened::NeedsAddress) => {
                self.bury(&ticket.to_body(), "the mail came back for good, and only another address helps", receives)
                    .await
            }
            // Opened meanwhile: its due time brings it back.
            Ok(_) => Verdict::Acknowledge,
            Err(error) => {
                tracing::warn!(event = "letter_not_put_down", invoice = %ticket.invoice_id, %error);
                Verdict::ReturnLettersAfter(retry_delay(receives, fastrand::f64()))
            }
        }
    }

    async fn work_on(
        &self,
        invoice: &Invoice,
        holder: LeaseHolder,
        ticket: Ticket,
        receives: u32,
        deadline: Deadline,
    ) -> Verdict {
        let result = if invoice.abandoned >= MAX_DEATHS {
            let reason = format!("{} workers in a row died over it", invoice.abandoned);
            Err(Trouble::Permanent(FailureReason::WorkersDied, reason))
        } else {
            AssertUnwindSafe(self.send(invoice, holder, deadline)).catch_unwind().await.unwrap_or(Err(Trouble::Panic))
        };
        match result {
            Ok(message_id) => self.record_sent(invoice, holder, message_id, receives, deadline).await,
            Err(trouble) => self.cope(invoice, holder, ticket, receives, trouble).await,
        }
    }

    /// The happy path: PDF, storage, mail.
    async fn send(
        &self,
        invoice: &Invoice,
        holder: LeaseHolder,
        deadline: Deadline,
    ) -> Result<ProviderMessageId, Trouble> {
        if invoice.state.pdf().is_none() {
            self.generate(invoice, holder).await?;
        }
        let mail = mail::compose(&invoice.content, invoice.link_secret, &self.rules.public_url)
            .map_err(|error| Trouble::Permanent(FailureReason::CannotBeMade, error.to_string()))?;
        let mail = Mail { to: invoice.email().clone(), ..mail };
        self.check_suppression(invoice).await?;

        let turn = self.pace.turn(|turn| deadline.leaves(turn, TIME_TO_SEND)).await.ok_or(Trouble::OutOfTime)?;
        tokio::time::sleep_until(turn.at).await;
        if self.breaker.permit() == Permit::LeaveAlone {
            return Err(Trouble::ProviderAway);
        }
        // Right before the mail, since a claim that was good when work began may have run out since.
        let now = self.clock.now();
        let ends = now + MAIL_TIMEOUT;
        match self.invoices.about_to_send(invoice.content.id, holder, ends, now + LINK_LIFETIME).await? {
            Held::Yes => {}
            Held::Lost => return Err(Trouble::LeaseLost),
        }
        let answer = tokio::time::timeout(MAIL_TIMEOUT, self.mail.send(&mail))
            .await
            .unwrap_or_else(|_| Err(MailError::AnswerLost(format!("nothing within {} s", MAIL_TIMEOUT.as_secs()))));
        drop(turn);
        if answer.is_ok() {
            self.tally.accepted();
        }
        match &answer {
            Ok(_) | Err(MailError::Rejected(_) | MailError::PutOff(_)) => self.breaker.answered(),
            Err(MailError::Unavailable(_) | MailError::AnswerLost(_)) => self.breaker.failed(),
        }
        answer.map_err(|error| {
            let reason = error.to_string();
            match error {
                MailError::Rejected(_) => Trouble::Permanent(FailureReason::Rejected, reason),
                MailError::PutOff(_) | MailError::Unavailable(_) => Trouble::Passing(reason),
                MailError::AnswerLost(_) => Trouble::AnswerLost(reason),
            }
        })
    }

    /// Before the provider is called: it counts what it must turn away against us.
    async fn check_suppression(&self, invoice: &Invoice) -> Result<(), Trouble> {
        let Some(suppressions) = &self.suppressions else { return Ok(()) };
        let Some(suppression) = suppressions.suppression(invoice.email()).await? else { return Ok(()) };
        let what = match suppression.cause {
            SuppressionCause::Bounce => "an earlier mail to it came back",
            SuppressionCause::Complaint => "its owner complained of an earlier mail",
        };
        let day = suppression.at.singapore_date();
        // Of an older suppression's reason, too, only the codes: it has a server's words.
        let reply = SmtpReply::read(&suppression.reason).map(|reply| format!(": {reply}")).unwrap_or_default();
        let reason = format!("the address gets no mail any more, since {what} on {day}{reply}");
        Err(Trouble::Permanent(FailureReason::Suppressed, reason))
    }

    async fn generate(&self, invoice: &Invoice, holder: LeaseHolder) -> Result<(), Trouble> {
        let pdf = self.renderer.render(invoice.content.clone()).await;
        let pdf = pdf.map_err(|error| Trouble::Permanent(FailureReason::CannotBeMade, error.to_string()))?;
        if pdf.missing_glyphs > 0 {
            tracing::warn!(event = "glyphs_missing", invoice = %invoice.content.id, count = pdf.missing_glyphs);
            telemetry::record(Metric::MissingGlyphs(pdf.missing_glyphs), self.clock.now());
        }
        let stored = StoredPdf { key: format!("invoices/{}.pdf", invoice.content.id), sha256: pdf.sha256 };
        self.pdfs.store(&stored.key, pdf.bytes).await?;
        match self.invoices.generated(invoice.content.id, holder, &stored, self.clock.now()).await? {
            Held::Yes => Ok(()),
            Held::Lost => Err(Trouble::LeaseLost),
        }
    }

    /// The mail is out, and if that is not recorded it goes out again. So as long as the function has time, the record is
    /// tried.
    async fn record_sent(
        &self,
        invoice: &Invoice,
        holder: LeaseHolder,
        message_id: ProviderMessageId,
        receives: u32,
        deadline: Deadline,
    ) -> Verdict {
        let id = invoice.content.id;
        let how = LetGo::Sent { message_id };
        let (mut pause, longest) = RECORD_PAUSES;
        loop {
            match self.let_go(invoice, holder, &how, None).await {
                Ok(Held::Yes) => {
                    tracing::info!(event = "invoice_sent", invoice = %id);
                    let now = self.clock.now();
                    telemetry::record(Metric::InvoicesSent(now.since(invoice.content.created_at)), now);
                    return Verdict::Acknowledge;
                }
                Ok(Held::Lost) => break,
                Err(error) => tracing::warn!(event = "sent_not_recorded_yet", invoice = %id, %error),
            }
            let next = tokio::time::Instant::now() + pause;
            if !deadline.leaves(next, TIME_TO_RECORD) {
                break;
            }
            tokio::time::sleep_until(next).await;
            pause = (pause * 2).min(longest);
        }
        tracing::error!(event = "sent_not_recorded", invoice = %id);
        self.unless_last(receives, Verdict::ReturnByVisibility)
    }

    async fn cope(
        &self,
        invoice: &Invoice,
        holder: LeaseHolder,
        ticket: Ticket,
        receives: u32,
        trouble: Trouble,
    ) -> Verdict {
        let id = invoice.content.id;
        let last = self.is_last(receives);
        let soon = Verdict::ReturnAfter(retry_delay(receives, fastrand::f64()));
        // The log names the kind; the reason, which may be about a person, stands on the invoice only.
        let (kind, reason, verdict) = match trouble {
            Trouble::Permanent(kind, reason) => {
                return self.give_up(invoice, holder, ticket, receives, (kind, reason)).await;
            }
            Trouble::Panic if last => {
                let reason = PANICKED.to_owned();
                return self.give_up(invoice, holder, ticket, receives, (FailureReason::Panic, reason)).await;
            }
            Trouble::LeaseLost => {
                tracing::warn!(event = "lease_lost", invoice = %id);
                return self.unless_last(receives, Verdict::ReturnByVisibility);
            }
            Trouble::Panic => ("panic", PANICKED.to_owned(), Verdict::ReturnByVisibility),
            Trouble::AnswerLost(reason) => ("answer_lost", reason, Verdict::ReturnByVisibility),
            Trouble::Passing(reason) => ("passing", reason, soon),
            Trouble::OutOfTime => {
                ("out_of_time", "no time left for it".to_owned(), Verdict::ReturnAfter(NEXT_INVOCATION))
            }
            Trouble::ProviderAway => ("provider_away", "the mail provider is away".to_owned(), Verdict::Acknowledge),
        };
        let park = last || verdict == Verdict::Acknowledge;
        let how =
            if park { LetGo::Parked { due: self.clock.now() + park_backoff(invoice.parks) } } else { LetGo::Retried };
        tracing::warn!(event = if park { "invoice_parked" } else { "invoice_retried" }, invoice = %id, kind, receives);
        match self.let_go(invoice, holder, &how, Some(reason)).await {
            Ok(_) if park => {
                telemetry::record(Metric::InvoicesParked, self.clock.now());
                Verdict::Acknowledge
            }
            Ok(_) => verdict,
            // The lease ends by itself; until then nobody could do anything.
            Err(error) => {
                tracing::warn!(event = "not_let_go", invoice = %id, %error);
                self.unless_last(receives, Verdict::ReturnByVisibility)
            }
        }
    }

    /// First the dead letter, then `Failed`: after a crash in between it is all done once more, and nothing is lost.
    async fn give_up(
        &self,
        invoice: &Invoice,
        holder: LeaseHolder,
        ticket: Ticket,
        receives: u32,
        (kind, reason): (FailureReason, String),
    ) -> Verdict {
        tracing::error!(event = "invoice_failed", invoice = %invoice.content.id, ?kind);
        let buried = self.bury(&ticket.to_body(), &reason, receives).await;
        if buried != Verdict::Acknowledge {
            return buried;
        }
        match self.let_go(invoice, holder, &LetGo::Failed { reason: reason.clone() }, Some(reason)).await {
            Ok(Held::Yes) => {
                telemetry::record(Metric::InvoicesFailed(kind), self.clock.now());
                Verdict::Acknowledge
            }
            Ok(Held::Lost) | Err(_) => self.unless_last(receives, Verdict::ReturnByVisibility),
        }
    }

    async fn let_go(
        &self,
        invoice: &Invoice,
        holder: LeaseHolder,
        how: &LetGo,
        reason: Option<String>,
    ) -> Result<Held, PortError> {
        let outcome = match how {
            LetGo::Sent { .. } => AttemptOutcome::Sent,
            LetGo::Retried => AttemptOutcome::Retried,
            LetGo::Parked { .. } => AttemptOutcome::Parked,
            LetGo::Failed { .. } => AttemptOutcome::Failed,
        };
        self.invoices.let_go(invoice, holder, how, Attempt { at: self.clock.now(), outcome, reason }).await
    }

    /// Puts a message aside for a person, with the reason, and acknowledges it.
    pub(crate) async fn bury(&self, body: &str, reason: &str, receives: u32) -> Verdict {
        match self.dead_letters.bury(body, reason).await {
            Ok(()) => {
                tracing::error!(event = "ticket_buried");
                Verdict::Acknowledge
            }
            Err(error) => {
                tracing::warn!(event = "not_buried_yet", %error);
                // Also on the last receive: then the queue itself moves it to the dead letters, only without the reason.
                Verdict::ReturnAfter(retry_delay(receives, fastrand::f64()))
            }
        }
    }

    /// Leaves an invoice in the middle of its work, as a kill would, because the function's time is up.
    pub(crate) fn leave(&self, ticket: Ticket, letters: &[LetterId], receives: u32) -> Verdict {
        tracing::error!(event = "invoice_left", invoice = %ticket.invoice_id);
        self.not_begun(letters, receives, Verdict::ReturnByVisibility)
    }

    /// Hides a message. If that fails, it comes back later, by its visibility.
    pub(crate) async fn postpone(&self, receipt_handle: &str, delay: Duration) {
        if let Err(error) = self.tickets.postpone(receipt_handle, delay).await {
            tracing::warn!(event = "not_postponed", %error);
        }
    }

    fn is_last(&self, receives: u32) -> bool {
        receives >= self.rules.max_receives
    }

    /// What becomes of the tickets of an invoice that could not be claimed. On the last receive they are acknowledged, since
    /// an open invoice has its due time; but the letter of a failed one, which has none, stays.
    fn not_begun(&self, letters: &[LetterId], receives: u32, verdict: Verdict) -> Verdict {
        match self.unless_last(receives, verdict) {
            Verdict::Acknowledge if !letters.is_empty() => {
                Verdict::ReturnLettersAfter(retry_delay(receives, fastrand::f64()))
            }
            verdict => verdict,
        }
    }

    fn unless_last(&self, receives: u32, verdict: Verdict) -> Verdict {
        if self.is_last(receives) { Verdict::Acknowledge } else { verdict }
    }
}

/// What a dead letter wishes that somebody redrove.
fn redriven(letter: &LetterId, now: Timestamp) -> Reopening {
    let reason = "its dead letter was redriven".to_owned();
    Reopening {
        wish: Wish::AnotherTry,
        letter: Some(letter.clone()),
        address: None,
        reason,
        correlation_id: None,
        due: now + FIRST_DUE,
        now,
    }
}
