//! Reads settings, builds clients once, wires, runs.

use std::process::ExitCode;
use std::sync::Arc;

use lambda_runtime::LambdaEvent;
use parceltrack::aws::{Clients, WebhookDeliveryTable, WebhookTicketQueue};
use parceltrack::clock::SystemClock;
use parceltrack::invocation::{Timeout, serve};
use parceltrack::settings::required;
use parceltrack::telemetry;
use webhook_relay::WebhookRelay;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    telemetry::init();
    telemetry::ended(run().await)
}

async fn run() -> Result<(), lambda_runtime::Error> {
    let timeout = Timeout::from_env("WEBHOOK_RELAY_TIMEOUT_SECONDS")?;
    let (table, queue) = (required("WEBHOOK_DELIVERIES_TABLE")?, required("WEBHOOK_TICKETS_QUEUE_URL")?);
    let clients = Clients::from_env();
    let relay = Arc::new(WebhookRelay {
        deliveries: Arc::new(WebhookDeliveryTable::new(clients.dynamodb(), table)),
        tickets: Arc::new(WebhookTicketQueue::new(clients.sqs(), queue)),
        clock: Arc::new(SystemClock),
    });
    serve(timeout, move |event: LambdaEvent<serde_json::Value>| {
        let relay = relay.clone();
        async move { relay.run(event.context.deadline()).await.map_err(lambda_runtime::Error::from) }
    })
    .await
}
