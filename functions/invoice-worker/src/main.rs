//! Reads settings, builds clients once, wires, runs.

use std::sync::Arc;

use invoice_worker::{MAIL_TIMEOUT, MailProvider, Settings, Worker, handle};
use lambda_runtime::{LambdaEvent, service_fn};
use parceltrack::aws::{Clients, DeadLetterQueue, InvoiceBucket, InvoiceTable, Ses, TicketQueue};
use parceltrack::clock::SystemClock;
use parceltrack::ports::SendMail;
use parceltrack::smtp::Smtp;
use parceltrack::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    telemetry::init();
    let settings = Settings::from_env()?;
    let clients = Clients::from_env().await;
    let invoices = InvoiceTable::new(clients.dynamodb(), settings.invoices_table);
    invoices.warm_up().await;
    let mail: Arc<dyn SendMail> = match settings.mail_provider {
        MailProvider::Ses => Arc::new(Ses::new(clients.sesv2(), settings.mail_from)),
        MailProvider::Smtp { url } => Arc::new(Smtp::new(&url, &settings.mail_from, MAIL_TIMEOUT)?),
    };
    let worker = Arc::new(Worker::new(
        Arc::new(invoices),
        Arc::new(InvoiceBucket::new(clients.s3(), settings.invoices_bucket)),
        mail,
        Arc::new(TicketQueue::new(clients.sqs(), settings.tickets_queue_url)),
        Arc::new(DeadLetterQueue::new(clients.sqs(), settings.dead_letter_queue_url)),
        Arc::new(SystemClock),
        settings.rules,
    ));
    lambda_runtime::run(service_fn(move |event: LambdaEvent<_>| {
        let worker = worker.clone();
        async move { handle(&worker, event.payload, &event.context).await }
    }))
    .await
}
