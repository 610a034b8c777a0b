//! Reads settings, builds clients once, wires, runs.

use std::process::ExitCode;
use std::sync::Arc;

use lambda_runtime::LambdaEvent;
use mail_events::MailEvents;
use parceltrack::aws::{Clients, DeadLetterQueue, InvoiceTable, SuppressionTable};
use parceltrack::invocation::{Timeout, serve};
use parceltrack::settings::required;
use parceltrack::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    telemetry::init();
    telemetry::ended(run().await)
}

async fn run() -> Result<(), lambda_runtime::Error> {
    let timeout = Timeout::from_env("MAIL_EVENTS_TIMEOUT_SECONDS")?;
    let (invoices, suppressions) = (required("INVOICES_TABLE")?, required("SUPPRESSIONS_TABLE")?);
    let dead_letters = required("DEAD_LETTER_QUEUE_URL")?;
    let clients = Clients::from_env();
    let invoices = Arc::new(InvoiceTable::new(clients.dynamodb(), invoices));
    let mail_events = Arc::new(MailEvents {
        read_invoices: invoices.clone(),
        deliveries: invoices,
        suppressions: Arc::new(SuppressionTable::new(clients.dynamodb(), suppressions)),
        dead_letters: Arc::new(DeadLetterQueue::new(clients.sqs(), dead_letters)),
    });
    serve(timeout, move |event: LambdaEvent<serde_json::Value>| {
        let mail_events = mail_events.clone();
        async move { mail_events.hear(event.payload).await.map_err(lambda_runtime::Error::from) }
    })
    .await
}
