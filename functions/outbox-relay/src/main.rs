//! Reads settings, builds clients once, wires, runs.

use std::process::ExitCode;
use std::sync::Arc;

use lambda_runtime::LambdaEvent;
use outbox_relay::{Relay, tell_backlog};
use parceltrack::aws::{Clients, InvoiceTable, ThroughputTable, TicketQueue};
use parceltrack::clock::SystemClock;
use parceltrack::invocation::{Timeout, serve};
use parceltrack::ports::Clock as _;
use parceltrack::settings::required;
use parceltrack::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    telemetry::init();
    telemetry::ended(run().await)
}

async fn run() -> Result<(), lambda_runtime::Error> {
    let timeout = Timeout::from_env("OUTBOX_RELAY_TIMEOUT_SECONDS")?;
    let (table, queue) = (required("INVOICES_TABLE")?, required("TICKETS_QUEUE_URL")?);
    let throughput = required("THROUGHPUT_TABLE")?;
    let clients = Clients::from_env();
    let throughput = Arc::new(ThroughputTable::new(clients.dynamodb(), throughput));
    let invoices = Arc::new(InvoiceTable::new(clients.dynamodb(), table));
    let relay = Arc::new(Relay {
        invoices: invoices.clone(),
        tickets: Arc::new(TicketQueue::new(clients.sqs(), queue)),
        clock: Arc::new(SystemClock),
    });
    serve(timeout, move |event: LambdaEvent<serde_json::Value>| {
        let (relay, invoices, throughput) = (relay.clone(), invoices.clone(), throughput.clone());
        async move {
            let told = tell_backlog(&*invoices, &*throughput, SystemClock.now());
            let (ran, ()) = tokio::join!(relay.run(event.context.deadline()), told);
            ran.map_err(lambda_runtime::Error::from)
        }
    })
    .await
}
