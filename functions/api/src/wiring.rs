//! The API on AWS.

use std::sync::Arc;

use parceltrack::aws::{
    ApiKeyTable, Clients, DeadLetterQueue, InvoiceBucket, InvoiceTable, ParcelTable, ProofBucket, ShownParcels,
    SuppressionTable, ThroughputTable, TicketQueue, WebhookDeliveryTable, WebhookEventQueue, WebhookTable,
    WebhookTicketQueue,
};
use parceltrack::clock::SystemClock;

use crate::{App, KeyRing, Latest, QueueWatch, RandomTrackingNumbers, Settings, Webhooks};

impl App {
    /// On these clients, with the tables, queues and buckets of the settings.
    #[must_use]
    pub fn on_aws(settings: Settings, clients: &Clients) -> Self {
        let invoices = Arc::new(InvoiceTable::new(clients.dynamodb(), settings.invoices_table.clone()));
        let parcels = Arc::new(ParcelTable::new(
            clients.dynamodb(),
            settings.parcels_table.clone(),
            settings.tracking_numbers_table,
            settings.idempotency_table.clone(),
        ));
        let tickets = Arc::new(TicketQueue::new(clients.sqs(), settings.tickets_queue_url));
        let throughput = Arc::new(ThroughputTable::new(clients.dynamodb(), settings.throughput_table));
        let queue = QueueWatch {
            backlog: invoices.clone(),
            tickets: tickets.clone(),
            dead_letters: Arc::new(DeadLetterQueue::new(clients.sqs(), settings.dead_letter_queue_url)),
            sends: throughput.clone(),
            provider: throughput.clone(),
            history: throughput,
            clock: Arc::new(SystemClock),
            rate: settings.mail_rate,
            latest: Latest::default(),
        };
        let webhooks = WebhookTable::new(clients.dynamodb(), settings.webhooks_table, settings.idempotency_table);
        let webhooks = Arc::new(webhooks);
        let deliveries = Arc::new(WebhookDeliveryTable::new(clients.dynamodb(), settings.webhook_deliveries_table));
        let tickets_of_webhooks = Arc::new(WebhookTicketQueue::new(clients.sqs(), settings.webhook_tickets_queue_url));
        let webhooks = Webhooks {
            create: webhooks.clone(),
            read: webhooks.clone(),
            change: webhooks.clone(),
            contacts: webhooks.clone(),
            confirm: webhooks,
            deliveries: deliveries.clone(),
            list: deliveries.clone(),
            record: deliveries.clone(),
            retry: deliveries,
            tickets: tickets_of_webhooks.clone(),
            ask: tickets_of_webhooks,
            wishes: Arc::new(WebhookEventQueue::new(clients.sqs(), settings.webhook_events_queue_url)),
            addresses: settings.webhook_addresses,
        };
        Self {
            keys: KeyRing::new(Arc::new(ApiKeyTable::new(clients.dynamodb(), settings.api_keys_table))),
            create_parcels: parcels.clone(),
            read_parcels: parcels.clone(),
            show_parcels: Arc::new(ShownParcels::new(
                clients.dynamodb(),
                settings.parcels_table,
                settings.invoices_table,
            )),
            record_events: parcels.clone(),
            read_answers: parcels.clone(),
            expect_proofs: parcels,
            proofs: Arc::new(ProofBucket::new(clients.s3(), settings.proofs_bucket)),
            create_invoices: invoices.clone(),
            read_invoices: invoices.clone(),
            reopen_invoices: invoices.clone(),
            readdress_invoices: invoices.clone(),
            suppressions: Arc::new(SuppressionTable::new(clients.dynamodb(), settings.suppressions_table)),
            failed_invoices: invoices,
            tickets,
            pdf_links: Arc::new(InvoiceBucket::new(clients.s3(), settings.invoices_bucket)),
            tracking_numbers: Arc::new(RandomTrackingNumbers),
            webhooks,
            queue: Arc::new(queue),
            clock: Arc::new(SystemClock),
            billing: settings.billing,
        }
    }
}
