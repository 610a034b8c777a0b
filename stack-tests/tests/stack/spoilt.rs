//! Answers that are spoilt on their way, of every service and of the mail server, for every function: whatever comes, a
//! function ends its invocation in time, and no word of a person and no secret gets into its log, into a reason, beside a
//! dead letter or into its answer.
//!
//! Each function is the real process, with a Lambda of this test's own and the fault proxy before the emulator.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures::future::join_all;
use local_stack::{Faults, MERCHANT_KEY, OPERATOR_KEY, OwnInbox, ServerState, Service, Spoiling};
use parceltrack::aws::InvoiceTable;
use parceltrack::clock::SystemClock;
use parceltrack::domain::{InvoiceContent, InvoiceId, LinkSecret, OwnerId, Text, Ticket};
use parceltrack::ports::{Clock as _, CreateInvoices as _, NewInvoice, ReadInvoices as _};
use serde_json::{Value, json};
use stack_tests::webhooks::story;
use stack_tests::{OwnQueues, Stack, billing, own_address, record};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::sync::{Semaphore, mpsc};
use uuid::Uuid;

const NAME: &str = "Zebedee Quillfeather";
const ADDRESS: &str = "77 Nutmeg Crescent";
const PHONE: &str = "+6598765432";
const MAILBOX: &str = "quillfeather";
const PASSWORD: &str = "hush-hush-hush";

/// What must be nowhere: of the recipient, of the API keys, of the webhook's secret and of the mail server's password.
const SEEDS: [&str; 8] =
    ["Zebedee", "Quillfeather", MAILBOX, "Nutmeg", "98765432", "onlyforthelaptop", "whsec_", PASSWORD];

/// How long Lambda lets a function work, and how much longer this test waits for its answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// So many processes at once.
const AT_ONCE: usize = 12;

/// The memory of the smallest function, in KiB. Debug builds have all their code in it as well.
const MEMORY: u64 = 256 * 1024;

/// The end of an invocation: what Lambda was told, and whether that is an error of the function.
struct Answer {
    body: String,
    error: bool,
}

#[derive(Clone)]
struct Runtime {
    events: Arc<tokio::sync::Mutex<mpsc::Receiver<String>>>,
    answers: mpsc::Sender<Answer>,
}

impl Runtime {
    async fn next(State(runtime): State<Self>) -> Response {
        let Some(event) = runtime.events.lock().await.recv().await else { return std::future::pending().await };
        let deadline = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + TIMEOUT;
        let headers = [
            ("lambda-runtime-aws-request-id", Uuid::new_v4().to_string()),
            ("lambda-runtime-deadline-ms", deadline.as_millis().to_string()),
            ("lambda-runtime-invoked-function-arn", "arn:aws:lambda:x:0:function:x".to_owned()),
        ];
        (headers, event).into_response()
    }

    async fn end(State(runtime): State<Self>, Path((_, end)): Path<(String, String)>, body: String) {
        runtime.answers.send(Answer { body, error: end == "error" }).await.ok();
    }

    async fn no_beginning(State(runtime): State<Self>, body: String) {
        runtime.answers.send(Answer { body, error: true }).await.ok();
    }
}

/// A function's process.
struct Function {
    name: &'static str,
    faults: Arc<Faults>,
    events: mpsc::Sender<String>,
    answers: mpsc::Receiver<Answer>,
    child: Child,
    log: Arc<Mutex<Vec<u8>>>,
    /// All that it has said so far, log lines apart.
    said: Vec<String>,
}

impl Function {
    async fn start(world: &World, name: &'static str, more: &[(&str, &str)]) -> Self {
        let faults = Faults::none();
        let (endpoint, _) = faults.clone().stand_before(world.stack.addresses.emulator_url.clone()).await.unwrap();
        Self::start_before(world, name, more, faults, &endpoint).await
    }

