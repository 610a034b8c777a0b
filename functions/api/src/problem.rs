//! What can go wrong, and how HTTP says it: RFC 9457 problem details, one shape for every status.
//!
//! A caller sees what helps the caller. The cause of a 5xx is in the log, under the same request id.

use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use parceltrack::domain::{InvoiceId, MAX_EVENTS, MAX_WEBHOOKS, ParcelStatus, RequestId};
use parceltrack::ports::PortError;
use serde::Serialize;
use utoipa::ToSchema;

use crate::openapi::schemas;

/// After how many seconds a caller may ask again for what was unavailable.
const RETRY_AFTER_SECONDS: u16 = 2;

/// So many fields at fault are named; a list of them all could be longer than what Lambda can answer.
pub(crate) const MOST_NAMED: usize = 50;

/// So many characters of what a caller wrote, or of what is said about it, stand in an answer.
const MOST_QUOTED: usize = 200;

/// A field or parameter at fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct FieldProblem {
    /// Its name, with its place for nested ones: `lines[3].unitPrice`.
    pub(crate) field: String,
    /// What is wrong with it, to be read after its name.
    pub(crate) message: String,
}

/// RFC 9457, with what is our own after `detail`.
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProblemDetails<'a> {
    /// What happened, for programs.
    #[schema(pattern = "^/problems/[a-z-]+$")]
    r#type: String,
    /// The same in words, always the same ones.
    title: &'static str,
    /// The status of the answer.
    status: u16,
    /// What happened this time, for people.
    detail: String,
    /// What the request is called; quote it to us.
    request_id: &'a str,
    /// The fields or parameters at fault.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<FieldProblem>, required = false, max_items = 50)]
    errors: &'a [FieldProblem],
    /// How many there are; `errors` names the first fifty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u32, required = false)]
    error_count: Option<usize>,
    /// The invoice that there is, for `invoice-differs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = schemas::uuid)]
    invoice_id: Option<InvoiceId>,
    /// Where the parcel is, for `step-not-allowed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = schemas::parcel_status)]
    current_status: Option<ParcelStatus>,
}

/// An answer other than the one the caller hoped for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// 400: the event or the body is not what HTTP and JSON allow.
    Malformed(String),
    /// 400: a path, query or header parameter is wrong.
    InvalidParameter(FieldProblem),
    /// 422: fields of the body are wrong.
    InvalidFields {
        /// The first [`MOST_NAMED`] of them.
        first: Vec<FieldProblem>,
        /// How many there are.
        number: usize,
    },
    /// 401: no key, or none that is good.
    Unauthorized,
    /// 403: the key is good, but not for this.
    Forbidden,
    /// 404: there is no such thing, or not for this caller.
    NotFound(&'static str),
    /// 405: the path exists, for other methods.
    MethodNotAllowed,
    /// 409: the parcel has an invoice with other content.
    InvoiceDiffers(InvoiceId),
    /// 409: a parcel does not go from where it is to there.
    StepNotAllowed {
        /// Where it is.
        current: ParcelStatus,
        /// Where it was to go.
        wanted: ParcelStatus,
    },
    /// 409: the parcel's timeline takes no more lines.
    TimelineFull,
    /// 409: a worker has the invoice right now; in a few seconds it has not.
    InvoiceBusy,
    /// 409: the invoice's address gets no mail any more; another one does.
    AddressSuppressed,
    /// 409: the invoice was mailed, or readdressed, so often that it is enough.
    MailedTooOften,
    /// 409: the merchant has as many webhooks as one may have.
    TooManyWebhooks,
    /// 409: the webhook is switched off.
    WebhookSwitchedOff,
    /// 413: more than the limit named here, in bytes.
    TooLarge(usize),
    /// 415: a body that says it is not JSON, or JSON in another encoding than UTF-8.
    NotJson,
    /// 422: the idempotency key came with other content before.
    KeyUsedForOtherContent,
    /// 429: the same was asked for a moment ago.
    TooManyRequests {
        /// Until it may be asked for again.
        retry_after: Duration,
    },
    /// 503: something we need is away; the same call may succeed later.
    Unavailable,
    /// 503: it took too long, and nobody knows what was done.
    TimedOut,
    /// 500: our fault.
    Internal,
}

