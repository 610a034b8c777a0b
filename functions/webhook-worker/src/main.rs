//! Reads settings, builds clients once, wires, runs.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use lambda_runtime::LambdaEvent;
use parceltrack::aws::{
    Clients, DeadLetterQueue, Ses, SuppressionTable, WebhookDeliveryTable, WebhookTable, WebhookTicketQueue,
    secret_text,
};
use parceltrack::clock::SystemClock;
use parceltrack::invocation::{Timeout, serve};
use parceltrack::ports::SendNotice;
use parceltrack::settings::{MailProvider, MailServer};
use parceltrack::smtp::Smtp;
use parceltrack::telemetry;
use webhook_worker::{Endpoints, Settings, SystemResolver, WebhookWorker, handle};

/// How long the connection to the mail server may take.
const MAIL_TIMEOUT: Duration = Duration::from_secs(3);

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    telemetry::init();
    telemetry::ended(run().await)
}

async fn run() -> Result<(), lambda_runtime::Error> {
    let timeout = Timeout::from_env("WEBHOOK_WORKER_TIMEOUT_SECONDS")?;
    let settings = Settings::from_env()?;
    let clients = Clients::from_env();
    let notices: Arc<dyn SendNotice> = match settings.mail_provider {
        MailProvider::Ses { configuration_set } => {
            Arc::new(Ses::new(clients.sesv2(), settings.sender, configuration_set))
        }
        MailProvider::Smtp(server) => {
            let url = match server {
                MailServer::Url(url) => url,
                MailServer::Secret(arn) => secret_text(&clients.secrets(), &arn).await?,
            };
            Arc::new(Smtp::new(url.trim(), settings.sender, MAIL_TIMEOUT)?)
        }
    };
    let webhooks = Arc::new(WebhookTable::for_deliveries(clients.dynamodb(), settings.webhooks_table));
    let deliveries = Arc::new(WebhookDeliveryTable::new(clients.dynamodb(), settings.webhook_deliveries_table));
    let queue = Arc::new(WebhookTicketQueue::new(clients.sqs(), settings.webhook_tickets_queue_url));
    let worker = Arc::new(WebhookWorker {
        webhooks: webhooks.clone(),
        health: webhooks.clone(),
        bounds: webhooks.clone(),
        contacts: webhooks.clone(),
        confirmations: webhooks,
        ask: queue.clone(),
        deliveries: deliveries.clone(),
        work: deliveries,
        endpoints: Arc::new(Endpoints::new(Arc::new(SystemResolver), settings.addresses)?),
        tickets: queue.clone(),
        queue,
        dead_letters: Arc::new(DeadLetterQueue::new(clients.sqs(), settings.webhook_dead_letter_queue_url)),
        notices,
        suppressions: Arc::new(SuppressionTable::new(clients.dynamodb(), settings.suppressions_table)),
        clock: Arc::new(SystemClock),
        rules: settings.rules,
    });
    serve(timeout, move |event: LambdaEvent<_>| {
        let worker = worker.clone();
        async move { handle(&worker, event.payload, &event.context).await }
    })
    .await
}
