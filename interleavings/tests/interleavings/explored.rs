//! The exhaustive exploration, made once for all tests.

use std::sync::LazyLock;
use std::thread;
use std::time::Instant;

use interleavings::explore::{Explored, exhaustively, history};
use interleavings::{Invariant, Scenario};

static EXPLORED: LazyLock<Vec<(Scenario, Explored)>> = LazyLock::new(|| {
    let explorations = Scenario::exhaustive().into_iter().map(|scenario| {
        thread::spawn(move || {
            let start = Instant::now();
            let explored = exhaustively(scenario.clone());
            eprintln!("{explored}, in {:.1} s", start.elapsed().as_secs_f64());
            (scenario, explored)
        })
    });
    // All are begun before the first is waited for.
    let explorations: Vec<_> = explorations.collect();
    explorations.into_iter().map(|exploration| exploration.join().expect("an exploration")).collect()
});

/// Fails with the schedule and its history if anything that was explored breaks the invariant.
pub(crate) fn assert_kept(invariant: Invariant) {
    for (scenario, explored) in EXPLORED.iter() {
        if let Some((schedule, violation)) = explored.broken.get(&invariant) {
            let history = history(scenario.clone(), schedule, Some(invariant));
            panic!("{}: {}\n{schedule}\n{history}", scenario.name, violation.seen);
        }
    }
}
