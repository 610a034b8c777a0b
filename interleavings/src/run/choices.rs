//! What may happen next.

use std::time::Duration;

use parceltrack::domain::Timestamp;

use super::{Role, Run};
use crate::gate::Op;
use crate::schedule::{Choice, Outcome};

impl Run {
    /// What may happen next, the most ordinary first.
    #[must_use]
    pub fn choices(&self) -> Vec<Choice> {
        let mut choices = Vec::new();
        let calls: Vec<(usize, usize, Op, Timestamp)> = {
            let world = self.world();
            self.alive()
                .flat_map(|process| {
                    world
                        .calls
                        .of(process)
                        .into_iter()
                        .enumerate()
                        .map(move |(lane, call)| (process, lane, call.op, call.since))
                })
                .collect()
        };
        choices.extend(calls.iter().map(|&(process, lane, _, _)| Choice::Call {
            process,
            lane,
            outcome: Outcome::Succeeds,
        }));
        choices.extend(
            (0..self.tries.len())
                .filter(|request| self.tries[*request] < self.left.tries && self.wants_asking(*request))
                .map(Choice::Request),
        );
        let (now, visible, hidden, due) = {
            let world = self.world();
            let due = world.invoices.rows().iter().any(|row| row.due.is_some_and(|due| due <= world.now));
            (world.now, world.queue.has_visible(world.now), world.queue.has_hidden(world.now), due)
        };
        let worker = self.free_worker().filter(|_| self.left.deliveries > 0);
        if let Some(worker) = worker.filter(|_| visible) {
            choices.push(Choice::Deliver { worker });
        }
        if self.left.relays > 0 && due && !self.runs(Role::Relay) {
            choices.push(Choice::Relay);
        }
        if self.left.events > 0 {
            choices.extend(self.untold());
        }
        if self.left.wishes > 0 {
            let letters: Vec<usize> = {
                let world = self.world();
                (0..world.dead_letters.len()).filter(|letter| world.can_be_handled(*letter)).collect()
            };
            let wishes =
                letters.into_iter().flat_map(|letter| self.scenario.wishes.iter().map(move |wish| (letter, *wish)));
            choices.extend(
                wishes
                    .filter(|(letter, wish)| !self.runs(Role::Operator(*letter, *wish)))
                    .map(|(letter, wish)| Choice::Person { letter, wish }),
            );
        }
        if !(self.scenario.quick_sending && self.is_sending()) {
            let moment = self.next_moment().filter(|moment| self.killed_by(*moment).len() <= self.left.faults as usize);
            choices.extend(moment.map(|moment| seconds_to(now, moment)));
        }
        let late = |since: Timestamp| now.since(since) >= invoice_worker::MAIL_TIMEOUT;
        let timed_out = calls.iter().filter(|(_, _, op, since)| *op == Op::SendMail && late(*since));
        choices.extend(timed_out.map(|&(process, lane, _, _)| Choice::Call {
            process,
            lane,
            outcome: Outcome::TimesOut,
        }));
        if self.left.faults > 0 {
            for &(process, lane, op, _) in &calls {
                choices.extend(op.faults().iter().map(|&outcome| Choice::Call { process, lane, outcome }));
            }
            if let Some(worker) = worker.filter(|_| hidden) {
                choices.push(Choice::DeliverAgain { worker });
            }
        }
        choices
    }

    /// What the provider may tell next.
    fn untold(&self) -> Vec<Choice> {
        let world = self.world();
        let mails = world.witness.mails.iter().enumerate();
        let all = mails.flat_map(|(index, mail)| self.scenario.news.iter().map(move |news| (index, mail, *news)));
        all.filter(|(index, mail, news)| {
            let otherwise = news.is_bounce() && mail.came_back.is_some_and(|way| way != *news);
            !(mail.told.contains(news) || otherwise || self.runs(Role::Event(*index, *news)))
        })
        .map(|(mail, _, news)| Choice::Event { mail, news })
        .collect()
    }

    /// Whether somebody is between the question right before a mail and the record of it.
    fn is_sending(&self) -> bool {
        let world = self.world();
        let unrecorded = world.witness.mails.iter().any(|mail| !mail.recorded && !mail.in_the_gap);
        unrecorded
            || self.alive().any(|process| {
                world.calls.of(process).iter().any(|call| matches!(call.op, Op::AboutToSend | Op::SendMail))
            })
    }

    /// The next time at which something can be otherwise than now.
    pub(super) fn next_moment(&self) -> Option<Timestamp> {
        let asleep = self.alive().any(|process| self.is_asleep(process));
        let world = self.world();
        let now = world.now;
        let mut moments: Vec<Timestamp> = world.queue.messages().iter().map(|message| message.visible_at).collect();
        moments.extend(world.invoices.rows().iter().filter_map(|row| row.due));
        moments.extend(world.invoices.rows().iter().filter_map(|row| Some(row.lease?.until)));
        moments.extend(self.alive().map(|process| world.inhabitants[process].limit));
        moments.extend(asleep.then(|| now + Duration::from_secs(1)));
        moments.into_iter().filter(|moment| *moment > now).min()
    }
}

/// The choice that lets time pass until then.
pub(super) fn seconds_to(now: Timestamp, moment: Timestamp) -> Choice {
    Choice::Seconds(u32::try_from(moment.since(now).as_millis().div_ceil(1000)).unwrap_or(u32::MAX))
}
