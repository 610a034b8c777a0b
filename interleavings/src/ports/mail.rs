//! The mail provider: what it accepts, and what it tells of that later.

use async_trait::async_trait;
use parceltrack::domain::{Consequence, Delivery, EmailAddress, MailReport, ProviderMessageId, Suppression};
use parceltrack::ports::{AddSuppression, Mail, MailError, PortError, ReadSuppressions, RecordDelivery, SendMail};

use super::{Ports, unavailable};
use crate::gate::{Op, digest};
use crate::invariant::Invariant;
use crate::mutation::Mutation;
use crate::schedule::Outcome;
use crate::witness::SentMail;
use crate::world::World;

#[async_trait]
impl SendMail for Ports {
    async fn send(&self, mail: &Mail) -> Result<ProviderMessageId, MailError> {
        let effect = |world: &mut World| {
            let row = world.invoices.row(mail.invoice);
            let pdf = row.and_then(|row| row.pdf.as_ref()).and_then(|pdf| world.bucket.get(&pdf.key));
            let sha256 = pdf.cloned().unwrap_or_default();
            let message_id = format!("mail {}", world.witness.mails.len());
            let (at, process) = (world.now, self.gate.process());
            if world.suppression(&mail.to).is_some_and(|(_, begun)| *begun <= process) {
                world.witness.object(Invariant::SuppressedGetsNoMail, "a mail goes to an address that gets none");
            }
            let opening = world.witness.opening_of(process, mail.invoice);
            world.witness.mailed(SentMail {
                invoice: mail.invoice,
                message_id: message_id.clone(),
                to: mail.to.clone(),
                at,
                told: vec![],
                came_back: None,
                process,
                opening,
                sha256,
                recorded: false,
                in_the_gap: false,
            });
            self.tell(world, "sends the mail", &message_id);
            ProviderMessageId(message_id)
        };
        let answer = self.gate.pass((Op::SendMail, self.about(mail.invoice)), &[], effect, |_| 0).await;
        answer.map_err(|outcome| {
            let words = format!("{outcome:?} <{}>", mail.to.as_str());
            match outcome {
                Outcome::PutOff => MailError::PutOff(words),
                Outcome::Rejected => MailError::Rejected(words),
                Outcome::AnswerLost => {
                    self.gate.world().witness.lost(self.gate.process());
                    MailError::AnswerLost(words)
                }
                _ => MailError::Unavailable(words),
            }
        })
    }
}

#[async_trait]
impl ReadSuppressions for Ports {
    async fn suppression(&self, email: &EmailAddress) -> Result<Option<Suppression>, PortError> {
        let read = |world: &mut World| {
            let known = world.suppression(email).map(|(suppression, _)| suppression.clone());
            known.filter(|_| world.mutation != Some(Mutation::SuppressionsIgnored))
        };
        let seen = |answer: &Option<Suppression>| u64::from(answer.is_some());
        let about = (Op::ReadSuppression, digest(email.as_str()));
        self.gate.pass(about, &[], read, seen).await.map_err(unavailable)
    }
}

#[async_trait]
impl AddSuppression for Ports {
    async fn add(&self, suppression: &Suppression) -> Result<(), PortError> {
        let effect = |world: &mut World| {
            if world.suppression(&suppression.email).is_none() {
                world.suppressions.push((suppression.clone(), world.inhabitants.len()));
            }
            self.tell(world, "suppresses an address", &suppression.cause);
        };
        let about = (Op::AddSuppression, digest(suppression.email.as_str()));
        self.gate.pass(about, &[], effect, |()| 0).await.map_err(unavailable)
    }
}

#[async_trait]
impl RecordDelivery for Ports {
    /// In DynamoDB a read and a write on the condition that nothing has changed: together as good as one step.
    async fn record(&self, report: &MailReport) -> Result<Option<Consequence>, PortError> {
        let effect = |world: &mut World| {
            let answer = world.invoices.record(report);
            if answer == Some(Consequence::Sends) {
                world.witness.recorded_by_word(&report.message_id.0);
            }
            if let Some(row) = world.invoices.row(report.invoice)
                && row.mailing.report.as_ref().is_some_and(|report| report.delivery == Delivery::Bounced)
            {
                let bounce = (report.invoice, row.invoice().email().clone());
                let known = world.witness.bounces.iter().any(|(id, to, _)| (id, to) == (&bounce.0, &bounce.1));
                if !known {
                    world.witness.bounces.push((bounce.0, bounce.1, world.inhabitants.len()));
                }
            }
            self.tell(world, "records the provider's word", &answer);
            answer
        };
        let about = (Op::RecordDelivery, self.about(report.invoice));
        self.gate.pass(about, &[], effect, |_| 0).await.map_err(unavailable)
    }
}
