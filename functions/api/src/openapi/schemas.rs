//! What single values look like in JSON.

use parceltrack::domain::{
    AttemptOutcome, CallError, Currency, Delivery, DomainEventType, InvoiceStatus, MAX_SECRETS, ParcelStatus,
    PhotoType, ProviderState, Role, TaxCode, WebhookDeliveryStatus, WebhookEventType,
};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::schema::ArrayBuilder;
use utoipa::openapi::schema::{SchemaFormat, SchemaType, Type};
use utoipa::openapi::{Array, Header, Object, ObjectBuilder};

/// Something that can be seen, and no control character or line break but at the ends, where they are taken off. What is
/// invisible beyond the sixteenth bit is left to the words: patterns of JSON have no short form for it.
const ONE_LINE: &str = concat!(
    r"^[\t-\r \u0085\u00a0\u2028\u2029]*[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*",
    r"[^\u0000-\u0020\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f",
    r"\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]",
    r"[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*[\t-\r \u0085\u00a0\u2028\u2029]*$"
);

/// No control character and no line break but at the ends.
const NO_CONTROL: &str = concat!(
    r"^[\t-\r \u0085\u00a0\u2028\u2029]*[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*",
    r"[\t-\r \u0085\u00a0\u2028\u2029]*$"
);

fn string() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

/// A whole number from `least` to `most`.
pub(crate) fn number(least: u32, most: u32) -> Object {
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(least)).maximum(Some(most)).build()
}

/// The same, or null, which says no more than absence.
pub(crate) fn or_null(mut object: Object) -> Object {
    if let SchemaType::Type(kind) = object.schema_type {
        object.schema_type = SchemaType::from_iter([kind, Type::Null]);
    }
    if let Some(values) = &mut object.enum_values {
        values.push(Value::Null);
    }
    object
}

/// Null, as good as absence.
pub(crate) fn null() -> Object {
    ObjectBuilder::new().schema_type(Type::Null).build()
}

fn one_of<T: Serialize>(values: impl IntoIterator<Item = T>) -> Object {
    string().enum_values(Some(values.into_iter().map(|value| json!(value)))).build()
}

/// Any text.
pub(crate) fn plain() -> Object {
    string().build()
}

/// A UUID with hyphens.
pub(crate) fn uuid() -> Object {
    string().format(Some(SchemaFormat::Custom("uuid".to_owned()))).build()
}

/// A moment after RFC 3339.
pub(crate) fn time() -> Object {
    string().format(Some(SchemaFormat::Custom("date-time".to_owned()))).build()
}

/// A day.
pub(crate) fn date() -> Object {
    string().format(Some(SchemaFormat::Custom("date".to_owned()))).build()
}

/// A decimal number: 1234.50, in yen 1234.
pub(crate) fn amount() -> Object {
    string().pattern(Some(r"^-?\d+(\.\d+)?$")).build()
}

/// A SHA-256 in hexadecimal.
pub(crate) fn sha256() -> Object {
    string().pattern(Some("^[0-9a-f]{64}$")).build()
}

/// `LCL` and eight or ten digits, the last of which checks the others (GS1).
pub(crate) fn tracking_number() -> Object {
    string().pattern(Some(r"^LCL[0-9]{8}([0-9]{2})?$")).examples([json!("LCL48291057")]).build()
}

/// Where a parcel is.
pub(crate) fn parcel_status() -> Object {
    one_of(ParcelStatus::ALL)
}

/// Where an invoice is.
pub(crate) fn invoice_status() -> Object {
    use InvoiceStatus::{Failed, Generated, Pending, Sent};
    one_of([Pending, Generated, Sent, Failed])
}

/// How an attempt ended.
pub(crate) fn attempt_outcome() -> Object {
    use AttemptOutcome::{Dropped, Failed, Parked, Reopened, Retried, Sent};
    one_of([Sent, Retried, Parked, Failed, Reopened, Dropped])
}

/// What the mail provider said last.
pub(crate) fn delivery() -> Object {
    use Delivery::{Accepted, Bounced, Complained, Delivered};
    one_of([Accepted, Delivered, Bounced, Complained])
}

/// Whether the mail provider takes mail.
pub(crate) fn provider_state() -> Object {
    one_of([ProviderState::Answers, ProviderState::Away])
}

/// What a key is for.
pub(crate) fn role() -> Object {
    one_of([Role::Merchant, Role::Driver, Role::Operator])
}

/// A merchant's name in our tables.
pub(crate) fn owner() -> Object {
    string().pattern(Some("^[a-z][a-z0-9-]{0,39}$")).build()
}

