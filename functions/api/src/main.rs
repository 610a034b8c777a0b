//! Reads settings, builds clients once, wires, runs.

use std::process::ExitCode;

use api::{App, CalledBy, Settings, only_by_cloudfront, only_named_writes, router, serve};
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
    let (allowed_origins, timeout) = (settings.allowed_origins.clone(), settings.timeout);
    let (origin_secrets, caller) = (settings.origin_secrets.clone(), settings.called_by);
    let router = router(App::on_aws(settings, &clients), &allowed_origins);
    let router = match caller {
        CalledBy::ApiGateway => only_named_writes(router),
        CalledBy::Laptop => router,
    };
    let router = match origin_secrets {
        Some(good) => only_by_cloudfront(router, good),
        None => router,
    };
    serve(router, timeout).await
}