    async fn start_before(
        world: &World,
        name: &'static str,
        more: &[(&str, &str)],
        faults: Arc<Faults>,
        endpoint: &str,
    ) -> Self {
        let (events, receiver) = mpsc::channel(1);
        let (sender, answers) = mpsc::channel(8);
        let runtime = Runtime { events: Arc::new(tokio::sync::Mutex::new(receiver)), answers: sender };
        let routes = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(Runtime::next))
            .route("/2018-06-01/runtime/invocation/{id}/{end}", post(Runtime::end))
            .route("/2018-06-01/runtime/init/error", post(Runtime::no_beginning))
            .with_state(runtime);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let api = listener.local_addr().unwrap().to_string();
        // Ends with the test's runtime.
        tokio::spawn(async move { axum::serve(listener, routes).await });
        let deployed = format!("{}FunctionName", pascal(name));
        let variables = world.stack.addresses.function_variables(&deployed).await.unwrap();
        let mut child = Command::new(binary(name))
            .env_clear()
            .envs(variables)
            .envs(&world.own)
            .envs([
                ("AWS_LAMBDA_RUNTIME_API", api.as_str()),
                ("AWS_ENDPOINT_URL", endpoint),
                ("AWS_REGION", &world.stack.addresses.region),
                ("AWS_ACCESS_KEY_ID", "test"),
                ("AWS_SECRET_ACCESS_KEY", "test"),
                ("AWS_LAMBDA_FUNCTION_NAME", name),
                ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256"),
                ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
                ("AWS_LAMBDA_LOG_LEVEL", "TRACE"),
            ])
            .envs(more.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| panic!("{name} does not start: {error}"));
        let log = Arc::new(Mutex::new(Vec::new()));
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        tokio::spawn(keep(stdout, log.clone()));
        tokio::spawn(keep(stderr, log.clone()));
        Self { name, faults, events, answers, child, log, said: Vec::new() }
    }

    /// Hands it an event and waits for its answer, which must come in time.
    async fn invoke(&mut self, event: &Value) -> Answer {
        self.events.send(event.to_string()).await.unwrap();
        let answer = tokio::time::timeout(TIMEOUT + Duration::from_secs(5), self.answers.recv()).await;
        answer.unwrap_or_else(|_| panic!("{} has no end:\n{}", self.name, self.log())).unwrap()
    }

    /// The same while this service's answers are spoilt.
    async fn suffer(&mut self, service: Service, spoiling: Spoiling, event: &Value) {
        self.faults.spoil(service, spoiling);
        let answer = self.invoke(event).await;
        self.faults.end();
        self.note(&answer);
    }

    /// What it answers is looked through, but for what the API shows to whom it belongs.
    fn note(&mut self, answer: &Answer) {
        let shown = serde_json::from_str::<Value>(&answer.body)
            .is_ok_and(|body| body["statusCode"].as_u64().is_some_and(|status| status < 400));
        if answer.error || !shown {
            self.said.push(answer.body.clone());
        }
    }

    fn log(&self) -> String {
        String::from_utf8_lossy(&self.log.lock().unwrap()).into_owned()
    }

    /// Looks through all that it has said, and at what it took.
    fn look(&self) {
        for (what, text) in [("log", self.log()), ("answers", self.said.join("\n"))] {
            clean(&format!("{}'s {what}", self.name), &text);
        }
        let process = self.child.id().unwrap_or_else(|| panic!("{} is dead:\n{}", self.name, self.log()));
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().split(' ').next()?.parse().ok());
        assert!(peak.unwrap_or(0_u64) < MEMORY, "{} took {peak:?} KiB", self.name);
    }
}

async fn keep(mut from: impl tokio::io::AsyncRead + Unpin, log: Arc<Mutex<Vec<u8>>>) {
    let mut part = [0; 8192];
    while let Ok(read) = from.read(&mut part).await {
        if read == 0 {
            return;
        }
        log.lock().unwrap().extend_from_slice(&part[..read]);
    }
}

/// `outbox-relay` is `OutboxRelay` in the template.
fn pascal(name: &str) -> String {
    let upper = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('-').map(upper).collect()
}

/// Cargo puts the functions beside the tests.
fn binary(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.parent().unwrap().parent().unwrap().join(name)
}

