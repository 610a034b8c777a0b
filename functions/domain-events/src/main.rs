//! Reads settings, builds clients once, wires, runs.

use std::process::ExitCode;
use std::sync::Arc;

use domain_events::{Batch, Teller};
use lambda_runtime::LambdaEvent;
use parceltrack::aws::{Clients, DeadLetterQueue, EventBus};
use parceltrack::invocation::{Timeout, serve};
use parceltrack::settings::required;
use parceltrack::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    telemetry::init();
    telemetry::ended(run().await)
}

async fn run() -> Result<(), lambda_runtime::Error> {
    let timeout = Timeout::from_env("DOMAIN_EVENTS_TIMEOUT_SECONDS")?;
    let (bus, dead_letters) = (required("DOMAIN_EVENTS_BUS")?, required("DOMAIN_EVENTS_DEAD_LETTER_QUEUE_URL")?);
    let clients = Clients::from_env();
    let teller = Arc::new(Teller {
        events: Arc::new(EventBus::new(clients.eventbridge(), bus)),
        dead_letters: Arc::new(DeadLetterQueue::new(clients.sqs(), dead_letters)),
    });
    serve(timeout, move |event: LambdaEvent<Batch>| {
        let teller = teller.clone();
        async move { Ok::<_, lambda_runtime::Error>(teller.tell(event.payload).await) }
    })
    .await
}
