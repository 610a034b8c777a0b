//! What the tests share: the running stack, its tables and queues, a clock that can be moved, and messages as SQS
//! delivers them.
//!
//! Every test makes its own parcels, invoices and queues, so that all can run side by side.

#![allow(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on panics"
)]

pub mod webhooks;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use api::{App, KeyRing, Latest, QueueWatch, RandomTrackingNumbers, Webhooks};
use aws_config::Region;
use aws_lambda_events::event::sqs::SqsEvent;
use aws_sdk_dynamodb::types::{BillingMode, GlobalSecondaryIndex};
use aws_sdk_sqs::config::Credentials;
use axum::Router;
use invoice_worker::{MAIL_TIMEOUT, Rules, Worker};
use lambda_runtime::Context;
use local_stack::{MERCHANT_KEY, StackAddresses};
use mail_events::MailEvents;
use parceltrack::aws::{
    ApiKeyTable, Clients, DeadLetterQueue, InvoiceBucket, InvoiceTable, ParcelTable, ProofBucket, ShownParcels,
    SuppressionTable, ThroughputTable, TicketQueue, WebhookDeliveryTable, WebhookEventQueue, WebhookTable,
    WebhookTicketQueue,
};
use parceltrack::clock::SystemClock;
use parceltrack::domain::{
    Billing, Currency, Invoice, InvoiceContent, InvoiceId, Line, LinkSecret, MailRate, Money, OwnerId, Parcel,
    ParcelId, ParcelStatus, Seller, TaxCode, Text, Ticket, Timestamp, TrackingEvent, TrackingEventId, TrackingNumber,
    WorkerPace,
};
use parceltrack::mime::Sender;
use parceltrack::ports::{
    Clock, CreateInvoices as _, NewInvoice, ReadApiKeys, ReadInvoices as _, SendMail, SendTicket,
};
use parceltrack::smtp::Smtp;
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

/// How long a test waits for what must come; far longer than it takes, for machines are unequal.
pub const PATIENCE: Duration = Duration::from_mins(2);

/// The running stack, as one test sees it.
pub struct Stack {
    /// Where everything is.
    pub addresses: StackAddresses,
    /// The SDK's clients for it.
    pub clients: Clients,
    http: reqwest::Client,
}

impl Stack {
    /// The stack that `cargo xtask test` has started.
    pub async fn running() -> Self {
        Self::at(StackAddresses::from_env().unwrap()).await
    }

    /// The stack at these addresses.
    pub async fn at(addresses: StackAddresses) -> Self {
        let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let loader = aws_config::from_env()
            .endpoint_url(&addresses.emulator_url)
            .region(Region::new(addresses.region.clone()))
            .credentials_provider(Credentials::new("test", "test", None, None, "emulator"));
        Self { clients: Clients::load(loader).await, addresses, http }
    }

    /// A GET of the deployed API, by the merchant of this laptop.
    pub fn get(&self, path: &str) -> reqwest::RequestBuilder {
        self.request(Method::GET, path, Some(MERCHANT_KEY))
    }

    /// A POST to the deployed API, by the merchant of this laptop.
    pub fn post(&self, path: &str) -> reqwest::RequestBuilder {
        self.request(Method::POST, path, Some(MERCHANT_KEY))
    }

