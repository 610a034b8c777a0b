//! What an SDK error asks us to do, and what may be said of it.
//!
//! Guarantee: the words are our own. An answer, the message of a service and the causes that the SDK tells may quote a row,
//! so none of them is repeated; only what has the form of a code or of a request's id is.

use std::any::type_name;

use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{ConnectorError, ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::RequestId as _;

use crate::ports::PortError;

/// Codes after which the same call may succeed later, though the SDK's own retries did not help.
const PASSING: [&str; 13] = [
    "InternalServerError",
    "InternalFailure",
    "InternalError",
    "LimitExceededException",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "ServiceUnavailable",
    "SlowDown",
    "Throttling",
    "ThrottlingException",
    "TransactionConflictException",
    "TransactionInProgressException",
];

/// Codes whose names do not end as those of errors do.
const OTHER_CODES: [&str; 17] = [
    "AccessDenied",
    "ConditionalCheckFailed",
    "ExpiredToken",
    "InvalidAccessKeyId",
    "InvalidClientTokenId",
    "InvalidMessageContents",
    "ItemCollectionSizeLimitExceeded",
    "MessageRejected",
    "NoSuchBucket",
    "NoSuchKey",
    "NotFound",
    "ProvisionedThroughputExceeded",
    "QueueDoesNotExist",
    "ReceiptHandleIsInvalid",
    "RequestTimeTooSkewed",
    "SignatureDoesNotMatch",
    "TransactionConflict",
];

/// Sorts an error by what to do about it. Whatever the service itself did not refuse may pass by.
pub(super) fn port_error<E: ProvideErrorMetadata>(error: &SdkError<E, HttpResponse>) -> PortError {
    let text = describe(error);
    let broke = error.raw_response().is_some_and(|answer| answer.status().is_server_error());
    match error.as_service_error().map(ProvideErrorMetadata::code) {
        Some(Some(code)) if !broke && !PASSING.contains(&code) => PortError::Broken(text),
        _ => PortError::Unavailable(text),
    }
}

/// Such as `dynamodb GetItem: unreadable answer, HTTP 200, request VVELRJTQ`.
pub(super) fn describe<E: ProvideErrorMetadata>(error: &SdkError<E, HttpResponse>) -> String {
    let kind = match error {
        SdkError::ConstructionFailure(_) => "request not made",
        SdkError::TimeoutError(_) => "timeout",
        SdkError::DispatchFailure(failure) => match failure.as_connector_error() {
            Some(connector) if connector.is_timeout() => "connect timeout",
            Some(connector) if ConnectorError::is_user(connector) => "request not sent",
            _ => "no connection",
        },
        // Where the SDK expects a refusal and finds no code, such as in a gateway's page, it has not read it either.
        SdkError::ResponseError(_) => "unreadable answer",
        SdkError::ServiceError(refusal) => refusal.err().code().map_or("unreadable answer", shown_code),
        _ => "unknown error",
    };
    let status = error.raw_response().map(|answer| format!(", HTTP {}", answer.status().as_u16()));
    let request = error.request_id().filter(|id| is_request_id(id)).map(|id| format!(", request {id}"));
    format!("{}: {kind}{}{}", call_of::<E>(), status.unwrap_or_default(), request.unwrap_or_default())
}

/// A code as AWS gives them, such as `ThrottlingException`. Anything else that stands in its place is not repeated.
pub(super) fn shown_code(code: &str) -> &str {
    let name = code.chars().all(|character| character.is_ascii_alphabetic()) && code.len() <= 64;
    let ends_like_one = ["Exception", "Error", "Failure"].iter().any(|end| code.ends_with(end));
    let known = PASSING.contains(&code) || OTHER_CODES.contains(&code);
    if known || (name && ends_like_one) { code } else { "unknown code" }
}

fn is_request_id(id: &str) -> bool {
    (8..=64).contains(&id.len()) && id.chars().all(|character| character.is_ascii_alphanumeric() || character == '-')
}

/// Service and operation, which stand in the name of the error's type:
/// `aws_sdk_dynamodb::operation::get_item::GetItemError`.
fn call_of<E>() -> String {
    let name = type_name::<E>();
    let service = name.split("::").next().unwrap_or_default().trim_start_matches("aws_sdk_");
    let operation = name.rsplit("::").next().unwrap_or_default().trim_end_matches("Error");
    format!("{service} {operation}")
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::error::ErrorMetadata;
    use aws_sdk_dynamodb::operation::get_item::GetItemError;
    use proptest::prelude::*;

    use super::*;

    const SECRET: &str = "Zebedee <zebedee@example.com> +65 9123 4567";

    fn answer(status: u16, request_id: &'static str) -> HttpResponse {
        let mut answer = HttpResponse::new(status.try_into().unwrap(), SECRET.into());
        answer.headers_mut().insert("x-amzn-requestid", request_id);
        answer
    }

    fn refused(status: u16, code: &str) -> SdkError<GetItemError, HttpResponse> {
        let metadata = ErrorMetadata::builder().code(code).message(SECRET).build();
        SdkError::service_error(GetItemError::generic(metadata), answer(status, "VVELRJTQP3CQ55U3"))
    }

    #[test]
    fn an_error_says_which_call_what_happened_and_where_aws_can_look() {
        assert_eq!(
            describe(&refused(400, "ValidationException")),
            "dynamodb GetItem: ValidationException, HTTP 400, request VVELRJTQP3CQ55U3"
        );
        let unreadable = SdkError::<GetItemError, _>::response_error(SECRET, answer(200, "VVELRJTQP3CQ55U3"));
        assert_eq!(describe(&unreadable), "dynamodb GetItem: unreadable answer, HTTP 200, request VVELRJTQP3CQ55U3");
        let late = SdkError::<GetItemError, HttpResponse>::timeout_error(SECRET);
        assert_eq!(describe(&late), "dynamodb GetItem: timeout");
        let away = ConnectorError::io(SECRET.into());
        assert_eq!(
            describe(&SdkError::<GetItemError, HttpResponse>::dispatch_failure(away)),
            "dynamodb GetItem: no connection"
        );
        let unmade = SdkError::<GetItemError, HttpResponse>::construction_failure(SECRET);
        assert_eq!(describe(&unmade), "dynamodb GetItem: request not made");
    }

    #[test]
    fn what_the_service_broke_over_may_pass_and_what_it_refuses_does_not() {
        assert!(matches!(port_error(&refused(400, "ValidationException")), PortError::Broken(_)));
        assert!(matches!(port_error(&refused(400, "ThrottlingException")), PortError::Unavailable(_)));
        assert!(matches!(port_error(&refused(500, "InternalException")), PortError::Unavailable(_)));
    }

    proptest! {
        #[test]
        fn no_word_of_an_answer_is_repeated_wherever_it_stands(word in "[a-z]{3,12}[@ .0-9][a-zA-Z0-9 .@:#-]{0,40}", status in 200_u16..600) {
            let metadata = ErrorMetadata::builder().code(&word).message(&word).build();
            let mut raw = HttpResponse::new(status.try_into().unwrap(), word.clone().into());
            raw.headers_mut().insert("x-amzn-requestid", format!("{word} "));
            let errors = [
                SdkError::service_error(GetItemError::generic(metadata), raw),
                SdkError::response_error(word.clone(), answer(status, "short")),
                SdkError::timeout_error(word.clone()),
            ];
            for error in errors {
                let told = describe(&error);
                prop_assert!(!told.contains(&word), "{told}");
            }
        }
    }
}