fn clean(what: &str, text: &str) {
    for seed in SEEDS {
        if let Some(line) = text.lines().find(|line| line.to_lowercase().contains(&seed.to_lowercase())) {
            let at = line.to_lowercase().find(&seed.to_lowercase()).unwrap_or_default();
            let around: String = line.chars().skip(at.saturating_sub(300)).take(600).collect();
            panic!("{seed} in {what}: {around}");
        }
    }
}

/// The tables and queues of this test, with the seeds in them.
struct World {
    stack: Stack,
    own: BTreeMap<&'static str, String>,
    queues: [OwnQueues; 3],
    invoices: InvoiceTable,
    places: Semaphore,
    made: Mutex<Vec<InvoiceId>>,
}

impl World {
    async fn new() -> Self {
        let stack = Stack::running().await;
        let names = [
            ("PARCELS_TABLE", "ParcelsTableName"),
            ("INVOICES_TABLE", "InvoicesTableName"),
            ("SUPPRESSIONS_TABLE", "SuppressionsTableName"),
            ("THROUGHPUT_TABLE", "ThroughputTableName"),
            ("WEBHOOKS_TABLE", "WebhooksTableName"),
            ("WEBHOOK_DELIVERIES_TABLE", "WebhookDeliveriesTableName"),
            ("WEBHOOK_SUBJECTS_TABLE", "WebhookSubjectsTableName"),
        ];
        let tables = join_all(names.map(async |(name, output)| (name, stack.own_table(output).await))).await;
        let mut own: BTreeMap<_, _> = tables.into_iter().collect();
        let queues = [stack.own_queues().await, stack.own_queues().await, stack.own_queues().await];
        own.insert("TICKETS_QUEUE_URL", queues[0].tickets.clone());
        own.insert("DEAD_LETTER_QUEUE_URL", queues[0].dead_letters.clone());
        own.insert("WEBHOOK_TICKETS_QUEUE_URL", queues[1].tickets.clone());
        own.insert("WEBHOOK_DEAD_LETTER_QUEUE_URL", queues[1].dead_letters.clone());
        own.insert("WEBHOOK_EVENTS_QUEUE_URL", queues[2].tickets.clone());
        own.insert("DOMAIN_EVENTS_DEAD_LETTER_QUEUE_URL", queues[2].dead_letters.clone());
        let invoices = InvoiceTable::new(stack.clients.dynamodb(), own["INVOICES_TABLE"].clone());
        Self { stack, own, queues, invoices, places: Semaphore::new(AT_ONCE), made: Mutex::default() }
    }

    /// An invoice of the seeds, due now.
    async fn invoice(&self) -> InvoiceId {
        let now = SystemClock.now();
        let mut parcel = stack_tests::parcel(&own_address(MAILBOX), now);
        parcel.recipient = Text::try_from(NAME.to_owned()).unwrap();
        parcel.address = Some(Text::try_from(ADDRESS.to_owned()).unwrap());
        let line = stack_tests::content("x@example.com").lines.remove(0);
        let currency = parceltrack::domain::Currency::Sgd;
        let content = InvoiceContent::of_parcel(&parcel, vec![line], currency, &billing(), now);
        let id = content.id;
        let (link_secret, correlation_id) = (LinkSecret(Uuid::new_v4()), Uuid::new_v4().into());
        let new = NewInvoice { content, due: now, link_secret, correlation_id };
        self.invoices.create(&new).await.unwrap();
        self.made.lock().unwrap().push(id);
        id
    }

    /// A process of this function, and this for each way of spoiling this service.
    async fn drive(&self, name: &'static str, service: Service, more: &[(&str, &str)], event: impl AsyncFn() -> Value) {
        let _place = self.places.acquire().await.unwrap();
        let mut function = Function::start(self, name, more).await;
        for spoiling in Spoiling::ALL {
            let event = event().await;
            function.suffer(service, spoiling, &event).await;
        }
        function.look();
    }

