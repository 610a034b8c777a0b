//! How endpoints do, and who may call them: slots that a worker holds for the time of a call.

use async_trait::async_trait;

use super::{WebhookTable, rows};
use crate::aws::row::{Row, attribute, number, text};
use crate::aws::update::send;
use crate::domain::{EndpointHealth, Lease, NoticeEnd, SwitchOffReason, Timestamp, WebhookKey};
use crate::ports::{AfterCall, CallSlot, PortError, SlotWish, StepTaken, WorkOnWebhooks};

/// The attribute with the lease of this slot.
fn slot_name(number: usize) -> String {
    format!("slot{number}")
}

fn is_active(row: &Row) -> bool {
    row.get("state") == Some(&text(rows::ACTIVE))
}

impl WebhookTable {
    /// An update by the slot's holder; nothing if the slot is somebody else's.
    async fn as_holder(
        &self,
        key: &WebhookKey,
        slot: CallSlot,
        expression: &str,
        values: Vec<(&str, i64)>,
    ) -> Result<(), PortError> {
        let mut update = self
            .update(key)
            .update_expression(expression)
            .condition_expression("#slot.holder = :holder")
            .expression_attribute_names("#slot", slot_name(slot.number))
            .expression_attribute_values(":holder", attribute(slot.holder)?);
        for (name, value) in values {
            update = update.expression_attribute_values(name, number(value));
        }
        send(update).await.map(|_| ())
    }
}

#[async_trait]
impl WorkOnWebhooks for WebhookTable {
    async fn take_slot(
        &self,
        key: &WebhookKey,
        slots: usize,
        lease: Lease,
        now: Timestamp,
    ) -> Result<SlotWish, PortError> {
        for number_of_slot in 0..slots {
            let update = self
                .update(key)
                .update_expression("SET #slot = :lease")
                .condition_expression("#state = :active AND (attribute_not_exists(#slot) OR #slot.#until <= :now)")
                .expression_attribute_names("#slot", slot_name(number_of_slot))
                .expression_attribute_names("#state", "state")
                .expression_attribute_names("#until", "until")
                .expression_attribute_values(":active", text(rows::ACTIVE))
                .expression_attribute_values(":lease", attribute(lease)?)
                .expression_attribute_values(":now", number(now.millis()));
            let ours = SlotWish::Taken(CallSlot { number: number_of_slot, holder: lease.holder });
            match send(update).await? {
                Ok(_) => return Ok(ours),
                Err(row) if !is_active(&row) => return Ok(SlotWish::NotActive),
                // Our own write, whose answer was lost and which the SDK tried again.
                Err(row) if row.get(&slot_name(number_of_slot)) == Some(&attribute(lease)?) => return Ok(ours),
                Err(_) => {}
            }
        }
        Ok(SlotWish::AllTaken)
    }

    async fn release_slot(&self, key: &WebhookKey, slot: CallSlot) -> Result<(), PortError> {
        self.as_holder(key, slot, "REMOVE #slot", vec![]).await
    }

    async fn succeeded(
        &self,
        key: &WebhookKey,
        slot: CallSlot,
        then: AfterCall,
        now: Timestamp,
    ) -> Result<(), PortError> {
        let expression = match then {
            AfterCall::Keep => "SET consecutiveFailures = :none, lastSuccessAt = :now REMOVE failingSince, restUntil",
            AfterCall::GiveBack => {
                "SET consecutiveFailures = :none, lastSuccessAt = :now REMOVE #slot, failingSince, restUntil"
            }
        };
        self.as_holder(key, slot, expression, vec![(":none", 0), (":now", now.millis())]).await
    }

    async fn failed(&self, key: &WebhookKey, slot: CallSlot, health: EndpointHealth) -> Result<(), PortError> {
        let mut expression = "SET consecutiveFailures = consecutiveFailures + :one".to_owned();
        let mut values = vec![(":one", 1)];
        if let Some(since) = health.failing_since {
            expression += ", failingSince = if_not_exists(failingSince, :since)";
            values.push((":since", since.millis()));
        }
        if let Some(until) = health.rest_until {
            expression += ", restUntil = :rest";
            values.push((":rest", until.millis()));
        }
        expression += " REMOVE #slot";
        self.as_holder(key, slot, &expression, values).await
    }

    async fn switch_off(
        &self,
        key: &WebhookKey,
        reason: SwitchOffReason,
        now: Timestamp,
    ) -> Result<StepTaken, PortError> {
        let update = self
            .update(key)
            .update_expression("SET #state = :off, switchedOffAt = :now, switchedOffReason = :reason, noticeDue = :now")
            .condition_expression("#state = :active")
            .expression_attribute_names("#state", "state")
            .expression_attribute_values(":active", text(rows::ACTIVE))
            .expression_attribute_values(":off", text(rows::SWITCHED_OFF))
            .expression_attribute_values(":reason", attribute(reason)?)
            .expression_attribute_values(":now", number(now.millis()));
        Ok(match send(update).await? {
            Ok(_) => StepTaken::Moved,
            // Our own write, whose answer was lost and which the SDK tried again.
            Err(row) if row.get("switchedOffAt") == Some(&number(now.millis())) => StepTaken::Moved,
            Err(_) => StepTaken::OvertakenByAnother,
        })
    }

    async fn claim_notice(&self, key: &WebhookKey, until: Timestamp, now: Timestamp) -> Result<StepTaken, PortError> {
        let update = self
            .update(key)
            .update_expression("SET noticeDue = :until")
            .condition_expression("noticeDue <= :now")
            .expression_attribute_values(":until", number(until.millis()))
            .expression_attribute_values(":now", number(now.millis()));
        Ok(match send(update).await? {
            Ok(_) => StepTaken::Moved,
            // Our own write, whose answer was lost and which the SDK tried again.
            Err(row) if row.get("noticeDue") == Some(&number(until.millis())) => StepTaken::Moved,
            Err(_) => StepTaken::OvertakenByAnother,
        })
    }

    async fn notice_done(&self, key: &WebhookKey, end: NoticeEnd) -> Result<(), PortError> {
        let update = self
            .update(key)
            .update_expression("SET noticeEnd = :end REMOVE noticeDue")
            .condition_expression("attribute_exists(noticeDue)")
            .expression_attribute_values(":end", attribute(end)?);
        send(update).await.map(|_| ())
    }
}
