//! What the API must be told.

use http::HeaderValue;
use parceltrack::domain::{AddressRule, Billing, Currency, MailRate, Money, OriginSecretHashes, Seller, Text};
use parceltrack::invocation::Timeout;
use parceltrack::settings::{InvalidSetting, mail_rate, optional, parsed, required, webhook_addresses};

/// Who makes the API's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CalledBy {
    /// API Gateway, with the routes of template.yaml.
    ApiGateway,
    /// A program that plays it: the local stack, `cargo lambda watch`, `sam local`.
    Laptop,
}

/// The API's settings, from the environment variables of the same names in capitals.
#[derive(Clone, Debug)]
pub struct Settings {
    /// After how long Lambda kills the function.
    pub timeout: Timeout,
    /// Table of API keys.
    pub api_keys_table: String,
    /// Table of parcels.
    pub parcels_table: String,
    /// Table that keeps tracking numbers unique.
    pub tracking_numbers_table: String,
    /// Table of idempotency keys.
    pub idempotency_table: String,
    /// Table of invoices.
    pub invoices_table: String,
    /// Table of addresses that get no mail any more.
    pub suppressions_table: String,
    /// Queue of tickets.
    pub tickets_queue_url: String,
    /// Queue of tickets that a person must look at.
    pub dead_letter_queue_url: String,
    /// Table that counts sent mails.
    pub throughput_table: String,
    /// What the mail provider allows, and how many workers share it.
    pub mail_rate: MailRate,
    /// Bucket of PDFs.
    pub invoices_bucket: String,
    /// Bucket of photographs that prove deliveries.
    pub proofs_bucket: String,
    /// Table of webhooks.
    pub webhooks_table: String,
    /// Table of their deliveries.
    pub webhook_deliveries_table: String,
    /// Queue of tickets of deliveries.
    pub webhook_tickets_queue_url: String,
    /// Queue of events for webhooks.
    pub webhook_events_queue_url: String,
    /// Which addresses endpoints may have.
    pub webhook_addresses: AddressRule,
    /// The pages that may call from a browser, separated by commas; none without it.
    pub allowed_origins: Vec<HeaderValue>,
    /// Who makes its events.
    pub called_by: CalledBy,
    /// By which the API knows what came by `CloudFront`; without them it answers everybody.
    pub origin_secrets: Option<OriginSecretHashes>,
    /// What all invoices have in common.
    pub billing: Billing,
}

impl Settings {
    /// Reads them all, or says which one is missing or wrong.
    pub fn from_env() -> Result<Self, InvalidSetting> {
        let wrong = |name, problem: &dyn ToString| InvalidSetting::Wrong { name, problem: problem.to_string() };
        Ok(Self {
            timeout: Timeout::from_env("API_TIMEOUT_SECONDS")?,
            called_by: if required("ENVIRONMENT")? == "local" { CalledBy::Laptop } else { CalledBy::ApiGateway },
            api_keys_table: required("API_KEYS_TABLE")?,
            parcels_table: required("PARCELS_TABLE")?,
            tracking_numbers_table: required("TRACKING_NUMBERS_TABLE")?,
            idempotency_table: required("IDEMPOTENCY_TABLE")?,
            invoices_table: required("INVOICES_TABLE")?,
            suppressions_table: required("SUPPRESSIONS_TABLE")?,
            tickets_queue_url: required("TICKETS_QUEUE_URL")?,
            dead_letter_queue_url: required("DEAD_LETTER_QUEUE_URL")?,
            throughput_table: required("THROUGHPUT_TABLE")?,
            mail_rate: mail_rate()?,
            invoices_bucket: required("INVOICES_BUCKET")?,
            proofs_bucket: required("PROOFS_BUCKET")?,
            webhooks_table: required("WEBHOOKS_TABLE")?,
            webhook_deliveries_table: required("WEBHOOK_DELIVERIES_TABLE")?,
            webhook_tickets_queue_url: required("WEBHOOK_TICKETS_QUEUE_URL")?,
            webhook_events_queue_url: required("WEBHOOK_EVENTS_QUEUE_URL")?,
            webhook_addresses: webhook_addresses()?,
            allowed_origins: optional("ALLOWED_ORIGINS")
                .unwrap_or_default()
                .split(',')
                .filter(|origin| !origin.trim().is_empty())
                .map(|origin| HeaderValue::from_str(origin.trim()).map_err(|error| wrong("ALLOWED_ORIGINS", &error)))
                .collect::<Result<_, _>>()?,
            origin_secrets: optional("ORIGIN_SECRET_HASHES")
                .map(|text| text.parse::<OriginSecretHashes>().map_err(|error| wrong("ORIGIN_SECRET_HASHES", &error)))
                .transpose()?,
            billing: Billing {
                seller: Seller {
                    name: text("SELLER_NAME")?,
                    address: text("SELLER_ADDRESS")?,
                    gst_number: text("SELLER_GST_NUMBER")?,
                    registration_number: text("SELLER_UEN")?,
                    email: parsed("SELLER_EMAIL")?,
                },
                payment_terms_days: parsed("PAYMENT_TERMS_DAYS")?,
                delivery_fee: Money::parse(&required("DELIVERY_FEE")?, Currency::Sgd)
                    .map_err(|error| wrong("DELIVERY_FEE", &error))?,
            },
        })
    }
}

fn text<const MAX: usize>(name: &'static str) -> Result<Text<MAX>, InvalidSetting> {
    Text::try_from(required(name)?).map_err(|error| InvalidSetting::Wrong { name, problem: error.to_string() })
}
