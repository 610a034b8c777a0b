//! How far each subject's story has been told, in DynamoDB.

use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use serde::Deserialize;

use super::failure::port_error;
use super::row::{from_row, number, text};
use super::update::send;
use crate::domain::{Subject, Timestamp};
use crate::ports::{FollowSubjects, PortError};

/// So long after a subject's last event its row is swept away. What comes later begins a new row.
const LIFETIME: Duration = Duration::from_hours(90 * 24);

/// The table of subjects.
#[derive(Clone, Debug)]
pub struct WebhookSubjectTable {
    client: Client,
    name: String,
}

impl WebhookSubjectTable {
    /// The table of this name.
    #[must_use]
    pub fn new(client: Client, name: String) -> Self {
        Self { client, name }
    }
}

#[async_trait]
impl FollowSubjects for WebhookSubjectTable {
    async fn last_told(&self, subject: Subject) -> Result<Option<u64>, PortError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct SubjectRow {
            last_told: u64,
        }
        let answer = self
            .client
            .get_item()
            .table_name(&self.name)
            .key("subject", text(subject))
            .consistent_read(true)
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        answer.item.map(|row| Ok(from_row::<SubjectRow>(row)?.last_told)).transpose()
    }

    async fn told(&self, subject: Subject, sequence: u64, now: Timestamp) -> Result<(), PortError> {
        let sequence = i64::try_from(sequence).map_err(|error| PortError::Broken(error.to_string()))?;
        let update = self
            .client
            .update_item()
            .table_name(&self.name)
            .key("subject", text(subject))
            .update_expression("SET lastTold = :sequence, expires = :expires")
            .condition_expression("attribute_not_exists(lastTold) OR lastTold < :sequence")
            .expression_attribute_values(":sequence", number(sequence))
            .expression_attribute_values(":expires", number((now + LIFETIME).seconds()));
        send(update).await.map(|_| ())
    }
}