    /// A request to the deployed API, by whoever bears this key.
    pub fn request(&self, method: Method, path: &str, key: Option<&str>) -> reqwest::RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.addresses.api_url));
        match key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    /// Follows a link of the deployed stack, one step.
    pub async fn open(&self, url: &str) -> reqwest::Response {
        self.http.get(url).send().await.unwrap()
    }

    /// A call of the emulator by AWS's JSON protocol, for services whose SDK nothing else needs.
    pub async fn emulator(&self, service: &str, target: &str, body: &Value) -> Value {
        let call = self.signed(service, self.http.post(&self.addresses.emulator_url));
        let call = call.header("x-amz-target", target).header("content-type", "application/x-amz-json-1.1");
        let answer = call.body(body.to_string()).send().await.unwrap();
        assert!(answer.status().is_success(), "{target}: {}", answer.text().await.unwrap());
        answer.json().await.unwrap()
    }

    /// Hands an event to a deployed function and waits for its answer.
    pub async fn invoke(&self, function: &str, event: &Value) -> Value {
        let answer = self.invocation(function, event).await;
        assert!(!answer.headers().contains_key("x-amz-function-error"), "{}", answer.text().await.unwrap());
        answer.json().await.unwrap()
    }

    /// Hands an event to a deployed function that will refuse it.
    pub async fn invoke_in_vain(&self, function: &str, event: &Value) {
        let answer = self.invocation(function, event).await;
        assert!(answer.headers().contains_key("x-amz-function-error"), "{}", answer.text().await.unwrap());
    }

    /// A call of Lambda's own API, at this path below its version.
    pub async fn lambda(&self, method: Method, path: &str, body: &Value) -> Value {
        let url = format!("{}/2015-03-31/{path}", self.addresses.emulator_url);
        let answer = self.signed("lambda", self.http.request(method, url)).body(body.to_string()).send().await.unwrap();
        assert!(answer.status().is_success(), "{path}: {}", answer.text().await.unwrap());
        answer.json().await.unwrap()
    }

    async fn invocation(&self, function: &str, event: &Value) -> reqwest::Response {
        let url = format!("{}/2015-03-31/functions/{function}/invocations", self.addresses.emulator_url);
        self.signed("lambda", self.http.post(url)).body(event.to_string()).send().await.unwrap()
    }

    /// The emulator takes service and region from the header, and does not check the signature.
    fn signed(&self, service: &str, call: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        let scope = format!("test/20260101/{}/{service}/aws4_request", self.addresses.region);
        let signature = format!("AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=none");
        call.header("authorization", signature)
    }

    /// A parcel, made by the deployed API.
    pub async fn create_parcel(&self, recipient: &str, email: &str) -> Value {
        let answer =
            self.post("/api/parcels").json(&json!({"recipient": recipient, "email": email})).send().await.unwrap();
        assert_eq!(answer.status(), 201);
        answer.json().await.unwrap()
    }

    /// An invoice, asked of the deployed API; its id.
    pub async fn request_invoice(&self, parcel: &Value) -> String {
        let path = format!("/api/parcels/{}/invoice", parcel["id"].as_str().unwrap());
        let answer = self.post(&path).send().await.unwrap();
        assert_eq!(answer.status(), 202);
        answer.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned()
    }

    /// The invoice as the deployed API shows it, once it has this status.
    pub async fn invoice_once(&self, id: &str, status: &str) -> Value {
        self.invoice_by(MERCHANT_KEY, id, status).await
    }

    /// The same, as the bearer of this key sees it.
    pub async fn invoice_by(&self, key: &str, id: &str, status: &str) -> Value {
        let mut seen = Value::Null;
        let reached = async {
            loop {
                let request = self.request(Method::GET, &format!("/api/invoices/{id}"), Some(key));
                seen = request.send().await.unwrap().json().await.unwrap();
                if seen["status"] == status {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        assert!(tokio::time::timeout(PATIENCE, reached).await.is_ok(), "never {status}: {seen}");
        seen
    }

    /// How many mails came to this address.
    pub async fn mails_to(&self, email: &str) -> usize {
        let mails = self.addresses.inbox().mails().await.unwrap();
        mails.iter().filter(|mail| mail.to.iter().any(|to| to.contains(email))).count()
    }

    /// The table of invoices.
    pub fn invoices(&self) -> InvoiceTable {
        InvoiceTable::new(self.clients.dynamodb(), self.addresses.output("InvoicesTableName").unwrap().to_owned())
    }

    /// The table of addresses that get no mail any more.
    pub fn suppressions(&self) -> SuppressionTable {
        let name = self.addresses.output("SuppressionsTableName").unwrap().to_owned();
        SuppressionTable::new(self.clients.dynamodb(), name)
    }

    /// The table of API keys.
    pub fn api_keys(&self) -> ApiKeyTable {
        ApiKeyTable::new(self.clients.dynamodb(), self.addresses.output("ApiKeysTableName").unwrap().to_owned())
    }

    /// The tables of parcels.
    pub fn parcels(&self) -> ParcelTable {
        let table = |output| self.addresses.output(output).unwrap().to_owned();
        ParcelTable::new(
            self.clients.dynamodb(),
            table("ParcelsTableName"),
            table("TrackingNumbersTableName"),
            table("IdempotencyTableName"),
        )
    }

    /// The tables of parcels and invoices, as a look at a parcel reads them.
    pub fn shown_parcels(&self) -> ShownParcels {
        let table = |output| self.addresses.output(output).unwrap().to_owned();
        ShownParcels::new(self.clients.dynamodb(), table("ParcelsTableName"), table("InvoicesTableName"))
    }

    /// The bucket of PDFs.
    pub fn bucket(&self) -> InvoiceBucket {
        InvoiceBucket::new(self.clients.s3(), self.addresses.output("InvoicesBucketName").unwrap().to_owned())
    }

    /// The bucket of photographs.
    pub fn proofs(&self) -> ProofBucket {
        ProofBucket::new(self.clients.s3(), self.addresses.output("ProofsBucketName").unwrap().to_owned())
    }

    /// The deployed queue of tickets.
    pub fn tickets(&self) -> TicketQueue {
        TicketQueue::new(self.clients.sqs(), self.addresses.output("TicketsQueueUrl").unwrap().to_owned())
    }

    /// The deployed queue of dead letters.
    pub fn dead_letters(&self) -> DeadLetterQueue {
        DeadLetterQueue::new(self.clients.sqs(), self.addresses.output("DeadLetterQueueUrl").unwrap().to_owned())
    }

    /// The table that counts sent mails.
    pub fn throughput(&self) -> ThroughputTable {
        ThroughputTable::new(self.clients.dynamodb(), self.addresses.output("ThroughputTableName").unwrap().to_owned())
    }

    /// The API in this process, on the deployed tables, with another clock and another queue.
    pub fn api(&self, clock: Arc<dyn Clock>, tickets: Arc<dyn SendTicket>) -> Router {
        let queue = self.queue_watch(clock.clone());
        self.api_watching(queue, clock, tickets)
    }

    /// The same with an eye on other tables and queues.
    pub fn api_watching(&self, queue: QueueWatch, clock: Arc<dyn Clock>, tickets: Arc<dyn SendTicket>) -> Router {
        self.api_knowing(Arc::new(self.api_keys()), queue, clock, tickets)
    }

    /// The same with the keys of another stack.
    pub fn api_knowing(
        &self,
        keys: Arc<dyn ReadApiKeys>,
        queue: QueueWatch,
        clock: Arc<dyn Clock>,
        tickets: Arc<dyn SendTicket>,
    ) -> Router {
        let (parcels, invoices) = (Arc::new(self.parcels()), Arc::new(self.invoices()));
        let app = App {
            keys: KeyRing::new(keys),
            create_parcels: parcels.clone(),
            read_parcels: parcels.clone(),
            show_parcels: Arc::new(self.shown_parcels()),
            record_events: parcels.clone(),
            read_answers: parcels.clone(),
            expect_proofs: parcels,
            proofs: Arc::new(self.proofs()),
            create_invoices: invoices.clone(),
            read_invoices: invoices.clone(),
            reopen_invoices: invoices.clone(),
            readdress_invoices: invoices.clone(),
            suppressions: Arc::new(self.suppressions()),
            failed_invoices: invoices,
            tickets,
            pdf_links: Arc::new(self.bucket()),
            tracking_numbers: Arc::new(RandomTrackingNumbers),
            webhooks: self.api_webhooks(),
            queue: Arc::new(queue),
            clock,
            billing: billing(),
        };
        api::router(app, &["https://page.example".parse().unwrap()])
    }

    /// The table of webhooks.
    pub fn webhooks(&self) -> WebhookTable {
        let table = |output| self.addresses.output(output).unwrap().to_owned();
        WebhookTable::new(self.clients.dynamodb(), table("WebhooksTableName"), table("IdempotencyTableName"))
    }

    /// The table of deliveries to webhooks.
    pub fn webhook_deliveries(&self) -> WebhookDeliveryTable {
        let name = self.addresses.output("WebhookDeliveriesTableName").unwrap().to_owned();
        WebhookDeliveryTable::new(self.clients.dynamodb(), name)
    }

    fn api_webhooks(&self) -> Webhooks {
        let (webhooks, deliveries) = (Arc::new(self.webhooks()), Arc::new(self.webhook_deliveries()));
        let queue = |output| self.addresses.output(output).unwrap().to_owned();
        let tickets = Arc::new(WebhookTicketQueue::new(self.clients.sqs(), queue("WebhookTicketsQueueUrl")));
        Webhooks {
            create: webhooks.clone(),
            read: webhooks.clone(),
            change: webhooks.clone(),
            contacts: webhooks.clone(),
            confirm: webhooks,
            deliveries: deliveries.clone(),
            list: deliveries.clone(),
            record: deliveries.clone(),
            retry: deliveries,
            tickets: tickets.clone(),
            ask: tickets,
            wishes: Arc::new(WebhookEventQueue::new(self.clients.sqs(), queue("WebhookEventsQueueUrl"))),
            addresses: "127.0.0.1".parse().unwrap(),
        }
    }

    /// The figures of the deployed tables and queues, seen at this clock's time.
    pub fn queue_watch(&self, clock: Arc<dyn Clock>) -> QueueWatch {
        QueueWatch {
            backlog: Arc::new(self.invoices()),
            tickets: Arc::new(self.tickets()),
            dead_letters: Arc::new(self.dead_letters()),
            sends: Arc::new(self.throughput()),
            provider: Arc::new(self.throughput()),
            history: Arc::new(self.throughput()),
            clock,
            rate: MailRate::new(20.0, 2).unwrap(),
            latest: Latest::default(),
        }
    }

    /// A table of a test's own, with the deployed one's keys and indexes.
    pub async fn own_invoices(&self) -> InvoiceTable {
        InvoiceTable::new(self.clients.dynamodb(), self.own_table("InvoicesTableName").await)
    }

    /// A table of a test's own, with the deployed one's keys.
    pub async fn own_throughput(&self) -> ThroughputTable {
        ThroughputTable::new(self.clients.dynamodb(), self.own_table("ThroughputTableName").await)
    }

    /// Tables of webhooks and of their deliveries of a test's own, with the deployed ones' keys and indexes.
    pub async fn own_webhooks(&self) -> (WebhookTable, WebhookDeliveryTable) {
        let (webhooks, deliveries) =
            tokio::join!(self.own_table("WebhooksTableName"), self.own_table("WebhookDeliveriesTableName"));
        let dynamodb = || self.clients.dynamodb();
        (WebhookTable::for_deliveries(dynamodb(), webhooks), WebhookDeliveryTable::new(dynamodb(), deliveries))
    }

    /// The name of a new table with the keys and indexes of the deployed one.
    pub async fn own_table(&self, name_output: &str) -> String {
        let dynamodb = self.clients.dynamodb();
        let deployed = self.addresses.output(name_output).unwrap();
        let deployed = dynamodb.describe_table().table_name(deployed).send().await.unwrap().table.unwrap();
        let indexes = deployed.global_secondary_indexes().iter().map(|index| {
            GlobalSecondaryIndex::builder()
                .set_index_name(index.index_name.clone())
                .set_key_schema(index.key_schema.clone())
                .set_projection(index.projection.clone())
                .build()
                .unwrap()
        });
        let name = format!("own-{}", Uuid::new_v4());
        let indexes: Vec<_> = indexes.collect();
        dynamodb
            .create_table()
            .table_name(&name)
            .set_attribute_definitions(deployed.attribute_definitions.clone())
            .set_key_schema(deployed.key_schema.clone())
            .set_global_secondary_indexes(Some(indexes).filter(|indexes| !indexes.is_empty()))
            .billing_mode(BillingMode::PayPerRequest)
            .send()
            .await
            .unwrap();
        name
    }

    /// An invoice in the table that nobody has a ticket for, and that is not due for an hour.
    pub async fn invoice_without_ticket(&self, email: &str) -> Invoice {
        let id = create_invoice(&self.invoices(), email, SystemClock.now() + Duration::from_hours(1)).await;
        self.invoice(id).await
    }

    /// The invoice as it stands in the table.
    pub async fn invoice(&self, id: InvoiceId) -> Invoice {
        self.invoices().invoice(id).await.unwrap().unwrap()
    }

    /// Two queues of a test's own.
    pub async fn own_queues(&self) -> OwnQueues {
        let sqs = self.clients.sqs();
        let create = async |purpose: &str| {
            let name = format!("{purpose}-{}", Uuid::new_v4());
            sqs.create_queue().queue_name(name).send().await.unwrap().queue_url.unwrap()
        };
        OwnQueues { tickets: create("tickets").await, dead_letters: create("dead-letters").await, sqs: sqs.clone() }
    }

    /// A worker in this process, on the deployed table and bucket, with its own queues and mail.
    pub fn worker(&self, queues: &OwnQueues, mail: Arc<dyn SendMail>, rules: Rules) -> Worker {
        Worker::new(
            Arc::new(self.invoices()),
            Arc::new(self.bucket()),
            mail,
            Arc::new(TicketQueue::new(self.clients.sqs(), queues.tickets.clone())),
            Arc::new(DeadLetterQueue::new(self.clients.sqs(), queues.dead_letters.clone())),
            Arc::new(SystemClock),
            rules,
        )
        .heeding(Arc::new(self.suppressions()))
        .reopening(Arc::new(self.invoices()))
    }

    /// The ear for the mail provider's events, in this process, on the deployed tables, with a queue of its own.
    pub fn mail_events(&self, queues: &OwnQueues) -> MailEvents {
        MailEvents {
            read_invoices: Arc::new(self.invoices()),
            deliveries: Arc::new(self.invoices()),
            suppressions: Arc::new(self.suppressions()),
            dead_letters: Arc::new(DeadLetterQueue::new(self.clients.sqs(), queues.dead_letters.clone())),
        }
    }
}

/// A pending invoice in this table, due then.
pub async fn create_invoice(invoices: &InvoiceTable, email: &str, due: Timestamp) -> InvoiceId {
    let content = content(email);
    let id = content.id;
    let (link_secret, correlation_id) = (LinkSecret(Uuid::new_v4()), Uuid::new_v4().into());
    invoices.create(&NewInvoice { content, due, link_secret, correlation_id }).await.unwrap();
    id
}

/// An address that no other test mails to.
#[must_use]
pub fn own_address(purpose: &str) -> String {
    format!("{purpose}-{}@example.com", Uuid::new_v4().simple())
}

/// What an invoice says, for a parcel that exists in no table.
#[must_use]
pub fn content(email: &str) -> InvoiceContent {
    let now = SystemClock.now();
    let parcel = parcel(email, now);
    let description = Text::try_from("Delivery".to_owned()).unwrap();
    let price = Money::parse("12.50", Currency::Sgd).unwrap();
    let line = Line::new(description, 1, price, TaxCode::Standard, Currency::Sgd).unwrap();
    InvoiceContent::of_parcel(&parcel, vec![line], Currency::Sgd, &billing(), now)
}

/// What invoices made in this process have in common.
#[must_use]
pub fn billing() -> Billing {
    fn text<const MAX: usize>(text: &str) -> Text<MAX> {
        Text::try_from(text.to_owned()).unwrap()
    }
    Billing {
        seller: Seller {
            name: text("Lion City Logistics Pte Ltd"),
            address: text("8 Changi South Street 1, Singapore 486111"),
            gst_number: text("M9-0001234-5"),
            registration_number: text("201912345K"),
            email: "billing@lioncity.example".parse().unwrap(),
        },
        payment_terms_days: 14,
        delivery_fee: Money::from_minor(1250),
    }
}

/// A parcel that exists in no table.
#[must_use]
pub fn parcel(email: &str, now: Timestamp) -> Parcel {
    let id = ParcelId(Uuid::new_v4());
    Parcel {
        id,
        owner: OwnerId::house(),
        tracking_number: TrackingNumber::draw(u64::from(id.0.as_fields().0), 1),
        recipient: Text::try_from("Tan Wei Ming".to_owned()).unwrap(),
        email: email.parse().unwrap(),
        address: None,
        postal_code: None,
        phone: None,
        reference: None,
        weight: None,
        status: ParcelStatus::Created,
        created_at: now,
        updated_at: now,
        events: vec![TrackingEvent::now(TrackingEventId(Uuid::new_v4()), ParcelStatus::Created, now)],
        proof_expected_since: None,
    }
}

/// Mail by SMTP, as the deployed worker sends it.
#[must_use]
pub fn smtp(url: &str) -> Arc<dyn SendMail> {
    let sender = Sender::parse("Lion City Logistics <invoices@lioncity.example>").unwrap();
    Arc::new(Smtp::new(url, sender, MAIL_TIMEOUT).unwrap())
}

/// The deployed worker's rules, except that this one is in no hurry to be slow.
#[must_use]
pub fn rules() -> Rules {
    Rules {
        lease: Duration::from_secs(45),
        max_receives: 5,
        pace: pace(1000.0),
        public_url: "http://127.0.0.1".to_owned(),
    }
}

/// The pace of a worker that may send so many mails a second.
#[must_use]
pub fn pace(mails_per_second: f64) -> WorkerPace {
    MailRate::new(mails_per_second, 1).unwrap().of_one_worker()
}

/// A clock that runs, moved by an offset.
#[derive(Debug, Default)]
pub struct MovedClock(AtomicI64);

impl MovedClock {
    /// Moves it forward.
    pub fn forward(&self, duration: Duration) {
        self.0.fetch_add(i64::try_from(duration.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for MovedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(SystemClock.now().millis() + self.0.load(Ordering::SeqCst))
    }
}

/// Queues that belong to one test.
pub struct OwnQueues {
    /// Tickets.
    pub tickets: String,
    /// Dead letters.
    pub dead_letters: String,
    sqs: aws_sdk_sqs::Client,
}

/// A message as a test sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its body.
    pub body: String,
    /// The reason attribute, if it has one.
    pub reason: Option<String>,
}

impl OwnQueues {
    /// Puts a ticket on the queue and receives it, so that there is a receipt handle that the queue knows.
    pub async fn delivered(&self, ticket: Ticket) -> Value {
        self.sqs.send_message().queue_url(&self.tickets).message_body(ticket.to_body()).send().await.unwrap();
        let answer = self
            .sqs
            .receive_message()
            .queue_url(&self.tickets)
            .visibility_timeout(60)
            .wait_time_seconds(1)
            .send()
            .await
            .unwrap();
        let message = &answer.messages()[0];
        record(message.message_id().unwrap(), message.body().unwrap(), 1, message.receipt_handle().unwrap())
    }

    /// The messages that are visible now; they are taken off the queue.
    pub async fn take(&self, url: &str) -> Vec<Message> {
        let messages = self.take_as_they_are(url).await;
        let reason_of = |message: &aws_sdk_sqs::types::Message| {
            let reason = message.message_attributes().and_then(|attributes| attributes.get("reason"));
            reason.and_then(|reason| reason.string_value()).map(ToOwned::to_owned)
        };
        messages
            .into_iter()
            .map(|message| Message { reason: reason_of(&message), body: message.body.unwrap_or_default() })
            .collect()
    }

    /// Takes the dead letters off their queue as the console's redrive does, and returns the records that the worker
    /// gets of them: new messages, with the old body and attributes.
    pub async fn redriven(&self) -> Vec<Value> {
        let messages = self.take_as_they_are(&self.dead_letters).await;
        messages
            .into_iter()
            .map(|message| {
                let mut record = record(&Uuid::new_v4().to_string(), message.body().unwrap(), 1, "no-such-handle");
                for (name, value) in message.message_attributes().into_iter().flatten() {
                    record["messageAttributes"][name] =
                        json!({"stringValue": value.string_value(), "dataType": value.data_type()});
                }
                record
            })
            .collect()
    }

    async fn take_as_they_are(&self, url: &str) -> Vec<aws_sdk_sqs::types::Message> {
        let mut taken = Vec::new();
        loop {
            let receive = self.sqs.receive_message().queue_url(url).max_number_of_messages(10);
            let messages = receive.message_attribute_names("All").send().await.unwrap().messages.unwrap_or_default();
            if messages.is_empty() {
                return taken;
            }
            for message in &messages {
                let handle = message.receipt_handle().unwrap();
                self.sqs.delete_message().queue_url(url).receipt_handle(handle).send().await.unwrap();
            }
            taken.extend(messages);
        }
    }

    /// Waits until a message on the queue of tickets is visible again.
    pub async fn visible_again(&self) -> Duration {
        let start = tokio::time::Instant::now();
        while start.elapsed() < PATIENCE {
            let answer = self.sqs.receive_message().queue_url(&self.tickets).wait_time_seconds(1).send().await.unwrap();
            if !answer.messages().is_empty() {
                return start.elapsed();
            }
        }
        panic!("still hidden");
    }
}

/// A record of a batch, as Lambda hands it over.
#[must_use]
pub fn record(id: &str, body: &str, receives: u32, receipt_handle: &str) -> Value {
    json!({
        "messageId": id,
        "receiptHandle": receipt_handle,
        "body": body,
        "attributes": {"ApproximateReceiveCount": receives.to_string(), "SentTimestamp": "1790000000000"},
        "messageAttributes": {},
        "md5OfBody": "x",
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:ap-southeast-1:123456789012:tickets",
        "awsRegion": "ap-southeast-1"
    })
}

/// The record of a ticket for this invoice.
#[must_use]
pub fn ticket_record(id: &str, invoice: &Invoice, receives: u32) -> Value {
    record(id, &Ticket { invoice_id: invoice.content.id }.to_body(), receives, "no-such-handle")
}

/// Hands a batch to a worker; the ids of the messages that it reports as failed.
pub async fn work(worker: &Worker, records: &[Value]) -> Vec<String> {
    work_within(worker, records, Duration::from_secs(10)).await
}

/// Hands a batch to a worker that has only so much time.
pub async fn work_within(worker: &Worker, records: &[Value], time: Duration) -> Vec<String> {
    let event: SqsEvent = serde_json::from_value(json!({"Records": records})).unwrap();
    let response = invoice_worker::handle(worker, event, &context(time)).await.unwrap();
    response.batch_item_failures.into_iter().map(|failure| failure.item_identifier).collect()
}

/// The context of an invocation that has so much time.
#[must_use]
pub fn context(time: Duration) -> Context {
    let mut context = Context::default();
    context.request_id = Uuid::new_v4().to_string();
    context.deadline = u64::try_from((SystemClock.now() + time).millis()).unwrap();
    context
}