    async fn worker_of_mail(&self) {
        let _place = self.places.acquire().await.unwrap();
        let inbox = OwnInbox::start().await.unwrap();
        let mut function = Function::start(self, "invoice-worker", &[("SMTP_URL", &inbox.smtp_url())]).await;
        // Refusals first: after three answers in a row that cannot be read, the breaker opens.
        for state in [
            ServerState::Quoting,
            ServerState::Rejecting,
            ServerState::Garbling,
            ServerState::CuttingShort,
            ServerState::Flooding,
        ] {
            inbox.set_state(state).await.unwrap();
            let answer = function.invoke(&self.ticket().await).await;
            function.note(&answer);
        }
        function.look();
    }

    /// A function that reads the mail server's password at its start, while the answer to that is spoilt.
    async fn start_with_secret(&self, name: &'static str, spoiling: Spoiling) {
        let _place = self.places.acquire().await.unwrap();
        let secrets = self.stack.clients.secrets();
        let url = format!("smtp://lion:{PASSWORD}@127.0.0.1:1");
        let made = secrets.create_secret().name(Uuid::new_v4().to_string()).secret_string(url).send().await.unwrap();
        let faults = Faults::none();
        let emulator = self.stack.addresses.emulator_url.clone();
        let (endpoint, _) = faults.clone().stand_before(emulator).await.unwrap();
        faults.spoil(Service::SecretsManager, spoiling);
        let arn = [("SMTP_SECRET_ARN", made.arn().unwrap())];
        let mut function = Function::start_before(self, name, &arn, faults, &endpoint).await;
        let ended = tokio::time::timeout(TIMEOUT, function.child.wait()).await;
        // What can be read after all is a beginning.
        assert!(ended.is_ok() || spoiling == Spoiling::WrongType, "{spoiling:?}: {}", function.log());
        clean(&format!("{name}'s log, {spoiling:?}"), &function.log());
    }

    async fn ticket(&self) -> Value {
        let body = async || Ticket { invoice_id: self.invoice().await }.to_body();
        json!({"Records": [
            record("m1", &body().await, 1, "no-such-handle"),
            // On its last receive.
            record("m2", &body().await, 99, "no-such-handle"),
            // No ticket, and words of people.
            record("m3", &json!({"invoiceId": NAME}).to_string(), 1, "no-such-handle"),
        ]})
    }
}

fn request(method: &str, path: &str, key: &str, body: &Value) -> Value {
    // Its own name, without which API Gateway would not have had a limit for it.
    let route = format!("{method} {path}");
    json!({
        "version": "2.0", "routeKey": route, "rawPath": path, "rawQueryString": "",
        "headers": {"authorization": format!("Bearer {key}"), "content-type": "application/json"},
        "requestContext": {
            "accountId": "1", "apiId": "a", "domainName": "a", "domainPrefix": "a", "requestId": "r",
            "routeKey": route, "stage": "$default", "time": "30/Nov/2026:01:00:00 +0000", "timeEpoch": 1_796_000_400_000_u64,
            "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "203.0.113.7", "userAgent": "x"},
        },
        "body": if body.is_null() { Value::Null } else { body.to_string().into() },
        "isBase64Encoded": false,
    })
}

async fn ask(api: &mut Function, method: &str, path: &str, body: &Value) -> Value {
    let answer = api.invoke(&request(method, path, OPERATOR_KEY, body)).await;
    let answer: Value = serde_json::from_str(&answer.body).unwrap();
    assert!(answer["statusCode"].as_u64().unwrap() < 300, "{method} {path}: {answer}");
    serde_json::from_str(answer["body"].as_str().unwrap()).unwrap()
}

