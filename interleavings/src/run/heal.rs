//! Healing: no more faults, and everything that is still to do is done.

use super::choices::seconds_to;
use super::{Role, Run};
use crate::invariant::{Violation, broken_at_the_end};
use crate::invoices::InvoiceRow;
use crate::schedule::{Choice, Outcome};

/// How many steps healing may take. A world that needs more is ill for good.
const PATIENCE: usize = 3000;

impl Run {
    /// No more faults: everybody goes on, time moves, the relay and the workers run, clients ask again. What is broken
    /// after that stays broken.
    pub async fn heal(&mut self) -> Vec<Violation> {
        self.world().note(|_| "the world heals".to_owned());
        for _ in 0..PATIENCE {
            let Some(choice) = self.healing() else { break };
            if let Err(error) = self.apply(choice).await {
                self.world().note(|_| error);
                break;
            }
        }
        let mut violations = self.violations();
        violations.extend(broken_at_the_end(&self.world()));
        violations
    }

    fn healing(&self) -> Option<Choice> {
        let calling = self.alive().find(|process| !self.is_asleep(*process));
        if let Some(process) = calling {
            return Some(Choice::Call { process, lane: 0, outcome: Outcome::Succeeds });
        }
        if let Some(request) = (0..self.tries.len()).find(|request| self.wants_asking(*request)) {
            return Some(Choice::Request(request));
        }
        let moment = self.next_moment();
        let world = self.world();
        if let Some(worker) = self.free_worker().filter(|_| world.queue.has_visible(world.now)) {
            return Some(Choice::Deliver { worker });
        }
        let due = |row: &InvoiceRow| row.due.is_some_and(|due| due <= world.now);
        if world.invoices.rows().iter().any(due) && !self.runs(Role::Relay) {
            return Some(Choice::Relay);
        }
        moment.map(|moment| seconds_to(world.now, moment))
    }
}
