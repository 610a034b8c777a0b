//! One run of a scenario along a schedule: applies choices one by one, and says which are next.

mod beginning;
mod choices;
mod heal;
mod stage;

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use invoice_worker::Worker;
use parceltrack::domain::{Role as Rights, Timestamp};
use parceltrack::ports::BuriedTicket;

use crate::cast::{self, Api, Process};
use crate::gate::{Gate, digest};
use crate::invariant::{Violation, broken_now};
use crate::ports::Ports;
use crate::scenario::{Budget, Request, Scenario};
use crate::schedule::{Choice, News, Outcome, Wish};
use crate::timing::{EVENT_LIMIT, OPERATOR_LIMIT, RELAY_LIMIT, REQUEST_LIMIT};
use crate::world::{Inhabitant, Letter, World};

pub use stage::Stage;

/// What a process is, apart from its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Role {
    Request(usize),
    Worker(usize),
    Relay,
    Event(usize, News),
    Operator(usize, Wish),
}

struct Running {
    role: Role,
    future: Option<Process>,
}

/// A world with its processes, somewhere on the way.
pub struct Run {
    scenario: Arc<Scenario>,
    world: Arc<Mutex<World>>,
    apis: Vec<Api>,
    processes: Vec<Running>,
    warm: Vec<Option<(Arc<Worker>, Ports)>>,
    left: Budget,
    tries: Vec<u32>,
}

impl Run {
    fn new(stage: &Stage, with_history: bool) -> Self {
        let scenario = stage.scenario.clone();
        // Jitter is the only chance that is left in the functions; with this it is the same each time.
        fastrand::seed(0);
        let mut world = World::new(&scenario.timing, scenario.mutation, with_history);
        let now = world.now;
        for index in 0..scenario.parcels {
            world.parcels.create(&cast::parcel(index, now), None, now);
        }
        *stage.world.lock().unwrap_or_else(PoisonError::into_inner) = world;
        let mut run = Self {
            world: stage.world.clone(),
            apis: stage.apis.clone(),
            processes: vec![],
            warm: (0..scenario.workers).map(|_| None).collect(),
            left: scenario.budget,
            tries: vec![0; scenario.requests.len()],
            scenario,
        };
        run.begin_invoices();
        run
    }

