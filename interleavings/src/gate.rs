//! Where every call of a port waits until the schedule says how it ends.

use std::future::poll_fn;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use parceltrack::domain::Timestamp;

use crate::schedule::Outcome;
use crate::world::World;

/// What a process asks of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each is named after its port's method")]
pub enum Op {
    CreateParcel,
    RecordKey,
    ReadParcel,
    RecordEvent,
    ReadAnswer,
    ExpectProof,
    CreateInvoice,
    ReadInvoice,
    SendTicket,
    Claim,
    StorePdf,
    Generated,
    AboutToSend,
    SendMail,
    LetGo,
    Postpone,
    Bury,
    DuePage,
    MoveDue,
    SendBatch,
    Acknowledge,
    ReadSuppression,
    RecordDelivery,
    AddSuppression,
    Reopen,
    Readdress,
    RemoveLetter,
}

impl Op {
    /// In which ways the call can go wrong. A read whose answer is lost is a read that failed.
    #[must_use]
    pub fn faults(self) -> &'static [Outcome] {
        use Outcome::{AnswerLost, DiesAfter, DiesBefore, Fails, PutOff, Rejected, Repeats};
        match self {
            Self::ReadParcel | Self::ReadAnswer | Self::ReadInvoice | Self::ReadSuppression | Self::DuePage => {
                &[Fails, DiesBefore]
            }
            Self::SendMail => &[Fails, AnswerLost, DiesBefore, DiesAfter, PutOff, Rejected],
            Self::Acknowledge => &[Fails],
            _ => &[Fails, AnswerLost, Repeats, DiesBefore, DiesAfter],
        }
    }
}

/// A call that waits.
#[derive(Clone, Debug)]
pub struct Call {
    id: u64,
    /// Which process makes it.
    pub process: usize,
    /// What it asks.
    pub op: Op,
    /// What it is about, as one number.
    pub about: u64,
    /// The times among its arguments.
    pub times: Vec<Timestamp>,
    /// Since when it waits.
    pub since: Timestamp,
    decision: Option<Outcome>,
}

/// The calls that wait, and who waits.
#[derive(Debug, Default)]
pub struct Calls {
    next: u64,
    waiting: Vec<Call>,
}

impl Calls {
    /// The waiting calls of a process, in an order that does not depend on chance.
    #[must_use]
    pub fn of(&self, process: usize) -> Vec<&Call> {
        let mut calls: Vec<&Call> = self.waiting.iter().filter(|call| call.process == process).collect();
        calls.sort_by_key(|call| (call.op, call.about, call.id));
        calls
    }

    /// Says how a call ends. Its process finds out when it is polled.
    pub(crate) fn decide(&mut self, process: usize, lane: usize, outcome: Outcome) -> Option<Op> {
        let (id, op) = self.of(process).get(lane).map(|call| (call.id, call.op))?;
        self.waiting.iter_mut().filter(|call| call.id == id).for_each(|call| call.decision = Some(outcome));
        Some(op)
    }

    fn announce(&mut self, process: usize, (op, about): (Op, u64), times: &[Timestamp], since: Timestamp) -> u64 {
        self.next += 1;
        self.waiting.push(Call { id: self.next, process, op, about, times: times.to_vec(), since, decision: None });
        self.next
    }

    fn take_decision(&mut self, id: u64) -> Option<Outcome> {
        self.waiting.iter_mut().find(|call| call.id == id)?.decision.take()
    }
}

/// One process's way to the world.
#[derive(Clone)]
pub struct Gate {
    world: Arc<Mutex<World>>,
    process: Arc<AtomicUsize>,
    passage: Passage,
}

/// Whether calls wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passage {
    /// Until the schedule says how they end.
    AsScheduled,
    /// No: all succeed, at once.
    Free,
}

/// Takes the call off the list, also when its caller has no patience left.
struct Waiting<'a> {
    gate: &'a Gate,
    id: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.gate.world().calls.waiting.retain(|call| call.id != self.id);
    }
}

impl Gate {
    /// The way of this process.
    #[must_use]
    pub fn new(world: Arc<Mutex<World>>, process: usize) -> Self {
        Self { world, process: Arc::new(AtomicUsize::new(process)), passage: Passage::AsScheduled }
    }

    /// The way of this process, on which every call succeeds at once.
    #[must_use]
    pub fn free(world: Arc<Mutex<World>>, process: usize) -> Self {
        Self { passage: Passage::Free, ..Self::new(world, process) }
    }

    /// The world, without a call: for what is no port.
    pub fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The process that goes through here.
    #[must_use]
    pub fn process(&self) -> usize {
        self.process.load(Ordering::Relaxed)
    }

    /// From now on it is this process that goes through here: the same worker, invoked again.
    pub fn is_now(&self, process: usize) {
        self.process.store(process, Ordering::Relaxed);
    }

    async fn wait(&self, process: usize, (op, about): (Op, u64), times: &[Timestamp]) -> Outcome {
        let waiting = {
            let mut world = self.world();
            let now = world.now;
            Waiting { id: world.calls.announce(process, (op, about), times, now), gate: self }
        };
        poll_fn(|_| match self.world().calls.take_decision(waiting.id) {
            Some(outcome) => Poll::Ready(outcome),
            None => Poll::Pending,
        })
        .await
    }

    /// One call. `about` is what it asks and `seen` what its answer tells, both as numbers: what the process may do
    /// next depends on these alone, and the call itself on its `times` as well.
    pub(crate) async fn pass<T>(
        &self,
        (op, about): (Op, u64),
        times: &[Timestamp],
        mut effect: impl FnMut(&mut World) -> T + Send,
        seen: impl Fn(&T) -> u64 + Send,
    ) -> Result<T, Outcome> {
        let process = self.process();
        loop {
            let outcome = match self.passage {
                Passage::Free => Outcome::Succeeds,
                Passage::AsScheduled => self.wait(process, (op, about), times).await,
            };
            match outcome {
                Outcome::Succeeds => {
                    let mut world = self.world();
                    let answer = effect(&mut world);
                    world.remember(process, (op, about, outcome, seen(&answer)));
                    return Ok(answer);
                }
                Outcome::Repeats => {
                    let mut world = self.world();
                    drop(effect(&mut world));
                    world.remember(process, (op, about, outcome, 0));
                }
                Outcome::AnswerLost => {
                    let mut world = self.world();
                    drop(effect(&mut world));
                    world.remember(process, (op, about, outcome, 0));
                    return Err(outcome);
                }
                Outcome::Fails | Outcome::PutOff | Outcome::Rejected => {
                    self.world().remember(process, (op, about, outcome, 0));
                    return Err(outcome);
                }
                Outcome::DiesAfter => {
                    drop(effect(&mut self.world()));
                    return std::future::pending().await;
                }
                Outcome::DiesBefore | Outcome::TimesOut => return std::future::pending().await,
            }
        }
    }
}

/// Several facts as one number.
pub(crate) fn digest(facts: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    facts.hash(&mut hasher);
    hasher.finish()
}
