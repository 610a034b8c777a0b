//! Webhooks: register an endpoint, look after it, see what became of each event, have events sent again.

pub(crate) mod contact;
pub(crate) mod create;
pub(crate) mod deliveries;
pub(crate) mod manage;
mod out;
pub(crate) mod resend;
pub(crate) mod test;

use parceltrack::domain::{Contact, ContactId, OwnerId, Webhook, WebhookId, WebhookKey};

use crate::App;
use crate::caller::{Caller, named_owner};
use crate::problem::Problem;

pub(crate) use contact::{confirm, open_confirmation, send_confirmation};
pub(crate) use create::create;
pub(crate) use deliveries::{get_delivery, list_deliveries};
pub(crate) use manage::{delete, enable, get, list, rotate_secret};
pub(crate) use resend::{resend, resend_since};
pub(crate) use test::test;

/// Whose webhooks a request is about: the caller's own, or those of whom an operator names.
fn owner(query: Option<&str>, caller: Caller) -> Result<OwnerId, Problem> {
    Ok(named_owner(query.unwrap_or_default(), &caller)?.unwrap_or(caller.owner))
}

/// The key of the webhook in the path.
fn key(id: WebhookId, query: Option<&str>, caller: Caller) -> Result<WebhookKey, Problem> {
    Ok(WebhookKey { owner: owner(query, caller)?, webhook_id: id })
}

/// The webhook, which must be there.
async fn webhook(app: &App, key: &WebhookKey) -> Result<Webhook, Problem> {
    app.webhooks.read.webhook(key).await?.ok_or(Problem::NotFound("webhook"))
}

/// How far it has come with its contact.
async fn contact(app: &App, webhook: &Webhook) -> Result<Contact, Problem> {
    Ok(app.webhooks.contacts.contact(ContactId::of(&webhook.owner, &webhook.contact)).await?)
}

/// The webhook, which must be there and get events.
async fn active_webhook(app: &App, key: &WebhookKey) -> Result<Webhook, Problem> {
    Some(webhook(app, key).await?).filter(Webhook::is_active).ok_or(Problem::WebhookSwitchedOff)
}