    /// The world as it is.
    pub fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything that what may happen next depends on.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let roles: Vec<Role> = self.alive().map(|process| self.processes[process].role).collect();
        digest((self.world().fingerprint(), roles))
    }

    /// What may still happen, in numbers: more of each is more.
    #[must_use]
    pub fn left(&self) -> Vec<u32> {
        let Budget { faults, tries, deliveries, relays, events, wishes } = self.left;
        let tries = self.tries.iter().map(|used| tries.saturating_sub(*used));
        [faults, deliveries, relays, events, wishes].into_iter().chain(tries).collect()
    }

    /// What has been broken so far.
    #[must_use]
    pub fn violations(&self) -> Vec<Violation> {
        let world = self.world();
        world.witness.violations.iter().cloned().chain(broken_now(&world)).collect()
    }

    fn alive(&self) -> impl Iterator<Item = usize> {
        self.processes.iter().enumerate().filter(|(_, running)| running.future.is_some()).map(|(process, _)| process)
    }

    fn runs(&self, role: Role) -> bool {
        self.alive().any(|process| self.processes[process].role == role)
    }

    /// The worker that takes the next delivery, if one is free.
    fn free_worker(&self) -> Option<usize> {
        (0..self.scenario.workers).find(|worker| !self.runs(Role::Worker(*worker)))
    }

    fn is_asleep(&self, process: usize) -> bool {
        self.world().calls.of(process).is_empty()
    }

    fn wants_asking(&self, request: usize) -> bool {
        let answerable = match self.scenario.requests[request] {
            Request::InvoiceOf(first) => self.world().made_by(first).is_some(),
            Request::CreateParcel { .. } | Request::InvoiceOfFirst => true,
        };
        answerable && self.world().made_by(request).is_none() && !self.runs(Role::Request(request))
    }

    /// Does what the schedule says.
    ///
    /// # Errors
    /// If it cannot be done here.
    pub async fn apply(&mut self, choice: Choice) -> Result<(), String> {
        let cannot = || Err(format!("{choice} cannot be done here"));
        match choice {
            Choice::Request(index) => {
                if index >= self.tries.len() || !self.wants_asking(index) {
                    return cannot();
                }
                self.tries[index] += 1;
                self.ask(index).await;
            }
            Choice::Deliver { worker } | Choice::DeliverAgain { worker } => {
                if worker >= self.scenario.workers || self.runs(Role::Worker(worker)) {
                    return cannot();
                }
                self.left.deliveries = self.left.deliveries.saturating_sub(1);
                let again = matches!(choice, Choice::DeliverAgain { .. });
                self.left.faults = self.left.faults.saturating_sub(u32::from(again));
                self.deliver(worker, again).await;
            }
            Choice::Relay => {
                if self.runs(Role::Relay) {
                    return cannot();
                }
                self.left.relays = self.left.relays.saturating_sub(1);
                let process = self.enter(Role::Relay, "relay", RELAY_LIMIT);
                let relay = cast::relay(self.ports(process, 0));
                self.start(process, relay).await;
            }
            Choice::Event { mail, news } => {
                if mail >= self.world().witness.mails.len() || self.runs(Role::Event(mail, news)) {
                    return cannot();
                }
                self.left.events = self.left.events.saturating_sub(1);
                if news.is_bounce() {
                    self.world().witness.mails[mail].came_back = Some(news);
                }
                let process = self.enter(Role::Event(mail, news), "event", EVENT_LIMIT);
                let event = cast::event(self.ports(process, 0), mail, news);
                self.start(process, event).await;
            }
            Choice::Person { letter, wish } => {
                let can_be_handled = self.world().can_be_handled(letter);
                if !can_be_handled || self.runs(Role::Operator(letter, wish)) {
                    return cannot();
                }
                self.left.wishes = self.left.wishes.saturating_sub(1);
                self.handle_letter(letter, wish).await;
            }
            Choice::Call { process, lane, outcome } => {
                let known = self.processes.get(process).is_some_and(|running| running.future.is_some());
                if !known || self.world().calls.of(process).len() <= lane {
                    return cannot();
                }
                let free = matches!(outcome, Outcome::Succeeds | Outcome::TimesOut);
                self.left.faults = self.left.faults.saturating_sub(u32::from(!free));
                self.answer(process, lane, outcome).await;
            }
            Choice::Seconds(seconds) => {
                self.wait(Duration::from_secs(u64::from(seconds))).await;
            }
        }
        self.world().settle();
        Ok(())
    }

    fn ports(&self, process: usize, release: u32) -> Ports {
        Ports { gate: Gate::new(self.world.clone(), process), release, clients: Rights::Merchant }
    }

    /// Makes room for a process in the world.
    fn enter(&mut self, role: Role, name: &str, limit: Duration) -> usize {
        let process = self.processes.len();
        self.processes.push(Running { role, future: None });
        let mut world = self.world();
        let limit = world.now + limit;
        world.inhabitants.push(Inhabitant {
            name: format!("{process} {name}"),
            limit,
            alive: true,
            killed: false,
            memory: digest(role),
            messages: vec![],
            could_not_bury: false,
        });
        drop(world);
        process
    }

    async fn start(&mut self, process: usize, future: Process) {
        // Without tokio's budget, which is one for all that happens between two of its turns.
        self.processes[process].future = Some(Box::pin(tokio::task::unconstrained(future)));
        self.world().note(|world| format!("{:<10} begins", world.inhabitants[process].name));
        self.poll(process).await;
    }

    async fn ask(&mut self, index: usize) {
        let parcel = match self.scenario.requests[index] {
            Request::CreateParcel { .. } => None,
            Request::InvoiceOfFirst => self.world().parcels.rows().first().map(|parcel| parcel.id.0),
            Request::InvoiceOf(first) => self.world().made_by(first),
        };
        let request = match (self.scenario.requests[index], parcel) {
            (Request::CreateParcel { key }, _) => cast::create_parcel(key),
            (_, Some(parcel)) => cast::ask_for_invoice(parcel),
            (_, None) => return,
        };
        let process = self.enter(Role::Request(index), "request", REQUEST_LIMIT);
        let future = self.apis[index].answer(process, index, request);
        self.start(process, future).await;
    }

    async fn deliver(&mut self, slot: usize, again: bool) {
        let process = self.enter(Role::Worker(slot), "worker", self.scenario.timing.worker_limit);
        let messages = {
            let mut world = self.world();
            let now = world.now;
            let messages = if again {
                world.queue.receive_again(process, now)
            } else {
                world.queue.receive(process, self.scenario.batch, now)
            };
            let mut task: Vec<_> = messages
                .iter()
                .map(|message| (world.invoice_of(message), message.receives, message.letter.clone()))
                .collect();
            // As the world's fingerprint has it: only the order of letters counts.
            task.sort_by_key(|(invoice, receives, letter)| match letter {
                None => (false, *invoice, *receives),
                Some(_) => (true, None, 0),
            });
            world.inhabitants[process].memory = digest((world.inhabitants[process].memory, task));
            world.inhabitants[process].messages.clone_from(&messages);
            world.note(|_| {
                format!(
                    "queue      delivers {:?}",
                    messages.iter().map(|message| (&message.id, message.receives)).collect::<Vec<_>>()
                )
            });
            messages
        };
        let release = if self.scenario.releases_differ { u32::try_from(slot).unwrap_or(0) } else { 0 };
        let warm = self.warm[slot].take().filter(|_| self.scenario.warm);
        let (worker, ports) = warm.unwrap_or_else(|| {
            let ports = self.ports(process, release);
            (Arc::new(cast::worker(&ports, &self.scenario.timing)), ports)
        });
        ports.gate.is_now(process);
        self.warm[slot] = Some((worker.clone(), ports.clone()));
        let future = cast::delivery(ports, worker, messages, &self.scenario.timing);
        self.start(process, future).await;
    }

    async fn handle_letter(&mut self, letter: usize, wish: Wish) {
        let email = match wish {
            Wish::Redrive => {
                let mut world = self.world();
                world.redrive(letter);
                world.note(|world| format!("console    redrives {}", world.dead_letters[letter].id));
                return;
            }
            Wish::Retry => None,
            Wish::Readdress => Some(cast::right_address()),
        };
        let in_hand = {
            let world = self.world();
            let Letter { id, body, reason, .. } = world.dead_letters[letter].clone();
            let receipt_handle = id.0.clone();
            BuriedTicket { letter: id, body, reason: Some(reason), since: world.now, receipt_handle }
        };
        let process = self.enter(Role::Operator(letter, wish), "operator", OPERATOR_LIMIT);
        let operator = cast::operator(self.ports(process, 0), in_hand, email);
        self.start(process, operator).await;
    }

    async fn answer(&mut self, process: usize, lane: usize, outcome: Outcome) {
        if outcome == Outcome::TimesOut {
            self.poll(process).await;
            return;
        }
        let op = self.world().calls.decide(process, lane, outcome);
        if outcome != Outcome::Succeeds {
            self.world().note(|world| format!("{:<10} {op:?}: {outcome:?}", world.inhabitants[process].name));
        }
        if outcome != Outcome::DiesBefore {
            self.poll(process).await;
        }
        if matches!(outcome, Outcome::DiesBefore | Outcome::DiesAfter) {
            self.kill(process);
        }
    }

    fn kill(&mut self, process: usize) {
        if self.processes[process].future.take().is_some() {
            self.world().note(|world| format!("{:<10} is killed", world.inhabitants[process].name));
            self.world().ended(process, true);
            if let Role::Worker(slot) = self.processes[process].role {
                self.warm[slot] = None;
            }
        }
    }

    /// Who does not live to see this moment.
    fn killed_by(&self, moment: Timestamp) -> Vec<usize> {
        self.alive().filter(|process| self.world().inhabitants[*process].limit <= moment).collect()
    }

    async fn wait(&mut self, duration: Duration) {
        let now = self.world().now + duration;
        for process in self.killed_by(now) {
            self.left.faults = self.left.faults.saturating_sub(1);
            self.kill(process);
        }
        self.world().now = now;
        tokio::time::advance(duration).await;
        let asleep: Vec<usize> = self.alive().filter(|process| self.is_asleep(*process)).collect();
        for process in asleep {
            self.poll(process).await;
        }
    }

    /// Lets a process go on until it waits for an answer or for time, or ends.
    async fn poll(&mut self, process: usize) {
        for _ in 0..4 {
            let Some(future) = &mut self.processes[process].future else { return };
            if poll_once(future.as_mut()).is_ready() {
                self.processes[process].future = None;
                self.world().note(|world| format!("{:<10} ends", world.inhabitants[process].name));
                self.world().ended(process, false);
                return;
            }
            if !self.is_asleep(process) {
                return;
            }
            // A timer that is over already still wants to be looked at by the runtime.
            tokio::task::yield_now().await;
        }
    }
}

fn poll_once(future: Pin<&mut (dyn Future<Output = ()> + 'static)>) -> Poll<()> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}
