//! A batch of messages in, the list of those that failed out. One record's trouble is never another's.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use futures::FutureExt as _;
use futures::future::join_all;
use lambda_runtime::{Context, Error};
use parceltrack::domain::{InvoiceId, LetterId, Ticket};
use tokio::time::timeout_at;
use tracing::{Instrument as _, Span};

use crate::deadline::Deadline;
use crate::delivery::{Delivery, Verdict};
use crate::work::Worker;

/// So long before Lambda would kill the process, what is not at its end is left where it is, as a kill would leave it: so
/// the batch is answered, and what the others have done need not be delivered again.
const TIME_TO_ANSWER: Duration = Duration::from_millis(500);

/// Works on a batch. Different invoices side by side; messages about one invoice share one piece of work.
pub async fn handle(worker: &Worker, event: SqsEvent, context: &Context) -> Result<SqsBatchResponse, Error> {
    let deadline = Deadline::at(context.deadline());
    let errands = errands(event.records).into_iter().map(|errand| {
        let span = errand.span();
        run(worker, errand, deadline).instrument(span)
    });
    let failed = join_all(errands).await;
    worker.report_sends(deadline).await;
    let mut failed: Vec<String> = failed.into_iter().flatten().collect();
    failed.sort_unstable();
    failed.dedup();
    // The queue knows its messages by id alone. Without one, only the whole batch can be reported.
    if failed.iter().any(String::is_empty) {
        tracing::error!(event = "record_without_id");
        return Err("a record without a messageId failed".into());
    }
    let mut response = SqsBatchResponse::default();
    for id in failed {
        response.add_failure(id);
    }
    Ok(response)
}

/// The messages that ask for one thing.
enum Errand {
    Invoice { ticket: Ticket, deliveries: Vec<Delivery> },
    Unreadable { reason: String, delivery: Delivery },
}

impl Errand {
    /// Around everything that is logged about it: the invoice, and the request by which it came, if a request brought it.
    fn span(&self) -> Span {
        let (invoice, deliveries) = match self {
            Self::Invoice { ticket, deliveries } => (Some(ticket.invoice_id.to_string()), deliveries.as_slice()),
            Self::Unreadable { delivery, .. } => (None, std::slice::from_ref(delivery)),
        };
        let requests: Vec<&str> =
            deliveries.iter().filter_map(|delivery| Some(delivery.request.as_ref()?.as_str())).collect();
        let request = (!requests.is_empty()).then(|| requests.join(" "));
        tracing::info_span!("ticket", requestId = request, invoice)
    }
}

fn errands(records: Vec<SqsMessage>) -> Vec<Errand> {
    let mut errands = Vec::new();
    let mut by_invoice: HashMap<InvoiceId, Vec<Delivery>> = HashMap::new();
    for delivery in records.into_iter().map(Delivery::from) {
        match Ticket::parse(&delivery.body) {
            Ok(ticket) => by_invoice.entry(ticket.invoice_id).or_default().push(delivery),
            Err(error) => errands.push(Errand::Unreadable { reason: error.to_string(), delivery }),
        }
    }
    errands.extend(
        by_invoice
            .into_iter()
            .map(|(invoice_id, deliveries)| Errand::Invoice { ticket: Ticket { invoice_id }, deliveries }),
    );
    errands
}

/// Runs one errand to its verdict and returns the ids of the messages that must come back.
async fn run(worker: &Worker, errand: Errand, deadline: Deadline) -> Vec<String> {
    let end = deadline.before(TIME_TO_ANSWER);
    let (verdict, deliveries) = match errand {
        Errand::Invoice { ticket, deliveries } => {
            let receives = deliveries.iter().map(|delivery| delivery.receives).max().unwrap_or(1);
            let letters: Vec<LetterId> = deliveries.iter().filter_map(|delivery| delivery.letter.clone()).collect();
            let work = caught(worker.deal_with(ticket, &letters, receives, deadline));
            (timeout_at(end, work).await.unwrap_or_else(|_| worker.leave(ticket, &letters, receives)), deliveries)
        }
        Errand::Unreadable { reason, delivery } => {
            let work = caught(worker.bury(&delivery.body, &reason, delivery.receives));
            (timeout_at(end, work).await.unwrap_or(Verdict::ReturnByVisibility), vec![delivery])
        }
    };
    let returned: Vec<Delivery> = match verdict {
        Verdict::Acknowledge => vec![],
        Verdict::ReturnAfter(_) | Verdict::ReturnByVisibility => deliveries,
        Verdict::ReturnLettersAfter(_) => deliveries.into_iter().filter(|delivery| delivery.letter.is_some()).collect(),
    };
    if let Verdict::ReturnAfter(delay) | Verdict::ReturnLettersAfter(delay) = verdict {
        let handles = returned.iter().filter_map(|delivery| delivery.receipt_handle.as_deref());
        // What is not postponed in time comes back later, by its visibility.
        timeout_at(end, join_all(handles.map(|handle| worker.postpone(handle, delay)))).await.ok();
    }
    returned.into_iter().map(|delivery| delivery.message_id).collect()
}

/// A panic is this record's failure and nobody else's.
async fn caught(work: impl Future<Output = Verdict>) -> Verdict {
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| {
        tracing::error!(event = "record_panicked");
        Verdict::ReturnByVisibility
    })
}
