//! What an endpoint is sent to see whether it works.

use serde_json::json;
use uuid::Uuid;

use super::super::{DOMAIN_EVENT_VERSION, Timestamp};
use super::{WebhookEventType, WebhookKey};

/// The body of a test: like an event, but of no parcel.
pub(super) fn webhook_test_body(id: Uuid, webhook: &WebhookKey, now: Timestamp) -> String {
    json!({
        "id": id,
        "type": WebhookEventType::Test,
        "version": DOMAIN_EVENT_VERSION,
        "timestamp": now.to_string(),
        "owner": webhook.owner,
        "data": {"webhookId": webhook.webhook_id},
    })
    .to_string()
}