fn sample(name: &str) -> Value {
    let path = format!("{}/../events/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    serde_json::from_str(&text.replace("Tan Wei Ming", NAME).replace("tan@", &format!("{MAILBOX}@"))).unwrap()
}

/// The API on tables with the seeds, one request after the other while this service's answers are spoilt.
async fn drive_api(world: &World, service: Service, spoiling: Spoiling) {
    let _place = world.places.acquire().await.unwrap();
    let mut api = Function::start(world, "api", &[]).await;
    let parcel = json!({
        "recipient": NAME, "email": own_address(MAILBOX), "address": ADDRESS, "phone": PHONE, "reference": "PO-1",
    });
    let made = ask(&mut api, "POST", "/api/parcels", &parcel).await;
    let one = format!("/api/parcels/{}", made["id"].as_str().unwrap());
    let invoice = ask(&mut api, "POST", &format!("{one}/invoice"), &Value::Null).await;
    let invoice = format!("/api/invoices/{}", invoice["id"].as_str().unwrap());
    let other = ask(&mut api, "POST", "/api/parcels", &parcel).await;
    let other = format!("/api/parcels/{}/invoice", other["id"].as_str().unwrap());
    let address = json!({"email": own_address(MAILBOX)});
    let mut requests =
        vec![("POST", other, OPERATOR_KEY, Value::Null), ("GET", "/api/queue".to_owned(), OPERATOR_KEY, Value::Null)];
    if service == Service::DynamoDb {
        let track = format!("/api/track/{}", made["trackingNumber"].as_str().unwrap());
        requests.extend([
            ("POST", "/api/parcels".to_owned(), OPERATOR_KEY, parcel),
            ("GET", "/api/parcels".to_owned(), OPERATOR_KEY, Value::Null),
            ("GET", one, OPERATOR_KEY, Value::Null),
            ("GET", invoice.clone(), OPERATOR_KEY, Value::Null),
            ("PUT", format!("{invoice}/email"), OPERATOR_KEY, address),
            ("GET", "/api/webhooks".to_owned(), OPERATOR_KEY, Value::Null),
            ("GET", track, "", Value::Null),
            // Whose key this is, is not known yet.
            ("GET", "/api/me".to_owned(), MERCHANT_KEY, Value::Null),
        ]);
    }
    for (method, path, key, body) in requests {
        api.suffer(service, spoiling, &request(method, &path, key, &body)).await;
    }
    api.look();
}

/// Deliveries of a webhook with the seeds, one for each way of spoiling; their tickets.
async fn deliveries(world: &World) -> Vec<Value> {
    let mut api = Function::start(world, "api", &[]).await;
    let webhook = json!({
        "url": "http://127.0.0.1:10240/webhooks", "eventTypes": ["ParcelCreated"], "contactEmail": own_address(MAILBOX),
    });
    let webhook = ask(&mut api, "POST", "/api/webhooks", &webhook).await;
    assert!(webhook["secret"].as_str().unwrap().starts_with("whsec_"));
    let owner = OwnerId::house();
    let mut fan_out = Function::start(world, "webhook-fan-out", &[]).await;
    let mut tickets = Vec::new();
    let mut records = Vec::new();
    for _ in 0..2 * Spoiling::ALL.len() {
        let event = story(&owner, 1).remove(0);
        let delivery = format!("parcel-{}-1", event.parcel_id);
        let ticket = json!({"owner": owner, "webhookId": webhook["id"], "deliveryId": delivery});
        tickets.push(json!({"Records": [record("m1", &ticket.to_string(), 1, "no-such-handle")]}));
        records.push(record(&delivery, &json!({"detail": event}).to_string(), 1, "no-such-handle"));
    }
    let answer = fan_out.invoke(&json!({"Records": records})).await;
    assert_eq!(answer.body, r#"{"batchItemFailures":[]}"#, "{}", fan_out.log());
    tickets
}

fn events(owner: &OwnerId) -> Value {
    let event = json!({"detail": story(owner, 1).remove(0)}).to_string();
    // The second is none, and has words of people in it.
    let no_event = json!({"detail": NAME}).to_string();
    json!({"Records": [record("m1", &event, 1, "no-such-handle"), record("m2", &no_event, 1, "no-such-handle")]})
}

async fn bounce(world: &World) -> Value {
    let invoice = world.invoice().await;
    let mut event = sample("mail-events-bounce");
    event["detail"]["mail"]["tags"]["invoiceId"][0] = invoice.to_string().into();
    let words = format!("smtp; 550 5.1.1 <{MAILBOX}@example.com>: {NAME} of {ADDRESS} is unknown");
    event["detail"]["bounce"]["bouncedRecipients"][0]["diagnosticCode"] = words.into();
    event
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_way_an_answer_is_spoilt_no_function_repeats_a_word_of_it_or_comes_to_no_end() {
    let world = &World::new().await;
    let tickets = Box::pin(deliveries(world)).await;
    let domain = format!("{}.example", Uuid::new_v4().simple());
    world.stack.clients.sesv2().create_email_identity().email_identity(&domain).send().await.unwrap();
    let from = format!("invoices@{domain}");
    let ses = &[("MAIL_PROVIDER", "ses"), ("SES_CONFIGURATION_SET", "parceltrack"), ("MAIL_FROM", from.as_str())];
    let unreadable = &json!({"detail-type": "Email Bounced", "detail": {"eventType": "Bounce", "mail": {"timestamp": NAME,
        "messageId": "x", "destination": [format!("{MAILBOX}@example.com")], "tags": {"invoiceId": [Uuid::nil()]}}}});
    let next = &Mutex::new(tickets);
    let ticket_of_delivery = &async || next.lock().unwrap().pop().unwrap();

    let mut drives: Vec<futures::future::LocalBoxFuture<'_, ()>> = Vec::new();
    for spoiling in Spoiling::ALL {
        drives.push(Box::pin(drive_api(world, Service::DynamoDb, spoiling)));
        drives.push(Box::pin(drive_api(world, Service::Sqs, spoiling)));
        drives.push(Box::pin(world.start_with_secret("invoice-worker", spoiling)));
        drives.push(Box::pin(world.start_with_secret("webhook-worker", spoiling)));
    }
    drives.push(Box::pin(world.worker_of_mail()));
    drives.push(Box::pin(world.drive("invoice-worker", Service::Ses, ses, async || world.ticket().await)));
    for service in [Service::DynamoDb, Service::S3, Service::Sqs] {
        drives.push(Box::pin(world.drive("invoice-worker", service, &[], async || world.ticket().await)));
    }
    for service in [Service::EventBridge, Service::Sqs] {
        drives.push(Box::pin(world.drive("domain-events", service, &[], async || {
            let mut event = sample("domain-events-parcel");
            // One of them cannot be read.
            event["Records"][1]["dynamodb"]["NewImage"]["events"] = json!({"S": NAME});
            event
        })));
    }
    for service in [Service::DynamoDb, Service::Sqs] {
        drives.push(Box::pin(world.drive("mail-events", service, &[], async || bounce(world).await)));
        drives.push(Box::pin(world.drive("outbox-relay", service, &[], async || {
            world.invoice().await;
            sample("outbox-relay-schedule")
        })));
        drives.push(Box::pin(world.drive("webhook-fan-out", service, &[], async || events(&OwnerId::house()))));
        drives.push(Box::pin(world.drive("webhook-relay", service, &[], async || sample("webhook-relay-schedule"))));
        drives.push(Box::pin(world.drive("webhook-worker", service, &[], ticket_of_delivery)));
    }
    drives.push(Box::pin(world.drive("mail-events", Service::DynamoDb, &[], async || unreadable.clone())));
    drives.push(Box::pin(
        world.drive("parcel-simulator", Service::DynamoDb, &[], async || sample("parcel-simulator-schedule")),
    ));
    join_all(drives).await;

    // What is left behind for people.
    let mut letters = 0;
    for queues in &world.queues {
        for letter in queues.take(&queues.dead_letters).await {
            letters += 1;
            clean("a dead letter's reason", &letter.reason.unwrap_or_default());
        }
    }
    assert!(letters > 0);
    let made = world.made.lock().unwrap().clone();
    let mut reasons = 0;
    for id in made {
        let invoice = world.invoices.invoice(id).await.unwrap().unwrap();
        let last = invoice.mailing.report.as_ref().and_then(|report| report.reason.clone());
        for reason in invoice.attempts.iter().filter_map(|attempt| attempt.reason.clone()).chain(last) {
            reasons += 1;
            clean("an invoice's reason", &reason);
        }
    }
    assert!(reasons > 0);
    let deliveries = world.stack.clients.dynamodb().scan().table_name(&world.own["WEBHOOK_DELIVERIES_TABLE"]);
    clean("the deliveries", &format!("{:?}", deliveries.send().await.unwrap().items()));
}
