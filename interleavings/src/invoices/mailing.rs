//! What the provider tells of mails, and finished invoices that are opened again.

use parceltrack::domain::{
    Attempt, AttemptOutcome, Consequence, DeliveryReport, InvoiceId, InvoiceStatus, MailNews, MailReport, NewAddress,
    Readdressed, Reopened, Reopening, Timestamp,
};

use super::Invoices;
use crate::mutation::Mutation;

impl Invoices {
    /// Does what the provider's word means for the invoice.
    pub fn record(&mut self, report: &MailReport) -> Option<Consequence> {
        let keeps_lease = self.is_broken(Mutation::EventKeepsLease);
        let row = self.row_mut(report.invoice)?;
        let consequence = row.invoice().consequence_of(report);
        if consequence != Consequence::None {
            row.updated_at = report.at;
        }
        if matches!(consequence, Consequence::Sends | Consequence::Fails) {
            row.mailing.message_id = Some(report.message_id.clone());
            row.abandoned = 0;
            row.lease = row.lease.filter(|_| keeps_lease);
            row.due = None;
        }
        match (consequence, &report.news) {
            (Consequence::Sends | Consequence::Updates, MailNews::Delivery { delivery, reason }) => {
                if consequence == Consequence::Sends {
                    row.status = InvoiceStatus::Sent;
                    row.sent_at = Some(report.sent_at);
                    row.attempt_count += 1;
                    let told = "recorded by the mail provider's word, since the worker's own record is missing";
                    row.attempts.push(attempt(report.at, AttemptOutcome::Sent, told));
                }
                let (delivery, reason) = (*delivery, reason.clone());
                row.mailing.report = Some(DeliveryReport { delivery, reason, at: report.at });
            }
            (Consequence::Fails, MailNews::Rejected { reason }) => {
                row.status = InvoiceStatus::Failed;
                row.reason = Some(reason.clone());
                row.sent_at = None;
                row.mailing.report = None;
                row.attempts.push(attempt(report.at, AttemptOutcome::Failed, reason));
            }
            _ => {}
        }
        Some(consequence)
    }

    /// Does what a wish to try again means for the invoice.
    pub fn reopen(&mut self, id: InvoiceId, wish: &Reopening) -> Reopened {
        let mutation = self.mutation;
        let Some(row) = self.row_mut(id) else { return Reopened::Unknown };
        let reopened = match (row.invoice().reopened_by(wish), mutation) {
            (Reopened::HandledBefore, Some(Mutation::ReopeningIgnoresLetters))
            | (Reopened::NeedsAddress, Some(Mutation::ReopeningIgnoresBounces)) => Reopened::Opened,
            (Reopened::Opened, Some(Mutation::ReopeningForgotten)) => return Reopened::Opened,
            (reopened, _) => reopened,
        };
        let other_address = wish.address.as_ref().filter(|address| address.email != *row.invoice().email());
        match reopened {
            Reopened::Opened => {
                row.status = if row.pdf.is_some() { InvoiceStatus::Generated } else { InvoiceStatus::Pending };
                row.due = Some(wish.due);
                (row.due_moves, row.parks, row.abandoned) = (0, 0, 0);
                row.attempts.push(attempt(wish.now, AttemptOutcome::Reopened, &wish.reason));
                row.mailing.handled_letters.extend(wish.letter.clone());
                row.mailing.retired.extend(row.mailing.message_id.take());
                if let Some(address) = other_address {
                    row.write_address(address, wish.now);
                }
                row.mailing.report = None;
                (row.lease, row.reason, row.sent_at) = (None, None, None);
                row.updated_at = wish.now;
            }
            Reopened::Readdressed => {
                if row.lease.is_some_and(|lease| lease.is_alive(wish.now)) {
                    return Reopened::HeldByWorker;
                }
                if let Some(address) = other_address {
                    row.write_address(address, wish.now);
                }
            }
            _ => {}
        }
        reopened
    }

    /// Changes the address if no worker has the invoice.
    pub fn readdress(&mut self, id: InvoiceId, address: &NewAddress, now: Timestamp) -> Readdressed {
        let Some(row) = self.row_mut(id) else { return Readdressed::Unknown };
        match row.invoice().readdressed_by(address) {
            Readdressed::Changed if row.lease.is_some_and(|lease| lease.until > now) => Readdressed::HeldByWorker,
            Readdressed::Changed => {
                row.write_address(address, now);
                Readdressed::Changed
            }
            nothing_to_write => nothing_to_write,
        }
    }

    /// Notes on a finished invoice that its dead letter was given up.
    pub fn note_drop(&mut self, id: InvoiceId, reason: &str, now: Timestamp) -> bool {
        let Some(row) = self.row_mut(id).filter(|row| row.is_finished()) else { return false };
        row.attempts.push(attempt(now, AttemptOutcome::Dropped, reason));
        row.updated_at = now;
        true
    }
}

fn attempt(at: Timestamp, outcome: AttemptOutcome, reason: &str) -> Attempt {
    Attempt { at, outcome, reason: Some(reason.to_owned()) }
}
