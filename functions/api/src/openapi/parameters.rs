//! What stands in paths, queries and headers of more than one call.

use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::{Object, Required};

use super::schemas;

fn parameter(place: ParameterIn, name: &str, schema: Object, description: &str) -> Parameter {
    let required = if place == ParameterIn::Path { Required::True } else { Required::False };
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place)
        .required(required)
        .schema(Some(schema))
        .description(Some(description))
        .build()
}

fn required(mut parameter: Parameter) -> Parameter {
    parameter.required = Required::True;
    parameter
}

/// What the caller calls the request.
pub(crate) fn request_id() -> Parameter {
    let description = "What you call this request: 1 to 64 letters, digits or `-_=.:/+`. Others are replaced";
    parameter(ParameterIn::Header, "X-Request-Id", schemas::plain(), description)
}

fn owner() -> Parameter {
    let name = schemas::matching("^[a-z][a-z0-9-]{0,39}$");
    parameter(ParameterIn::Query, "owner", name, "Whose; another's than one's own is for operators")
}

macro_rules! parameters {
    ($($(#[$comment:meta])* $name:ident: [$($parameter:expr),+ $(,)?];)+) => {$(
        $(#[$comment])*
        pub(crate) struct $name;

        impl IntoParams for $name {
            fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
                vec![$($parameter),+]
            }
        }
    )+};
}

const UUID: &str = "[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}";

parameters! {
    /// The parcel in the path.
    ParcelInPath: [parameter(
        ParameterIn::Path,
        "id",
        schemas::matching(&format!("^({UUID}|LCL[0-9]{{8}}([0-9]{{2}})?)$")),
        "The parcel's id, or its tracking number",
    )];
    /// The tracking number in the path.
    TrackingNumberInPath: [parameter(
        ParameterIn::Path,
        "trackingNumber",
        schemas::tracking_number(),
        "`LCL` and eight or ten digits, the last of which checks the others",
    )];
    /// The invoice in the path.
    InvoiceInPath: [parameter(
        ParameterIn::Path,
        "id",
        schemas::matching(&format!("^{UUID}$")),
        "The invoice's id",
    )];
    /// The webhook in the path, and whose it is.
    WebhookInPath: [
        parameter(ParameterIn::Path, "id", schemas::matching(&format!("^{UUID}$")), "The webhook's id"),
        owner(),
    ];
    /// The delivery in the path.
    DeliveryInPath: [parameter(
        ParameterIn::Path,
        "deliveryId",
        schemas::matching(&format!("^(parcel|invoice|test)-{UUID}-[0-9]{{1,19}}$")),
        "The delivery's id",
    )];
    /// Whose webhooks.
    OwnerNamed: [owner()];
    /// Which deliveries a list has.
    DeliveriesWanted: [parameter(
        ParameterIn::Query,
        "status",
        schemas::delivery_status(),
        "Only those that have it",
    )];
    /// The token of a mailed link in the path.
    TokenInPath: [parameter(ParameterIn::Path, "token", schemas::plain(), "What stands in the mail")];
    /// The key that makes a call safe to repeat.
    IdempotencyKey: [parameter(
        ParameterIn::Header,
        "Idempotency-Key",
        schemas::matching("^[!-~]{1,255}$"),
        "The same key with the same body gets the first answer again, for 24 h",
    )];
    /// How an answer with a link shall be.
    LinkOrRedirect: [parameter(
        ParameterIn::Header,
        "Accept",
        schemas::plain(),
        "`application/json` gets the link in a body: a page cannot follow a redirect without its key",
    )];
    /// How the file shall be opened.
    Disposition: [parameter(
        ParameterIn::Query,
        "disposition",
        schemas::word(["inline", "attachment"]),
        "Whether the file is shown, as usual, or saved",
    )];
    /// Which parcels a list has.
    ParcelsWanted: [
        parameter(ParameterIn::Query, "status", schemas::parcel_status(), "Only those that are there now"),
        parameter(ParameterIn::Query, "q", schemas::search(), "A tracking number, or the beginning of a reference or a recipient"),
        owner(),
    ];
    /// Which invoices a list has.
    FailedWanted: [required(parameter(
        ParameterIn::Query,
        "status",
        schemas::word(["Failed"]),
        "No other status has a list",
    ))];
    /// Which page of a list.
    Page: [
        parameter(ParameterIn::Query, "limit", schemas::limit(), "How many, at most"),
        parameter(
            ParameterIn::Query,
            "cursor",
            schemas::matching("^[A-Za-z0-9_-]+$"),
            "The `nextCursor` of the page before, of the same list",
        ),
    ];
}
