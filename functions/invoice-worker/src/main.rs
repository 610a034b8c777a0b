//! Reads settings, builds clients once, wires, runs.

use std::process::ExitCode;
use std::sync::Arc;

use invoice_worker::{Deadline, MAIL_TIMEOUT, Settings, Worker, handle};
use lambda_runtime::LambdaEvent;
use parceltrack::aws::{
    Clients, DeadLetterQueue, InvoiceBucket, InvoiceTable, Ses, SuppressionTable, ThroughputTable, TicketQueue,
    secret_text,
};
use parceltrack::clock::SystemClock;
use parceltrack::invocation::{Timeout, serve};
use parceltrack::ports::SendMail;
use parceltrack::settings::{MailProvider, MailServer};
use parceltrack::smtp::Smtp;
use parceltrack::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    telemetry::init();
    telemetry::ended(run().await)
}

async fn run() -> Result<(), lambda_runtime::Error> {
    let timeout = Timeout::from_env("INVOICE_WORKER_TIMEOUT_SECONDS")?;
    let settings = Settings::from_env()?;
    let clients = Clients::from_env();
    let invoices = InvoiceTable::new(clients.dynamodb(), settings.invoices_table);
    invoices.warm_up().await;
    let mail: Arc<dyn SendMail> = match settings.mail_provider {
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
    let invoices = Arc::new(invoices);
    let throughput = Arc::new(ThroughputTable::new(clients.dynamodb(), settings.throughput_table));
    let worker = Worker::new(
        invoices.clone(),
        Arc::new(InvoiceBucket::new(clients.s3(), settings.invoices_bucket)),
        mail,
        Arc::new(TicketQueue::new(clients.sqs(), settings.tickets_queue_url)),
        Arc::new(DeadLetterQueue::new(clients.sqs(), settings.dead_letter_queue_url)),
        Arc::new(SystemClock),
        settings.rules,
    )
    .heeding(Arc::new(SuppressionTable::new(clients.dynamodb(), settings.suppressions_table)))
    .reopening(invoices)
    .counting(throughput.clone(), throughput);
    let worker = Arc::new(worker);
    serve(timeout, move |event: LambdaEvent<_>| {
        let worker = worker.clone();
        async move {
            let answer = handle(&worker, event.payload, &event.context).await;
            worker.end_turn(Deadline::at(event.context.deadline())).await;
            answer
        }
    })
    .await
}
