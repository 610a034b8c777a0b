//! What is counted and measured of the business, by lines of the log (embedded metric format).

use std::env;
use std::io::Write as _;
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::domain::{DomainEventType, Timestamp};

/// The namespace of our metrics; alarms and the dashboard of template.yaml read them there.
const NAMESPACE: &str = "ParcelTrack";

/// The stack that metrics are of. Set by [`begin`]; without it, as in tests, nothing is written.
static STACK: OnceLock<String> = OnceLock::new();

/// What is counted and measured of the business, beside what AWS measures by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Parcels that were created, repeats not counted.
    ParcelsCreated,
    /// Invoices that were asked for, repeats not counted.
    InvoicesRequested,
    /// Invoices whose mail the provider took, with the time since they were asked for.
    InvoicesSent(Duration),
    /// Invoices that were given up.
    InvoicesFailed(FailureReason),
    /// Invoices that were put off beyond what the queue's own retries last.
    InvoicesParked,
    /// Tickets of invoices that were finished already.
    RepeatsSkipped,
    /// How long ago the oldest invoice was asked for that is neither sent nor failed; zero if there is none.
    OldestUnfinishedInvoice(Duration),
    /// Characters of an invoice for which no font has a glyph.
    MissingGlyphs(usize),
    /// Events of this type that the bus has taken, repeats counted.
    EventsPublished(DomainEventType, usize),
    /// Answers of the API with a status of 500 or more.
    ServerErrors,
    /// Events that endpoints took, with the time since we heard of them.
    WebhooksDelivered(Duration),
    /// Calls of endpoints that failed.
    WebhookCallsFailed(WebhookFailure),
    /// Events that were given up after their last attempt.
    WebhookDeliveriesFailed,
    /// Webhooks that were switched off.
    WebhooksSwitchedOff,
    /// Events that were sent on though an earlier one of their subject had not come.
    WebhookEventsOutOfOrder,
    /// How long ago the longest overdue delivery should have been looked at; zero if none is due.
    OldestDueWebhookDelivery(Duration),
}

/// Why a call of an endpoint failed, in a few words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookFailure {
    /// A status that is no success and none of the others.
    Refused,
    /// A redirect, which is never followed.
    Redirected,
    /// A status of 500 or more.
    ServerError,
    /// No answer in time.
    TimedOut,
    /// No address, or none that may be called.
    BadAddress,
    /// No connection, no TLS, or one that broke.
    Connection,
}

/// Why an invoice was given up: a few words that metrics can be told apart by, while the invoice has the whole story.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureReason {
    /// The mail provider will not take the message or the address.
    Rejected,
    /// The address gets no mail any more.
    Suppressed,
    /// The PDF or the mail cannot be made.
    CannotBeMade,
    /// The worker panicked over it.
    Panic,
    /// Workers in a row died over it.
    WorkersDied,
}

/// From now on metrics are written, as those of this stack.
pub(super) fn begin() {
    STACK.get_or_init(|| env::var("STACK_NAME").unwrap_or_else(|_| "unnamed".to_owned()));
}

/// Adds to a metric, by a line of the log that `CloudWatch` makes it from (embedded metric format).
/// <https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html>
pub fn record(metric: Metric, now: Timestamp) {
    if let Some(stack) = STACK.get() {
        // A log that cannot be written is no reason to fail.
        writeln!(std::io::stdout(), "{}", line(metric, stack, now)).ok();
    }
}

