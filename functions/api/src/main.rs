//! Reads settings, builds clients once, wires, runs.

use std::process::ExitCode;

use api::{App, Settings, only_by_cloudfront, router, serve};
use parceltrack::aws::{Clients, InvoiceTable, TicketQueue};
use parceltrack::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    telemetry::init();
    telemetry::ended(run().await)
}

async fn run() -> Result<(), lambda_http::Error> {
    let settings = Settings::from_env()?;
    let clients = Clients::from_env();
    // While Lambda gives the process its most: it is started with more than it is paid for.
    let invoices = InvoiceTable::new(clients.dynamodb(), settings.invoices_table.clone());
    let tickets = TicketQueue::new(clients.sqs(), settings.tickets_queue_url.clone());
    tokio::join!(invoices.warm_up(), tickets.warm_up());
    let allowed_origins = settings.allowed_origins.clone();
    let origin_secrets = settings.origin_secrets.clone();
    let router = router(App::on_aws(settings, &clients), &allowed_origins);
    serve(match origin_secrets {
        Some(good) => only_by_cloudfront(router, good),
        None => router,
    })
    .await
}
