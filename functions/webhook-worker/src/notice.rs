//! The mail that tells a merchant that a webhook was switched off.

use parceltrack::domain::{SwitchOffReason, Timestamp, Webhook};
use parceltrack::ports::Notice;

/// The notice. It names the host alone: a path may be a secret. The same switching off gives the same notice.
pub(crate) fn compose(webhook: &Webhook, at: Timestamp, reason: SwitchOffReason) -> Notice {
    let host = webhook.url.host();
    let why = match reason {
        SwitchOffReason::FailedForDays => "It has taken no event for five days, though we tried again and again.",
        SwitchOffReason::Gone => "It answered 410 (Gone), by which an endpoint says that it wants no more events.",
    };
    let what = match &webhook.description {
        Some(description) => format!("your webhook \"{description}\" at {host}"),
        None => format!("your webhook at {host}"),
    };
    let text = format!(
        "Dear merchant,\n\n\
         we have switched off {what}. {why}\n\n\
         Events that come now are kept for thirty days, but not sent. Once the endpoint works again, switch the webhook \
         on (POST /api/webhooks/{id}/enable) and have them sent (POST /api/webhooks/{id}/resend).\n\n\
         Lion City Logistics\n",
        id = webhook.id
    );
    Notice {
        id: format!("webhook-{}-{}", webhook.id, at.millis()),
        to: webhook.contact.clone(),
        subject: format!("Your webhook at {host} was switched off"),
        text,
    }
}
