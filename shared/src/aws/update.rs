//! Updates with a condition, which tell what was in their way.

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::operation::update_item::builders::UpdateItemFluentBuilder;

use super::failure::port_error;
use super::row::Row;
use crate::ports::PortError;

/// Sends an update; if its condition failed, the row as it is (empty where there is none).
pub(super) async fn send(update: UpdateItemFluentBuilder) -> Result<Result<Option<Row>, Row>, PortError> {
    match update.send().await {
        Ok(answer) => Ok(Ok(answer.attributes)),
        Err(SdkError::ServiceError(service)) if service.err().is_conditional_check_failed_exception() => {
            match service.into_err() {
                UpdateItemError::ConditionalCheckFailedException(failed) => Ok(Err(failed.item.unwrap_or_default())),
                _ => Err(PortError::Broken("an update refused for no reason".to_owned())),
            }
        }
        Err(error) => Err(port_error(&error)),
    }
}
