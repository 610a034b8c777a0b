//! How many messages a queue of SQS holds.

use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::QueueAttributeName;

use super::failure::port_error;
use crate::ports::{PortError, QueueDepth};

pub(super) async fn queue_depth(client: &Client, url: &str) -> Result<QueueDepth, PortError> {
    let names = [
        QueueAttributeName::ApproximateNumberOfMessages,
        QueueAttributeName::ApproximateNumberOfMessagesNotVisible,
        QueueAttributeName::ApproximateNumberOfMessagesDelayed,
    ];
    let answer = client
        .get_queue_attributes()
        .queue_url(url)
        .set_attribute_names(Some(names.to_vec()))
        .send()
        .await
        .map_err(|error| port_error(&error))?;
    let attributes = answer.attributes.unwrap_or_default();
    let [waiting, in_flight, delayed] = names.map(|name| {
        let count = attributes.get(&name).and_then(|count| count.parse().ok());
        count.ok_or_else(|| PortError::Broken(format!("the queue does not tell its {name}")))
    });
    Ok(QueueDepth { waiting: waiting?, in_flight: in_flight?, delayed: delayed? })
}