/// Where an endpoint is.
pub(crate) fn endpoint() -> Object {
    string()
        .max_length(Some(2048))
        .pattern(Some(r"^https://"))
        .format(Some(SchemaFormat::Custom("uri".to_owned())))
        .examples([json!("https://shop.example.com/webhooks")])
        .build()
}

/// Which events a webhook hears of.
pub(crate) fn event_types() -> Array {
    let all = DomainEventType::ALL;
    ArrayBuilder::new().items(one_of(all)).min_items(Some(1)).max_items(Some(all.len())).unique_items(true).build()
}

/// What kind of event is delivered.
pub(crate) fn delivered_event_type() -> Object {
    let all = DomainEventType::ALL.map(WebhookEventType::Event);
    one_of(all.into_iter().chain([WebhookEventType::Test]))
}

/// How far a delivery is.
pub(crate) fn delivery_status() -> Object {
    one_of(WebhookDeliveryStatus::ALL)
}

/// Why an endpoint gave no answer, or null.
pub(crate) fn optional_call_error() -> Object {
    or_null(one_of(CallError::ALL))
}

/// Whether a webhook gets events.
pub(crate) fn webhook_state() -> Object {
    one_of(["Active", "SwitchedOff"])
}

/// Why it was switched off, or null.
pub(crate) fn optional_switch_off_reason() -> Object {
    or_null(one_of(["FailedForDays", "Gone"]))
}

/// What became of the mail that says so, or null.
pub(crate) fn optional_notice() -> Object {
    or_null(one_of(["Pending", "Sent", "NotConfirmed", "TooMany", "Suppressed", "Refused"]))
}

/// Moments.
pub(crate) fn times() -> Array {
    ArrayBuilder::new().items(time()).max_items(Some(MAX_SECRETS)).build()
}

/// A currency by ISO 4217.
pub(crate) fn currency() -> Object {
    one_of([Currency::Sgd, Currency::Jpy])
}

/// How a line is taxed.
pub(crate) fn tax_code() -> Object {
    one_of(TaxCode::ALL)
}

/// The media type of a photograph.
pub(crate) fn photo_type() -> Object {
    one_of([PhotoType::Jpeg, PhotoType::Png, PhotoType::Webp].map(PhotoType::media_type))
}

/// One line of text that somebody sends.
pub(crate) fn text<const MAX: usize>() -> Object {
    string().min_length(Some(1)).max_length(Some(MAX)).pattern(Some(ONE_LINE)).build()
}

/// One line of text, or nothing.
pub(crate) fn optional_text<const MAX: usize>() -> Object {
    or_null(text::<MAX>())
}

/// An e-mail address that somebody sends.
pub(crate) fn email() -> Object {
    string()
        .max_length(Some(254))
        .format(Some(SchemaFormat::Custom("email".to_owned())))
        .examples([json!("tan@example.com")])
        .build()
}

/// A postal code of Singapore, or nothing.
pub(crate) fn optional_postal_code() -> Object {
    or_null(string().pattern(Some("^[0-9]{6}$")).examples([json!("018956")]).build())
}

/// A moment that somebody sends, or nothing.
pub(crate) fn optional_time() -> Object {
    or_null(time())
}

/// A weight in grams, or nothing.
pub(crate) fn optional_weight() -> Object {
    or_null(number(1, 50_000))
}

/// The size of a photograph in bytes.
pub(crate) fn photo_size() -> Object {
    number(1, 5 * 1024 * 1024)
}

/// How many a page of a list shall have.
pub(crate) fn limit() -> Object {
    let mut limit = number(1, crate::query::MAX_LIMIT.into());
    limit.default = Some(json!(20));
    limit
}

/// What is looked for, if it is anything.
pub(crate) fn search() -> Object {
    string().max_length(Some(100)).pattern(Some(NO_CONTROL)).examples([json!("tan")]).build()
}

/// Text that matches.
pub(crate) fn matching(pattern: &str) -> Object {
    string().pattern(Some(pattern)).build()
}

/// One of these words.
pub(crate) fn word<const N: usize>(words: [&str; N]) -> Object {
    one_of(words)
}

/// A header of an answer.
pub(crate) fn header(schema: Object, description: &str) -> Header {
    let mut header = Header::new(schema);
    header.description = Some(description.to_owned());
    header
}

/// `Retry-After` in seconds.
pub(crate) fn retry_after() -> Header {
    header(ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).build(), "Seconds to wait")
}
