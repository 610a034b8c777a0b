//! What the functions must be told, so that they find [`Aws`](crate::Aws): one set of variables for all of them.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_yaml_ng::Value;

/// The table of API keys.
pub(crate) const API_KEYS: &str = "api-keys";

/// The tables of template.yaml by the variable that names them to the functions, with the attributes of their keys.
pub(crate) const TABLES: [(&str, &str, &[&str]); 10] = [
    ("API_KEYS_TABLE", API_KEYS, &["keyId"]),
    ("PARCELS_TABLE", "parcels", &["parcelId"]),
    ("TRACKING_NUMBERS_TABLE", "tracking-numbers", &["trackingNumber"]),
    ("IDEMPOTENCY_TABLE", "idempotency", &["idempotencyKey"]),
    ("INVOICES_TABLE", "invoices", &["invoiceId"]),
    ("SUPPRESSIONS_TABLE", "suppressions", &["addressHash"]),
    ("THROUGHPUT_TABLE", "throughput", &["counter", "slot"]),
    ("WEBHOOKS_TABLE", "webhooks", &["owner", "webhookId"]),
    ("WEBHOOK_DELIVERIES_TABLE", "webhook-deliveries", &["webhookId", "deliveryId"]),
    ("WEBHOOK_SUBJECTS_TABLE", "webhook-subjects", &["subject"]),
];

/// The rest, apart from where AWS is.
const OTHERS: [(&str, &str); 30] = [
    ("AWS_ACCESS_KEY_ID", "bench"),
    ("AWS_SECRET_ACCESS_KEY", "bench"),
    ("AWS_REGION", "ap-southeast-1"),
    ("AWS_DEFAULT_REGION", "ap-southeast-1"),
    ("AWS_LAMBDA_FUNCTION_NAME", "bench"),
    ("AWS_LAMBDA_FUNCTION_VERSION", "1"),
    ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256"),
    ("AWS_LAMBDA_LOG_LEVEL", "INFO"),
    ("STACK_NAME", "bench"),
    // Endpoints of webhooks are on this machine.
    ("ENVIRONMENT", "local"),
    ("WEBHOOK_ALLOWED_PRIVATE", "127.0.0.1"),
    ("DOMAIN_EVENTS_BUS", "domain-events"),
    ("INVOICES_BUCKET", "invoices"),
    ("PROOFS_BUCKET", "proofs"),
    ("DELIVERY_FEE", "12.50"),
    ("SELLER_NAME", "Lion City Logistics Pte Ltd"),
    ("SELLER_ADDRESS", "8 Changi South Street 1, Singapore 486111"),
    ("SELLER_GST_NUMBER", "M9-0001234-5"),
    ("SELLER_UEN", "201912345K"),
    ("SELLER_EMAIL", "billing@lioncity.example"),
    ("PAYMENT_TERMS_DAYS", "14"),
    ("MAIL_FROM", "invoices@lioncity.example"),
    ("MAIL_PROVIDER", "ses"),
    ("SES_CONFIGURATION_SET", "bench"),
    ("PUBLIC_URL", "https://api.lioncity.example"),
    ("LEASE_SECONDS", "45"),
    ("VISIBILITY_SECONDS", "60"),
    ("MAX_RECEIVE_COUNT", "8"),
    ("WEBHOOK_LEASE_SECONDS", "45"),
    ("WEBHOOK_VISIBILITY_SECONDS", "90"),
];

/// After how long Lambda kills each function, by its name, as template.yaml says.
static TIMEOUTS: LazyLock<BTreeMap<String, Duration>> = LazyLock::new(|| {
    let template: Option<Value> = serde_yaml_ng::from_str(include_str!("../../template.yaml")).ok();
    let functions = template.as_ref().and_then(|template| template["Mappings"]["Timing"].as_mapping());
    let timeout = |(function, times): (&Value, &Value)| {
        Some((kebab_case(function.as_str()?), Duration::from_secs(times["TimeoutSeconds"].as_u64()?)))
    };
    functions.into_iter().flatten().filter_map(timeout).collect()
});

fn kebab_case(resource: &str) -> String {
    let mut name = String::new();
    for letter in resource.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

/// After how long Lambda kills this function.
pub fn timeout(function: &str) -> Result<Duration> {
    TIMEOUTS.get(function).copied().with_context(|| format!("template.yaml has no timeout for {function}"))
}

/// The tables of template.yaml: the variable that names each to the functions, and its name here.
pub fn tables() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLES.into_iter().map(|(variable, name, _)| (variable, name))
}

/// No mail waits for its turn: what is measured is the work.
const MAILS_PER_SECOND: &str = "100000";

/// The environment of a function whose AWS is at this URL.
pub fn variables(aws_url: &str) -> BTreeMap<String, String> {
    let mut variables: BTreeMap<String, String> =
        OTHERS.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    variables.extend(TABLES.iter().map(|(variable, table, _)| ((*variable).to_owned(), (*table).to_owned())));
    variables.extend(TIMEOUTS.iter().map(|(function, timeout)| {
        let name = function.to_ascii_uppercase().replace('-', "_");
        (format!("{name}_TIMEOUT_SECONDS"), timeout.as_secs().to_string())
    }));
    for (name, value) in [
        ("AWS_ENDPOINT_URL", aws_url.to_owned()),
        ("TICKETS_QUEUE_URL", format!("{aws_url}/123456789012/tickets")),
        ("DEAD_LETTER_QUEUE_URL", format!("{aws_url}/123456789012/dead-letters")),
        ("DOMAIN_EVENTS_DEAD_LETTER_QUEUE_URL", format!("{aws_url}/123456789012/domain-events-dead-letters")),
        ("WEBHOOK_EVENTS_QUEUE_URL", format!("{aws_url}/123456789012/webhook-events")),
        ("WEBHOOK_TICKETS_QUEUE_URL", format!("{aws_url}/123456789012/webhook-tickets")),
        ("WEBHOOK_DEAD_LETTER_QUEUE_URL", format!("{aws_url}/123456789012/webhook-dead-letters")),
        ("MAILS_PER_SECOND", MAILS_PER_SECOND.to_owned()),
        ("WORKER_CONCURRENCY", "1".to_owned()),
    ] {
        variables.insert(name.to_owned(), value);
    }
    variables
}
