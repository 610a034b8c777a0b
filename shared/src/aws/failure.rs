//! What an SDK error asks us to do.

use std::error::Error;

use aws_sdk_dynamodb::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};

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

/// Sorts an error by what to do about it. Whatever the service itself did not refuse may pass by.
pub(super) fn port_error<E, R>(error: &SdkError<E, R>) -> PortError
where
    E: ProvideErrorMetadata + Error + 'static,
    R: std::fmt::Debug,
{
    let text = describe(error);
    match error.as_service_error().map(ProvideErrorMetadata::code) {
        Some(Some(code)) if !PASSING.contains(&code) => PortError::Broken(text),
        _ => PortError::Unavailable(text),
    }
}

/// The service's own words where there are any; otherwise the whole chain of causes.
pub(super) fn describe<E, R>(error: &SdkError<E, R>) -> String
where
    E: ProvideErrorMetadata + Error + 'static,
    R: std::fmt::Debug,
{
    match error.as_service_error().map(|service| (service.code(), service.message())) {
        Some((Some(code), Some(message))) => format!("{code}: {message}"),
        Some((Some(code), None)) => code.to_owned(),
        _ => DisplayErrorContext(error).to_string(),
    }
}
