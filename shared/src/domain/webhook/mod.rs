//! Webhooks: endpoints of merchants that hear what happens, and the deliveries to them.

mod address;
mod contact;
mod delivery;
mod endpoint;
mod secret;
mod step;
mod test_event;
mod ticket;
mod url;
mod waits;

pub use address::{AddressRule, InvalidAddressRule, is_globally_reachable};
pub use contact::{
    CONFIRMATION_LIFETIME, CONFIRMATION_PAUSE, CONFIRMATIONS_PER_ADDRESS, ConfirmationLink, ConfirmationTicket,
    Contact, ContactId, ContactToken,
};
pub use delivery::{
    AttemptEnd, CallError, DeliveryId, DeliverySubject, InvalidDeliveryId, MAX_RESPONSE_START, Occasion,
    WEBHOOK_DELIVERY_LIFETIME, WebhookAttempt, WebhookDelivery, WebhookDeliveryState, WebhookDeliveryStatus,
    WebhookEventType,
};
pub use endpoint::{
    EndpointHealth, MAX_WEBHOOKS, NOTICES_PER_ADDRESS, NOTICES_PER_OWNER, NOTICES_PER_WEBHOOK, NewWebhook, NoticeEnd,
    SWITCH_OFF_AFTER, SwitchOffReason, Webhook, WebhookId, WebhookKey, WebhookState,
};
pub use secret::{
    InvalidWebhookSecret, MAX_SECRETS, PREVIOUS_SECRET_LIFETIME, PreviousSecret, SecretRotation, WebhookSecret,
    WebhookSecrets,
};
pub use step::{DeliveryStep, next_delivery_step};
pub use ticket::{
    EventMessage, InvalidWebhookMessage, ResendId, ResendWhich, ResendWish, WebhookTicket, parse_event_message,
};
pub use url::{InvalidWebhookUrl, WebhookUrl};
pub use waits::{LONGEST_TICKET_DELAY, endpoint_rest, webhook_retry_wait};
