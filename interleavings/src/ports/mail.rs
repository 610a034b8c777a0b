//! The mail provider: what it accepts, and what it tells of that later.

use async_trait::async_trait;
use parceltrack::domain::{Consequence, EmailAddress, MailReport, ProviderMessageId, Suppression};
use parceltrack::ports::{AddSuppression, Mail, MailError, PortError, ReadSuppressions, RecordDelivery, SendMail};

use super::{Ports, unavailable};
use crate::gate::Op;
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
            let at = world.now;
            world.witness.mailed(SentMail {
                invoice: mail.invoice,
                message_id: message_id.clone(),
                to: mail.to.as_str().to_owned(),
                at,
                told: false,
                process: self.gate.process(),
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
    async fn suppression(&self, _: &EmailAddress) -> Result<Option<Suppression>, PortError> {
        self.gate.pass((Op::ReadSuppression, 0), &[], |_| None, |_| 0).await.map_err(unavailable)
    }
}

#[async_trait]
impl AddSuppression for Ports {
    async fn add(&self, _: &Suppression) -> Result<(), PortError> {
        Err(PortError::Broken("no mail bounces in this world".to_owned()))
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
            self.tell(world, "records the provider's word", &answer);
            answer
        };
        let about = (Op::RecordDelivery, self.about(report.invoice));
        self.gate.pass(about, &[], effect, |_| 0).await.map_err(unavailable)
    }
}
