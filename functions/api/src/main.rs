//! Reads settings, builds clients once, wires, runs.

use std::sync::Arc;

use api::{App, KeyRing, RandomTrackingNumbers, Settings, router, serve};
use parceltrack::aws::{ApiKeyTable, Clients, InvoiceBucket, InvoiceTable, ParcelTable, TicketQueue};
use parceltrack::clock::SystemClock;
use parceltrack::telemetry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    telemetry::init();
    let settings = Settings::from_env()?;
    let clients = Clients::from_env().await;
    let invoices = InvoiceTable::new(clients.dynamodb(), settings.invoices_table);
    invoices.warm_up().await;
    let (invoices, parcels) = (
        Arc::new(invoices),
        Arc::new(ParcelTable::new(
            clients.dynamodb(),
            settings.parcels_table,
            settings.tracking_numbers_table,
            settings.idempotency_table,
        )),
    );
    let app = App {
        keys: KeyRing::new(Arc::new(ApiKeyTable::new(clients.dynamodb(), settings.api_keys_table))),
        create_parcels: parcels.clone(),
        read_parcels: parcels,
        create_invoices: invoices.clone(),
        read_invoices: invoices.clone(),
        failed_invoices: invoices,
        tickets: Arc::new(TicketQueue::new(clients.sqs(), settings.tickets_queue_url)),
        pdf_links: Arc::new(InvoiceBucket::new(clients.s3(), settings.invoices_bucket)),
        tracking_numbers: Arc::new(RandomTrackingNumbers),
        clock: Arc::new(SystemClock),
        billing: settings.billing,
    };
    serve(router(app, &settings.allowed_origins)).await
}