fn line(metric: Metric, stack: &str, now: Timestamp) -> Value {
    let count = |name, by: usize| (name, "Count", json!(by));
    let (values, told_apart) = match metric {
        Metric::ParcelsCreated => (vec![count("ParcelsCreated", 1)], None),
        Metric::InvoicesRequested => (vec![count("InvoicesRequested", 1)], None),
        Metric::InvoicesSent(took) => {
            (vec![count("InvoicesSent", 1), ("TimeToMail", "Seconds", json!(took.as_secs_f64()))], None)
        }
        Metric::InvoicesFailed(reason) => (vec![count("InvoicesFailed", 1)], Some(("Reason", format!("{reason:?}")))),
        Metric::InvoicesParked => (vec![count("InvoicesParked", 1)], None),
        Metric::RepeatsSkipped => (vec![count("RepeatsSkipped", 1)], None),
        Metric::OldestUnfinishedInvoice(age) => {
            (vec![("OldestUnfinishedInvoice", "Seconds", json!(age.as_secs_f64()))], None)
        }
        Metric::MissingGlyphs(glyphs) => (vec![count("MissingGlyphs", glyphs)], None),
        Metric::EventsPublished(kind, events) => {
            (vec![count("EventsPublished", events)], Some(("EventType", kind.name().to_owned())))
        }
        Metric::ServerErrors => (vec![count("ServerErrors", 1)], None),
        Metric::WebhooksDelivered(took) => {
            (vec![count("WebhooksDelivered", 1), ("TimeToWebhook", "Seconds", json!(took.as_secs_f64()))], None)
        }
        Metric::WebhookCallsFailed(reason) => {
            (vec![count("WebhookCallsFailed", 1)], Some(("Reason", format!("{reason:?}"))))
        }
        Metric::WebhookDeliveriesFailed => (vec![count("WebhookDeliveriesFailed", 1)], None),
        Metric::WebhooksSwitchedOff => (vec![count("WebhooksSwitchedOff", 1)], None),
        Metric::WebhookEventsOutOfOrder => (vec![count("WebhookEventsOutOfOrder", 1)], None),
        Metric::OldestDueWebhookDelivery(age) => {
            (vec![("OldestDueWebhookDelivery", "Seconds", json!(age.as_secs_f64()))], None)
        }
    };
    // Told apart by a reason or a type, both the sum and each share can be asked for.
    let dimensions = match &told_apart {
        Some((by, _)) => json!([["Stack"], ["Stack", by]]),
        None => json!([["Stack"]]),
    };
    let metrics: Vec<_> = values.iter().map(|(name, unit, _)| json!({"Name": name, "Unit": unit})).collect();
    let directive = json!({"Namespace": NAMESPACE, "Dimensions": dimensions, "Metrics": metrics});
    let mut line = Map::new();
    line.insert("_aws".to_owned(), json!({"Timestamp": now.millis(), "CloudWatchMetrics": [directive]}));
    line.insert("Stack".to_owned(), json!(stack));
    if let Some((by, value)) = told_apart {
        line.insert(by.to_owned(), json!(value));
    }
    line.extend(values.into_iter().map(|(name, _, value)| (name.to_owned(), value)));
    Value::Object(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

    #[test]
    fn a_line_names_its_metric_and_its_stack_and_has_the_value_beside() {
        let line = line(Metric::MissingGlyphs(3), "parceltrack-uat", NOW);
        let directive = &line["_aws"]["CloudWatchMetrics"][0];
        assert_eq!(directive["Metrics"], json!([{"Name": "MissingGlyphs", "Unit": "Count"}]));
        assert_eq!(directive["Dimensions"], json!([["Stack"]]));
        assert_eq!(line["_aws"]["Timestamp"], 1_790_000_000_000_i64);
        assert_eq!((&line["MissingGlyphs"], &line["Stack"]), (&json!(3), &json!("parceltrack-uat")));
    }

    #[test]
    fn a_sent_invoice_also_tells_how_long_it_took() {
        let line = line(Metric::InvoicesSent(Duration::from_millis(2500)), "parceltrack-uat", NOW);
        assert_eq!((&line["InvoicesSent"], &line["TimeToMail"]), (&json!(1), &json!(2.5)));
        assert_eq!(line["_aws"]["CloudWatchMetrics"][0]["Metrics"][1]["Unit"], "Seconds");
    }

    #[test]
    fn a_failure_is_counted_as_such_and_by_its_reason() {
        let line = line(Metric::InvoicesFailed(FailureReason::Rejected), "parceltrack-uat", NOW);
        assert_eq!(line["_aws"]["CloudWatchMetrics"][0]["Dimensions"], json!([["Stack"], ["Stack", "Reason"]]));
        assert_eq!((&line["InvoicesFailed"], &line["Reason"]), (&json!(1), &json!("Rejected")));
    }

    #[test]
    fn published_events_are_counted_together_and_by_their_type() {
        let line = line(Metric::EventsPublished(DomainEventType::InvoiceSent, 2), "parceltrack-uat", NOW);
        assert_eq!(line["_aws"]["CloudWatchMetrics"][0]["Dimensions"], json!([["Stack"], ["Stack", "EventType"]]));
        assert_eq!((&line["EventsPublished"], &line["EventType"]), (&json!(2), &json!("InvoiceSent")));
    }
}
