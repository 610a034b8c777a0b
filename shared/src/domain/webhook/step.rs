//! What to do with a delivery whose ticket has come.

use super::super::Timestamp;
use super::{Occasion, Webhook, WebhookDelivery, WebhookDeliveryState};

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryStep {
    /// Call the endpoint.
    Call,
    /// Nothing: it is at its end.
    Ended,
    /// End it: nobody wants it any more.
    Withdraw,
    /// Nothing: another worker has it.
    HeldByAnother,
    /// Nothing yet: it is tried later, and there will be a ticket then.
    TooEarly,
    /// An earlier one of its subject is not at its end. That one's end brings a ticket.
    Behind {
        /// When somebody looks after the earlier one.
        due: Timestamp,
    },
    /// Put it off: the endpoint rests.
    Resting {
        /// Until then.
        until: Timestamp,
    },
}

/// What to do with this delivery. `webhook` is `None` if it was deleted; `earlier` is the state of the one before it of its
/// subject and webhook, if there is one. Since each waits for the one before it, that one is enough to look at.
#[must_use]
pub fn next_delivery_step(
    delivery: &WebhookDelivery,
    webhook: Option<&Webhook>,
    earlier: Option<WebhookDeliveryState>,
    now: Timestamp,
) -> DeliveryStep {
    let WebhookDeliveryState::Pending { next_attempt_at, .. } = delivery.state else { return DeliveryStep::Ended };
    if delivery.lease.is_some_and(|lease| lease.is_alive(now)) {
        return DeliveryStep::HeldByAnother;
    }
    let Some(webhook) = webhook.filter(|webhook| webhook.is_active()) else { return DeliveryStep::Withdraw };
    if now < next_attempt_at {
        return DeliveryStep::TooEarly;
    }
    if let Some(WebhookDeliveryState::Pending { due, .. }) = earlier {
        return DeliveryStep::Behind { due };
    }
    match (delivery.occasion, webhook.health.resting(now)) {
        (Occasion::Event, Some(until)) => DeliveryStep::Resting { until },
        _ => DeliveryStep::Call,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use uuid::Uuid;

    use super::super::super::{DomainEventType, Lease, LeaseHolder, OwnerId, ParcelId, Subject};
    use super::super::{
        DeliveryId, DeliverySubject, EndpointHealth, SwitchOffReason, WebhookEventType, WebhookId, WebhookSecret,
        WebhookSecrets, WebhookState,
    };
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);
    const SOON: Timestamp = Timestamp::from_millis(1_790_000_060_000);
    const PENDING: WebhookDeliveryState = WebhookDeliveryState::Pending { next_attempt_at: NOW, due: SOON };

    fn webhook() -> Webhook {
        Webhook {
            id: WebhookId(Uuid::nil()),
            owner: OwnerId::house(),
            url: "https://shop.example.com/".parse().unwrap(),
            event_types: [DomainEventType::ParcelCreated].into(),
            contact: "tan@example.com".parse().unwrap(),
            description: None,
            secrets: WebhookSecrets { current: WebhookSecret::from_random([Uuid::nil(); 2]), previous: vec![] },
            state: WebhookState::Active,
            health: EndpointHealth::default(),
            notice_due: None,
            notice_end: None,
            created_at: NOW,
            updated_at: NOW,
        }
    }

    fn delivery() -> WebhookDelivery {
        WebhookDelivery {
            webhook: webhook().key(),
            id: DeliveryId { subject: DeliverySubject::Event(Subject::Parcel(ParcelId(Uuid::nil()))), sequence: 2 },
            event_id: Uuid::nil(),
            event_type: WebhookEventType::Event(DomainEventType::ParcelCreated),
            body: "{}".to_owned(),
            state: PENDING,
            occasion: Occasion::Event,
            failures: 0,
            attempts: vec![],
            attempt_count: 0,
            lease: None,
            created_at: NOW,
        }
    }

    fn step(
        delivery: &WebhookDelivery,
        webhook: Option<&Webhook>,
        earlier: Option<WebhookDeliveryState>,
    ) -> DeliveryStep {
        next_delivery_step(delivery, webhook, earlier, NOW)
    }

    #[test]
    fn a_delivery_that_nothing_keeps_back_is_called() {
        for earlier in [
            None,
            Some(WebhookDeliveryState::Delivered { at: NOW }),
            Some(WebhookDeliveryState::Failed { at: NOW }),
            Some(WebhookDeliveryState::Withdrawn { at: NOW }),
        ] {
            assert_eq!(step(&delivery(), Some(&webhook()), earlier), DeliveryStep::Call);
        }
    }

    #[test]
    fn each_thing_that_keeps_it_back_does() {
        let webhook = webhook();
        let ended = WebhookDelivery { state: WebhookDeliveryState::Delivered { at: NOW }, ..delivery() };
        assert_eq!(step(&ended, Some(&webhook), None), DeliveryStep::Ended);
        let lease = |until| Some(Lease { holder: LeaseHolder(Uuid::nil()), until });
        let held = WebhookDelivery { lease: lease(SOON), ..delivery() };
        assert_eq!(step(&held, Some(&webhook), None), DeliveryStep::HeldByAnother);
        let abandoned = WebhookDelivery { lease: lease(NOW), ..delivery() };
        assert_eq!(step(&abandoned, Some(&webhook), None), DeliveryStep::Call);
        let later =
            WebhookDelivery { state: WebhookDeliveryState::Pending { next_attempt_at: SOON, due: SOON }, ..delivery() };
        assert_eq!(step(&later, Some(&webhook), None), DeliveryStep::TooEarly);
        assert_eq!(step(&delivery(), Some(&webhook), Some(PENDING)), DeliveryStep::Behind { due: SOON });
        assert_eq!(step(&delivery(), None, None), DeliveryStep::Withdraw);
        let off = WebhookState::SwitchedOff { at: NOW, reason: SwitchOffReason::Gone };
        assert_eq!(step(&delivery(), Some(&Webhook { state: off, ..webhook }), None), DeliveryStep::Withdraw);
    }

    #[test]
    fn a_resting_endpoint_is_called_only_if_a_person_asks() {
        let health = (0..3).fold(EndpointHealth::default(), |health, _| health.after_failure(NOW));
        let resting = Webhook { health, ..webhook() };
        let until = NOW + Duration::from_secs(30);
        assert_eq!(step(&delivery(), Some(&resting), None), DeliveryStep::Resting { until });
        let asked = WebhookDelivery { occasion: Occasion::Request, ..delivery() };
        assert_eq!(step(&asked, Some(&resting), None), DeliveryStep::Call);
    }
}
