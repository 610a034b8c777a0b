//! Contacts, in rows beside the webhooks, under names that no owner can have. What was never confirmed is swept by TTL.

use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_dynamodb::types::{ReturnValuesOnConditionCheckFailure, Update};

use super::WebhookTable;
use super::notices::{built, count_key, day_key};
use crate::aws::failure::port_error;
use crate::aws::row::{Row, attribute, from_row, number, text};
use crate::aws::transaction::{Transaction, transact};
use crate::aws::update::send;
use crate::domain::{
    AddressHash, CONFIRMATION_PAUSE, CONFIRMATIONS_PER_ADDRESS, ConfirmationLink, Contact, ContactId, ContactToken,
    LinkSecret, NOTICES_PER_OWNER, NOTICES_PER_WEBHOOK, Timestamp, Webhook,
};
use crate::ports::{BoundConfirmations, ConfirmContacts, PortError, ReadContacts};

/// How long it is remembered that somebody was asked who did not answer.
const KEPT: Duration = Duration::from_hours(90 * 24);

const CONFIRMATIONS: &str = "confirmations";

/// The place of the contact's own row in the transaction; the counts follow.
const CONTACT: usize = 0;

fn contact_key(id: ContactId) -> Row {
    [("owner".to_owned(), text(format!("contact#{id}"))), ("webhookId".to_owned(), text("contact"))].into()
}

fn asked_key(webhook: &Webhook) -> Row {
    count_key(&format!("address#{}", AddressHash::of(&webhook.contact)), CONFIRMATIONS)
}

#[async_trait]
impl ReadContacts for WebhookTable {
    async fn contact(&self, id: ContactId) -> Result<Contact, PortError> {
        let answer = self
            .client
            .get_item()
            .table_name(&self.name)
            .set_key(Some(contact_key(id)))
            .consistent_read(true)
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        Ok(answer.item.map(from_row).transpose()?.unwrap_or_default())
    }
}

#[async_trait]
impl ConfirmContacts for WebhookTable {
    async fn confirm(&self, token: ContactToken, now: Timestamp) -> Result<ConfirmationLink, PortError> {
        let link = self.contact(token.contact).await?.link(token.secret, now);
        if link != ConfirmationLink::Good {
            return Ok(link);
        }
        let update = self
            .client
            .update_item()
            .table_name(&self.name)
            .set_key(Some(contact_key(token.contact)))
            .update_expression("SET confirmedAt = :now REMOVE expires")
            .condition_expression("secret = :secret")
            .expression_attribute_values(":now", number(now.millis()))
            .expression_attribute_values(":secret", attribute(token.secret)?);
        Ok(if send(update).await?.is_ok() { link } else { ConfirmationLink::Unknown })
    }
}

#[async_trait]
impl BoundConfirmations for WebhookTable {
    async fn count_confirmation(
        &self,
        webhook: &Webhook,
        secret: LinkSecret,
        now: Timestamp,
    ) -> Result<bool, PortError> {
        let pause = i64::try_from(CONFIRMATION_PAUSE.as_millis()).unwrap_or(i64::MAX);
        let update = || {
            Update::builder()
                .table_name(&self.name)
                .expression_attribute_values(":now", number(now.millis()))
                .expression_attribute_values(":then", number(now.millis() - pause))
                .expression_attribute_values(":expires", number((now + KEPT).seconds()))
        };
        let contact = update()
            .set_key(Some(contact_key(ContactId::of(&webhook.owner, &webhook.contact))))
            .update_expression("SET askedAt = :now, secret = :secret, expires = :expires")
            .condition_expression(
                "attribute_not_exists(confirmedAt) AND (attribute_not_exists(askedAt) OR askedAt <= :then)",
            )
            .expression_attribute_values(":secret", attribute(secret)?)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        let address = update()
            .set_key(Some(asked_key(webhook)))
            .update_expression("SET askedAt = :now, expires = :expires ADD mails :one")
            .condition_expression(
                "attribute_not_exists(mails) OR \
                 (mails < :most AND (attribute_not_exists(askedAt) OR askedAt <= :then))",
            )
            .expression_attribute_values(":one", number(1))
            .expression_attribute_values(":most", number(CONFIRMATIONS_PER_ADDRESS));
        let items = vec![
            built(contact.build())?,
            built(address.build())?,
            self.counted(&format!("webhook#{}", webhook.id), NOTICES_PER_WEBHOOK, now)?,
            self.counted(&format!("owner#{}", webhook.owner), NOTICES_PER_OWNER, now)?,
        ];
        Ok(match transact(&self.client, items).await? {
            Transaction::Written => true,
            // Our own write, whose answer was lost and which the SDK tried again.
            Transaction::Refused(failed) => match failed.row(CONTACT) {
                Some(row) => row.get("secret") == Some(&attribute(secret)?),
                None => false,
            },
        })
    }

    async fn not_sent(&self, webhook: &Webhook, secret: LinkSecret, then: Timestamp) -> Result<(), PortError> {
        let contact = Update::builder()
            .table_name(&self.name)
            .set_key(Some(contact_key(ContactId::of(&webhook.owner, &webhook.contact))))
            .update_expression("REMOVE askedAt, secret")
            .condition_expression("secret = :secret AND attribute_not_exists(confirmedAt)")
            .expression_attribute_values(":secret", attribute(secret)?);
        let one_less = |key: Row, expression: &str| {
            let update = Update::builder().table_name(&self.name).set_key(Some(key)).update_expression(expression);
            built(update.expression_attribute_values(":less", number(-1)).build())
        };
        let items = vec![
            built(contact.build())?,
            one_less(asked_key(webhook), "REMOVE askedAt ADD mails :less")?,
            one_less(day_key(&format!("webhook#{}", webhook.id), then), "ADD mails :less")?,
            one_less(day_key(&format!("owner#{}", webhook.owner), then), "ADD mails :less")?,
        ];
        transact(&self.client, items).await.map(|_| ())
    }
}
