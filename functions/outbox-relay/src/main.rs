//! Reads settings, builds clients once, wires, runs.

use std::process::ExitCode;
use std::sync::Arc;

use lambda_runtime::{LambdaEvent, service_fn};
use outbox_relay::{Relay, tell_oldest};
use parceltrack::aws::{Clients, InvoiceTable, TicketQueue};
use parceltrack::clock::SystemClock;
use parceltrack::ports::Clock as _;
use parceltrack::settings::required;
use parceltrack::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    telemetry::init();
    telemetry::ended(run().await)
}

async fn run() -> Result<(), lambda_runtime::Error> {
    let (table, queue) = (required("INVOICES_TABLE")?, required("TICKETS_QUEUE_URL")?);
    let clients = Clients::from_env();
    let invoices = Arc::new(InvoiceTable::new(clients.dynamodb(), table));
    let relay = Arc::new(Relay {
        invoices: invoices.clone(),
        tickets: Arc::new(TicketQueue::new(clients.sqs(), queue)),
        clock: Arc::new(SystemClock),
    });
    lambda_runtime::run(service_fn(move |event: LambdaEvent<serde_json::Value>| {
        let (relay, invoices) = (relay.clone(), invoices.clone());
        async move {
            let (ran, ()) =
                tokio::join!(relay.run(event.context.deadline()), tell_oldest(&*invoices, SystemClock.now()));
            ran.map_err(lambda_runtime::Error::from)
        }
    }))
    .await
}
