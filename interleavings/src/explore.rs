//! Every schedule within a scenario's bounds.
//!
//! The search goes depth first, and replays each prefix, since a process cannot be copied. Where it meets a state that
//! it knows, it turns back: the same state has the same future. A state is the world, plus what each living process
//! was told, from which everything that it will do follows; times count from the present moment.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use crate::invariant::{Invariant, Violation};
use crate::run::Stage;
use crate::scenario::Scenario;
use crate::schedule::{Choice, Schedule};

/// What an exploration found.
#[derive(Clone, Debug, Default)]
pub struct Explored {
    /// The scenario's name.
    pub name: &'static str,
    /// How many schedules were run.
    pub schedules: usize,
    /// How many different states were seen.
    pub states: usize,
    /// In how many different states the world was made to heal.
    pub healed: usize,
    /// How many choices were made, replays not counted.
    pub steps: usize,
    /// The first and shortest schedule that broke each invariant.
    pub broken: BTreeMap<Invariant, (Schedule, Violation)>,
}

impl Explored {
    fn note(&mut self, schedule: &[Choice], violations: Vec<Violation>) {
        for violation in violations {
            let known = self.broken.get(&violation.invariant);
            if known.is_none_or(|(known, _)| known.0.len() > schedule.len()) {
                self.broken.insert(violation.invariant, (Schedule(schedule.to_vec()), violation));
            }
        }
    }
}

impl fmt::Display for Explored {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, schedules, states, healed, steps, broken } = self;
        write!(formatter, "{name}: {schedules} schedules, {steps} steps, {states} states, {healed} healed")?;
        broken.iter().try_for_each(|(invariant, (schedule, violation))| {
            write!(formatter, "\n  {invariant:?}: {}\n    {schedule}", violation.seen)
        })
    }
}

/// A runtime whose time moves only when the schedule says so.
///
/// # Panics
/// If the machine has no resources for a thread of control.
pub fn in_paused_time<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(tokio::task::unconstrained(work))
}

/// Every schedule of the scenario.
#[must_use]
pub fn exhaustively(scenario: Scenario) -> Explored {
    search(scenario, &mut Seen::default(), None)
}

/// Every schedule of the scenario, until one breaks this.
#[must_use]
pub fn until_broken(scenario: Scenario, invariant: Invariant) -> Explored {
    search(scenario, &mut Seen::default(), Some(invariant))
}

/// The states that a scenario comes through, with or without turning back at those that were seen before.
#[must_use]
pub fn states(scenario: Scenario, turning_back: bool) -> BTreeSet<u64> {
    let mut seen = Seen { never_turns_back: !turning_back, ..Seen::default() };
    let _ = search(scenario, &mut seen, None);
    seen.states.into_keys().collect()
}

fn search(scenario: Scenario, seen: &mut Seen, until: Option<Invariant>) -> Explored {
    let mut explored = Explored { name: scenario.name, ..Explored::default() };
    let stage = Stage::new(scenario);
    let mut open: Vec<Vec<Choice>> = vec![vec![]];
    in_paused_time(async {
        while let Some(mut path) = open.pop() {
            explored.schedules += 1;
            let mut run = stage.replay(&path, false).await;
            loop {
                explored.note(&path, run.violations());
                if until.is_some_and(|invariant| explored.broken.contains_key(&invariant)) {
                    return;
                }
                if !seen.is_new(run.fingerprint(), run.left()) {
                    break;
                }
                let choices = run.choices();
                let Some((&first, others)) = choices.split_first() else {
                    explored.healed += 1;
                    explored.note(&path, run.heal().await);
                    break;
                };
                open.extend(others.iter().rev().map(|choice| [&path[..], &[*choice]].concat()));
                path.push(first);
                explored.steps += 1;
                run.apply(first).await.expect("a choice that was offered");
            }
        }
    });
    explored.states = seen.states.len();
    explored
}

/// The states seen, each with what might still happen from there.
#[derive(Default)]
struct Seen {
    states: HashMap<u64, Vec<Vec<u32>>>,
    never_turns_back: bool,
}

impl Seen {
    /// Whether more may happen from here than from the same state before.
    fn is_new(&mut self, state: u64, left: Vec<u32>) -> bool {
        let known = self.states.entry(state).or_default();
        let covers = |more: &[u32], less: &[u32]| more.iter().zip(less).all(|(more, less)| more >= less);
        if known.iter().any(|known| covers(known, &left)) {
            return self.never_turns_back;
        }
        known.retain(|known| !covers(&left, known));
        known.push(left);
        true
    }
}

/// What happens along a schedule until this is broken; if it is not, until the world has healed.
#[must_use]
pub fn history(scenario: Scenario, schedule: &Schedule, until: Option<Invariant>) -> String {
    in_paused_time(async {
        let mut run = Stage::new(scenario).begin(true);
        let is_it = |violation: &Violation| Some(violation.invariant) == until;
        for choice in &schedule.0 {
            if let Err(error) = run.apply(*choice).await {
                run.world().note(|_| error);
            }
            if run.violations().iter().any(is_it) {
                break;
            }
        }
        let broken = run.violations();
        let broken = if broken.iter().any(is_it) { broken } else { run.heal().await };
        let broken = broken.iter().map(|violation| format!("\n{:?}: {}", violation.invariant, violation.seen));
        format!("{}{}", run.world().history(), broken.collect::<String>())
    })
}
