//! What must stand neither in the environment nor in the template.

use aws_sdk_secretsmanager::Client;

use super::failure::port_error;
use crate::ports::PortError;

/// The text of the secret with this ARN, as it is now. To be read once, at start.
pub async fn secret_text(client: &Client, arn: &str) -> Result<String, PortError> {
    let secret = client.get_secret_value().secret_id(arn).send().await.map_err(|error| port_error(&error))?;
    secret.secret_string.ok_or_else(|| PortError::Broken("the secret holds no text".to_owned()))
}