impl FieldProblem {
    /// However long the field's name, which a caller may have made up.
    pub(crate) fn new(field: &str, message: &str) -> Self {
        Self { field: quoted(field), message: quoted(message) }
    }
}

/// The beginning of a text that may be of any length.
pub(crate) fn quoted(text: &str) -> String {
    match text.char_indices().nth(MOST_QUOTED) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

impl Problem {
    /// A path, query or header parameter that is wrong.
    pub(crate) fn invalid_parameter(name: &str, message: &str) -> Self {
        Self::InvalidParameter(FieldProblem::new(name, message))
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::Malformed(_) | Self::InvalidParameter(_) => StatusCode::BAD_REQUEST,
            Self::InvalidFields { .. } | Self::KeyUsedForOtherContent => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::InvoiceDiffers(_)
            | Self::StepNotAllowed { .. }
            | Self::TimelineFull
            | Self::InvoiceBusy
            | Self::AddressSuppressed
            | Self::MailedTooOften
            | Self::TooManyWebhooks
            | Self::WebhookSwitchedOff => StatusCode::CONFLICT,
            Self::TooManyRequests { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::NotJson => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Unavailable | Self::TimedOut => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Stable names for programs; `docs/api.md` lists them.
    fn kind(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "malformed-request",
            Self::InvalidParameter(_) => "invalid-parameter",
            Self::InvalidFields { .. } => "invalid-fields",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::NotFound(_) => "not-found",
            Self::MethodNotAllowed => "method-not-allowed",
            Self::InvoiceDiffers(_) => "invoice-differs",
            Self::StepNotAllowed { .. } => "step-not-allowed",
            Self::TimelineFull => "timeline-full",
            Self::InvoiceBusy => "invoice-busy",
            Self::AddressSuppressed => "address-suppressed",
            Self::MailedTooOften => "mailed-too-often",
            Self::TooManyWebhooks => "too-many-webhooks",
            Self::WebhookSwitchedOff => "webhook-switched-off",
            Self::TooManyRequests { .. } => "too-many-requests",
            Self::TimedOut => "timed-out",
            Self::TooLarge(_) => "body-too-large",
            Self::NotJson => "not-json",
            Self::KeyUsedForOtherContent => "idempotency-key-reused",
            Self::Unavailable => "unavailable",
            Self::Internal => "internal",
        }
    }

    fn title(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "The request cannot be read",
            Self::InvalidParameter(_) => "A parameter is wrong",
            Self::InvalidFields { .. } => "Some fields are wrong",
            Self::Unauthorized => "An API key is needed",
            Self::Forbidden => "This key is not for that",
            Self::NotFound(_) => "Not found",
            Self::MethodNotAllowed => "This path has other methods",
            Self::InvoiceDiffers(_) => "The parcel has another invoice",
            Self::StepNotAllowed { .. } => "The parcel is elsewhere on its way",
            Self::TimelineFull => "The parcel's timeline is full",
            Self::InvoiceBusy => "The invoice is being mailed right now",
            Self::AddressSuppressed => "This address gets no mail any more",
            Self::MailedTooOften => "The invoice was mailed too often",
            Self::TooManyWebhooks => "There are too many webhooks",
            Self::WebhookSwitchedOff => "The webhook is switched off",
            Self::TooManyRequests { .. } => "Too many requests",
            Self::TimedOut => "It took too long",
            Self::TooLarge(_) => "The request is too large",
            Self::NotJson => "The body must be JSON",
            Self::KeyUsedForOtherContent => "The idempotency key was used for another request",
            Self::Unavailable => "Temporarily unavailable",
            Self::Internal => "Something went wrong on our side",
        }
    }

    fn detail(&self) -> String {
        match self {
            Self::Malformed(detail) => detail.clone(),
            Self::InvalidParameter(problem) => format!("{} {}.", problem.field, problem.message),
            Self::InvalidFields { first, number } => {
                let named: Vec<_> =
                    first.iter().map(|problem| format!("{} {}", problem.field, problem.message)).collect();
                let more =
                    if *number > first.len() { format!("; and {} more", number - first.len()) } else { String::new() };
                format!("{}{more}.", named.join("; "))
            }
            Self::Unauthorized => "Send a good key with Authorization: Bearer pt_….".to_owned(),
            Self::Forbidden => "Keys of another role may do this.".to_owned(),
            Self::NotFound(what) => format!("There is no such {what}."),
            Self::MethodNotAllowed => "The Allow header names them.".to_owned(),
            Self::InvoiceDiffers(id) => {
                format!("A parcel has one invoice, ever. Invoice {id} exists and says something else.")
            }
            Self::StepNotAllowed { current, wanted } => {
                format!("The parcel is {current}, and from there it does not become {wanted}.")
            }
            Self::TimelineFull => format!("A timeline has at most {MAX_EVENTS} lines. Please call us."),
            Self::InvoiceBusy => "Nothing was changed. Please try again in a few seconds.".to_owned(),
            Self::AddressSuppressed => {
                "Earlier mail to it came back for good, or was called spam. Set another address first.".to_owned()
            }
            Self::MailedTooOften => "It has had a hundred mails or addresses. Please write to us.".to_owned(),
            Self::TooManyWebhooks => format!("A merchant has at most {MAX_WEBHOOKS}. Delete one first."),
            Self::WebhookSwitchedOff => "Enable it first.".to_owned(),
            Self::TooManyRequests { .. } => "Please wait as long as Retry-After says.".to_owned(),
            Self::TimedOut => {
                "It may have been done or not. Look, or send the same request again: nothing is done twice by it."
                    .to_owned()
            }
            Self::TooLarge(limit) => format!("At most {limit} bytes are read."),
            Self::NotJson => {
                "Send it with Content-Type: application/json, in UTF-8 and without a Content-Encoding.".to_owned()
            }
            Self::KeyUsedForOtherContent => "Send the same content again, or use a new Idempotency-Key.".to_owned(),
            Self::Unavailable => {
                // A call that we gave up on may have taken effect.
                "It may or may not have been done. Please try again in a moment; with the same Idempotency-Key nothing is \
                 done twice."
                    .to_owned()
            }
            Self::Internal => "We have been told. Please quote the request id.".to_owned(),
        }
    }

    /// The answer in full. `request_id` stands in it so that a person can quote it to us.
    pub(crate) fn render(&self, request_id: &RequestId) -> Response {
        let details = ProblemDetails {
            r#type: format!("/problems/{}", self.kind()),
            title: self.title(),
            status: self.status().as_u16(),
            detail: self.detail(),
            request_id: request_id.as_str(),
            errors: match self {
                Self::InvalidParameter(problem) => std::slice::from_ref(problem),
                Self::InvalidFields { first, .. } => first,
                _ => &[],
            },
            error_count: match self {
                Self::InvalidParameter(_) => Some(1),
                Self::InvalidFields { number, .. } => Some(*number),
                _ => None,
            },
            invoice_id: match self {
                Self::InvoiceDiffers(id) => Some(*id),
                _ => None,
            },
            current_status: match self {
                Self::StepNotAllowed { current, .. } => Some(*current),
                _ => None,
            },
        };
        let body = serde_json::to_vec(&details).unwrap_or_default();
        let length = body.len();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        headers.insert(CONTENT_LENGTH, length.into());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        match self {
            // RFC 9110 section 15.5.2 wants it, RFC 6750 section 3 says how.
            Self::Unauthorized => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"ParcelTrack\""));
            }
            Self::Unavailable | Self::TimedOut => {
                headers.insert(RETRY_AFTER, HeaderValue::from(RETRY_AFTER_SECONDS));
            }
            Self::InvoiceBusy => {
                headers.insert(RETRY_AFTER, HeaderValue::from_static("5"));
            }
            Self::TooManyRequests { retry_after } => {
                headers.insert(RETRY_AFTER, whole_seconds(*retry_after).into());
            }
            Self::InvoiceDiffers(id) => {
                if let Ok(location) = HeaderValue::from_str(&format!("/api/invoices/{id}")) {
                    headers.insert(LOCATION, location);
                }
            }
            _ => {}
        }
        response
    }
}

/// Rounded up, so that whoever waits so long has waited long enough.
fn whole_seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

impl IntoResponse for Problem {
    /// Only the edge knows the request's id, so it renders: here the problem travels along.
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = self.status();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<PortError> for Problem {
    fn from(error: PortError) -> Self {
        match error {
            PortError::Unavailable(cause) => {
                tracing::warn!(cause, "answered 503");
                Self::Unavailable
            }
            PortError::Broken(cause) => {
                tracing::error!(cause, "answered 500");
                Self::Internal
            }
        }
    }
}
