//! In this world nobody has webhooks: no promise of it is about them, and asking for them does no harm.

use std::sync::Arc;
use std::time::Duration;

use api::Webhooks;
use async_trait::async_trait;
use parceltrack::domain::{
    AddressRule, ConfirmationLink, ConfirmationTicket, Contact, ContactId, ContactToken, DeliveryId, OwnerId,
    ResendWish, Timestamp, Webhook, WebhookDelivery, WebhookDeliveryStatus, WebhookId, WebhookKey, WebhookSecrets,
    WebhookTicket,
};
use parceltrack::ports::{
    AskForConfirmation, ChangeWebhooks, ConfirmContacts, CreateWebhooks, DeliveryPage, DeliveryPageEnd,
    IdempotencyClaim, ListWebhookDeliveries, PortError, ReadContacts, ReadWebhookDeliveries, ReadWebhooks,
    RecordWebhookDeliveries, RetryWebhookDeliveries, SendResendWish, SendWebhookTicket, StepTaken, WebhookCreation,
};

/// Has none and takes none.
struct NoWebhooks;

/// The API's ports of webhooks.
pub(crate) fn none() -> Webhooks {
    let nobody = Arc::new(NoWebhooks);
    Webhooks {
        create: nobody.clone(),
        read: nobody.clone(),
        change: nobody.clone(),
        deliveries: nobody.clone(),
        list: nobody.clone(),
        record: nobody.clone(),
        retry: nobody.clone(),
        tickets: nobody.clone(),
        wishes: nobody.clone(),
        contacts: nobody.clone(),
        confirm: nobody.clone(),
        ask: nobody,
        addresses: AddressRule::default(),
    }
}

fn away<T>() -> Result<T, PortError> {
    Err(PortError::Unavailable("no webhooks in this world".to_owned()))
}

#[async_trait]
impl CreateWebhooks for NoWebhooks {
    async fn create(
        &self,
        _: &Webhook,
        _: Option<&IdempotencyClaim>,
        _: Timestamp,
    ) -> Result<WebhookCreation, PortError> {
        away()
    }
}

#[async_trait]
impl ReadWebhooks for NoWebhooks {
    async fn webhook(&self, _: &WebhookKey) -> Result<Option<Webhook>, PortError> {
        Ok(None)
    }

    async fn webhooks_of(&self, _: &OwnerId) -> Result<Vec<Webhook>, PortError> {
        Ok(vec![])
    }
}

#[async_trait]
impl ChangeWebhooks for NoWebhooks {
    async fn rotate(&self, _: &Webhook, _: &WebhookSecrets, _: Timestamp) -> Result<StepTaken, PortError> {
        away()
    }

    async fn enable(&self, _: &WebhookKey, _: Timestamp) -> Result<Option<Webhook>, PortError> {
        Ok(None)
    }

    async fn delete(&self, _: &WebhookKey) -> Result<bool, PortError> {
        Ok(false)
    }
}

#[async_trait]
impl ReadWebhookDeliveries for NoWebhooks {
    async fn delivery(&self, _: WebhookId, _: DeliveryId) -> Result<Option<WebhookDelivery>, PortError> {
        Ok(None)
    }
}

#[async_trait]
impl ListWebhookDeliveries for NoWebhooks {
    async fn deliveries(
        &self,
        _: WebhookId,
        _: Option<WebhookDeliveryStatus>,
        _: u16,
        _: Option<DeliveryPageEnd>,
    ) -> Result<DeliveryPage, PortError> {
        Ok(DeliveryPage { deliveries: vec![], end: None })
    }
}

#[async_trait]
impl RecordWebhookDeliveries for NoWebhooks {
    async fn record(&self, _: &WebhookDelivery) -> Result<WebhookDeliveryStatus, PortError> {
        away()
    }
}

#[async_trait]
impl RetryWebhookDeliveries for NoWebhooks {
    async fn retry(
        &self,
        _: WebhookId,
        _: DeliveryId,
        _: Timestamp,
        _: Timestamp,
    ) -> Result<Option<StepTaken>, PortError> {
        Ok(None)
    }
}

#[async_trait]
impl SendWebhookTicket for NoWebhooks {
    async fn send(&self, _: &WebhookTicket, _: Duration) -> Result<(), PortError> {
        away()
    }
}

#[async_trait]
impl ReadContacts for NoWebhooks {
    async fn contact(&self, _: ContactId) -> Result<Contact, PortError> {
        Ok(Contact::default())
    }
}

#[async_trait]
impl ConfirmContacts for NoWebhooks {
    async fn confirm(&self, _: ContactToken, _: Timestamp) -> Result<ConfirmationLink, PortError> {
        Ok(ConfirmationLink::Unknown)
    }
}

#[async_trait]
impl AskForConfirmation for NoWebhooks {
    async fn ask_for(&self, _: &ConfirmationTicket, _: Duration) -> Result<(), PortError> {
        away()
    }
}

#[async_trait]
impl SendResendWish for NoWebhooks {
    async fn wish(&self, _: &ResendWish) -> Result<(), PortError> {
        away()
    }
}
