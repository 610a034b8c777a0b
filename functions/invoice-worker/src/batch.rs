//! A batch of messages in, the list of those that failed out. One record's trouble is never another's.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use futures::FutureExt as _;
use futures::future::join_all;
use lambda_runtime::{Context, Error};
use parceltrack::domain::{InvoiceId, LetterId, Ticket};

use crate::deadline::Deadline;
use crate::delivery::{Delivery, Verdict};
use crate::work::Worker;

/// Works on a batch. Different invoices side by side; messages about one invoice share one piece of work.
pub async fn handle(worker: &Worker, event: SqsEvent, context: &Context) -> Result<SqsBatchResponse, Error> {
    let deadline = Deadline::at(context.deadline());
    let failed = join_all(errands(event.records).into_iter().map(|errand| run(worker, errand, deadline))).await;
    worker.report_sends(deadline).await;
    let mut failed: Vec<String> = failed.into_iter().flatten().collect();
    failed.sort_unstable();
    failed.dedup();
    // The queue knows its messages by id alone. Without one, only the whole batch can be reported.
    if failed.iter().any(String::is_empty) {
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
    let (verdict, deliveries) = match errand {
        Errand::Invoice { ticket, deliveries } => {
            let receives = deliveries.iter().map(|delivery| delivery.receives).max().unwrap_or(1);
            let letters: Vec<LetterId> = deliveries.iter().filter_map(|delivery| delivery.letter.clone()).collect();
            (caught(worker.deal_with(ticket, &letters, receives, deadline)).await, deliveries)
        }
        Errand::Unreadable { reason, delivery } => {
            (caught(worker.bury(&delivery.body, &reason, delivery.receives)).await, vec![delivery])
        }
    };
    if let Verdict::ReturnAfter(delay) = verdict {
        for receipt_handle in deliveries.iter().filter_map(|delivery| delivery.receipt_handle.as_deref()) {
            worker.postpone(receipt_handle, delay).await;
        }
    }
    if verdict == Verdict::Acknowledge {
        return vec![];
    }
    deliveries.into_iter().map(|delivery| delivery.message_id).collect()
}

/// A panic is this record's failure and nobody else's.
async fn caught(work: impl Future<Output = Verdict>) -> Verdict {
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| {
        tracing::error!(event = "record_panicked");
        Verdict::ReturnByVisibility
    })
}
