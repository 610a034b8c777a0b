//! What callers send. Nothing else is taken: a typing error in a field's name must not be lost.

use std::borrow::Cow;

use parceltrack::domain::{MAX_LINES, MAX_QUANTITY};
use serde_json::json;
use utoipa::openapi::schema::{AdditionalProperties, AnyOfBuilder, ArrayBuilder, Type};
use utoipa::openapi::{Object, ObjectBuilder, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::schemas::{self, optional_text, text};

fn object<const N: usize>(required: [&str; N]) -> ObjectBuilder {
    let object = ObjectBuilder::new().schema_type(Type::Object);
    required
        .into_iter()
        .fold(object, ObjectBuilder::required)
        .additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false)))
}

macro_rules! bodies {
    ($($(#[$comment:meta])* $name:ident = $schema:expr;)+) => {$(
        $(#[$comment])*
        pub(crate) struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                RefOr::T(Schema::from($schema))
            }
        }

        impl ToSchema for $name {
            fn name() -> Cow<'static, str> {
                stringify!($name).into()
            }
        }
    )+};
}

bodies! {
    /// Of `POST /api/parcels`.
    NewParcel = object(["recipient", "email"])
        .property("recipient", text::<200>())
        .property("email", schemas::email())
        .property("address", optional_text::<300>())
        .property("postalCode", schemas::optional_postal_code())
        .property("phone", optional_text::<30>())
        .property("reference", optional_text::<100>())
        .property("weightGrams", schemas::optional_weight())
        .build();
    /// Of `POST /api/parcels/{id}/events`.
    NewEvent = object(["status"])
        .property("status", schemas::parcel_status())
        .property("occurredAt", schemas::optional_time())
        .property("location", optional_text::<100>())
        .property("note", optional_text::<200>())
        .build();
    /// Of `POST /api/parcels/{id}/proof-of-delivery`.
    NewPhotograph = object(["contentType", "size"])
        .property("contentType", schemas::photo_type())
        .property("size", schemas::photo_size())
        .build();
    /// Of `PUT /api/invoices/{id}/email`.
    NewAddress = object(["email"]).property("email", schemas::email()).build();
    /// Of `POST /api/invoices/{id}/resend`.
    Nothing = object([]).build();
    /// Of `POST /api/webhooks`.
    NewWebhook = object(["url", "eventTypes", "contactEmail"])
        .property("url", schemas::endpoint())
        .property("eventTypes", schemas::event_types())
        .property("contactEmail", schemas::email())
        .property("description", optional_text::<200>())
        .build();
    /// Of `POST /api/webhooks/{id}/resend`.
    ResendSince = object(["since"])
        .property("since", schemas::time())
        .property("which", schemas::or_null(schemas::word(["undelivered", "all"])))
        .build();
    /// Of `POST /api/parcels/{id}/invoice`: the delivery, at the usual fee or at this one; or lines.
    InvoiceRequest = AnyOfBuilder::new()
        .item(
            object([])
                .property("amount", schemas::or_null(dollars()))
                .property("lines", schemas::null())
                .property("currency", schemas::or_null(schemas::word(["SGD"]))),
        )
        .item(
            object(["lines"])
                .property("amount", schemas::null())
                .property("lines", lines(&dollars(), || schemas::or_null(schemas::tax_code()), false))
                .property("currency", schemas::or_null(schemas::word(["SGD"]))),
        )
        .item(
            object(["lines", "currency"])
                .property("amount", schemas::null())
                .property("lines", lines(&yen(), || schemas::word(["zeroRated", "exempt"]), true))
                .property("currency", schemas::word(["JPY"])),
        )
        .description(Some("All that an invoice comes to is at most 1,000,000, before GST."))
        .build();
}

/// 0 to 1,000,000 dollars.
fn dollars() -> Object {
    let mut amount = schemas::matching(r"^0*(1000000(\.0{1,2})?|[0-9]{1,6}(\.[0-9]{1,2})?)$");
    amount.examples = vec![json!("12.50")];
    amount
}

/// 0 to 1,000,000 yen, which have no decimals. They are for lines without tax.
fn yen() -> Object {
    schemas::matching("^0*(1000000|[0-9]{1,6})$")
}

fn lines(price: &Object, tax_code: impl Fn() -> Object, says_tax_code: bool) -> ArrayBuilder {
    let line = if says_tax_code {
        object(["description", "unitPrice", "taxCode"])
    } else {
        object(["description", "unitPrice"])
    };
    let line = line
        .property("description", text::<200>())
        .property("quantity", schemas::or_null(schemas::number(1, MAX_QUANTITY)))
        .property("unitPrice", price.clone())
        .property("taxCode", tax_code());
    ArrayBuilder::new().items(line).min_items(Some(1)).max_items(Some(MAX_LINES))
}
