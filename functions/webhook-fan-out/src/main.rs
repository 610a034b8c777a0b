//! Reads settings, builds clients once, wires, runs.

use std::process::ExitCode;
use std::sync::Arc;

use lambda_runtime::LambdaEvent;
use parceltrack::aws::{
    Clients, DeadLetterQueue, WebhookDeliveryTable, WebhookEventQueue, WebhookSubjectTable, WebhookTable,
    WebhookTicketQueue,
};
use parceltrack::clock::SystemClock;
use parceltrack::invocation::{Timeout, serve};
use parceltrack::settings::required;
use parceltrack::telemetry;
use webhook_fan_out::{FanOut, handle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    telemetry::init();
    telemetry::ended(run().await)
}

async fn run() -> Result<(), lambda_runtime::Error> {
    let timeout = Timeout::from_env("WEBHOOK_FAN_OUT_TIMEOUT_SECONDS")?;
    let (webhooks, deliveries) = (required("WEBHOOKS_TABLE")?, required("WEBHOOK_DELIVERIES_TABLE")?);
    let (subjects, tickets) = (required("WEBHOOK_SUBJECTS_TABLE")?, required("WEBHOOK_TICKETS_QUEUE_URL")?);
    let (events, dead_letters) = (required("WEBHOOK_EVENTS_QUEUE_URL")?, required("WEBHOOK_DEAD_LETTER_QUEUE_URL")?);
    let clients = Clients::from_env();
    let deliveries = Arc::new(WebhookDeliveryTable::new(clients.dynamodb(), deliveries));
    let events = Arc::new(WebhookEventQueue::new(clients.sqs(), events));
    let fan_out = Arc::new(FanOut {
        webhooks: Arc::new(WebhookTable::for_deliveries(clients.dynamodb(), webhooks)),
        deliveries: deliveries.clone(),
        reopening: deliveries,
        subjects: Arc::new(WebhookSubjectTable::new(clients.dynamodb(), subjects)),
        tickets: Arc::new(WebhookTicketQueue::new(clients.sqs(), tickets)),
        events: events.clone(),
        wishes: events,
        dead_letters: Arc::new(DeadLetterQueue::new(clients.sqs(), dead_letters)),
        clock: Arc::new(SystemClock),
    });
    serve(timeout, move |event: LambdaEvent<_>| {
        let fan_out = fan_out.clone();
        async move { handle(&fan_out, event.payload).await }
    })
    .await
}
