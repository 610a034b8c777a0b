//! Long schedules at random, each from a seed that makes it again; what breaks something is made short.

use std::collections::btree_map::Entry;

use crate::explore::{Explored, in_paused_time};
use crate::invariant::{Invariant, Violation};
use crate::run::{Run, Stage};
use crate::scenario::Scenario;
use crate::schedule::{Choice, Outcome, Schedule};

/// How many choices a schedule has before the world heals, at most.
const LENGTH: usize = 150;

/// Jumps of time in seconds, beside those to the next moment at which something can change: past the provider's
/// patience, a lease, a visibility, a due time, the life of an idempotency key.
const JUMPS: [u32; 7] = [1, 4, 9, 46, 61, 600, 90_000];

/// One schedule for each seed.
#[must_use]
pub fn schedules(scenario: Scenario, seeds: impl Iterator<Item = u64>) -> Explored {
    let mut explored = Explored { name: scenario.name, ..Explored::default() };
    let stage = Stage::new(scenario);
    in_paused_time(async {
        for seed in seeds {
            let (schedule, violations) = run(&stage, seed).await;
            explored.schedules += 1;
            explored.healed += 1;
            explored.steps += schedule.0.len();
            for violation in violations {
                if let Entry::Vacant(place) = explored.broken.entry(violation.invariant) {
                    let seen = format!("{}, by seed {seed}", violation.seen);
                    let schedule = shortened(&stage, schedule.clone(), violation.invariant).await;
                    place.insert((schedule, Violation { seen, ..violation }));
                }
            }
        }
    });
    explored
}

async fn run(stage: &Stage, seed: u64) -> (Schedule, Vec<Violation>) {
    let mut random = fastrand::Rng::with_seed(seed);
    // Some worlds are calm and some are not.
    let faults_in_a_hundred = random.u32(0..30);
    let mut run = stage.begin(false);
    let mut schedule = Schedule::default();
    for _ in 0..LENGTH {
        let choice = draw(&run, &mut random, faults_in_a_hundred);
        let Some(choice) = choice else { break };
        schedule.0.push(choice);
        if run.apply(choice).await.is_err() {
            break;
        }
    }
    let violations = run.heal().await;
    (schedule, violations)
}

fn draw(run: &Run, random: &mut fastrand::Rng, faults_in_a_hundred: u32) -> Option<Choice> {
    let (time, others): (Vec<Choice>, Vec<Choice>) =
        run.choices().into_iter().partition(|choice| matches!(choice, Choice::Seconds(_)));
    let (faults, ordinary): (Vec<Choice>, Vec<Choice>) = others.into_iter().partition(is_a_fault);
    let percent = random.u32(0..100);
    if percent < faults_in_a_hundred && !faults.is_empty() {
        return random.choice(faults);
    }
    if percent >= 96 {
        return Some(Choice::Seconds(random.choice(JUMPS)?));
    }
    if percent >= 90 || ordinary.is_empty() {
        return random.choice(time).or_else(|| random.choice(ordinary));
    }
    random.choice(ordinary)
}

fn is_a_fault(choice: &Choice) -> bool {
    match choice {
        Choice::Call { outcome, .. } => !matches!(outcome, Outcome::Succeeds | Outcome::TimesOut),
        Choice::DeliverAgain { .. } => true,
        _ => false,
    }
}

/// The same schedule without everything that is not needed to break this.
async fn shortened(stage: &Stage, mut schedule: Schedule, invariant: Invariant) -> Schedule {
    let mut index = schedule.0.len();
    while index > 0 {
        index -= 1;
        let mut shorter = schedule.clone();
        shorter.0.remove(index);
        let mut run = stage.replay(&shorter.0, false).await;
        if run.heal().await.iter().any(|violation| violation.invariant == invariant) {
            schedule = shorter;
        }
    }
    schedule
}
