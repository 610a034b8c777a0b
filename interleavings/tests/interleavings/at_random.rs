//! Longer histories: seven requests, six invoices, batches, workers that keep their memory, a dozen faults, days of time.
//!
//! `INTERLEAVINGS_SEED=123 INTERLEAVINGS_COUNT=100000 cargo test -p interleavings random` goes on from another seed.

use std::env;
use std::time::Instant;

use interleavings::Scenario;
use interleavings::explore::history;
use interleavings::random::schedules;

fn number(name: &str, otherwise: u64) -> u64 {
    env::var(name).map_or(otherwise, |text| text.parse().expect("a number"))
}

fn assert_unbroken(scenario: Scenario) {
    let (first, count) = (number("INTERLEAVINGS_SEED", 0), number("INTERLEAVINGS_COUNT", 1000));
    let start = Instant::now();
    let explored = schedules(scenario.clone(), first..first + count);
    eprintln!("{explored}, from seed {first}, in {:.1} s", start.elapsed().as_secs_f64());
    if let Some((schedule, violation)) = explored.broken.values().next() {
        panic!("{violation:?}\n{schedule}\n{}", history(scenario, schedule, Some(violation.invariant)));
    }
}

#[test]
fn nothing_is_broken_by_long_random_histories() {
    assert_unbroken(Scenario::everything());
}

#[test]
fn nothing_is_broken_by_long_random_histories_of_letters_and_bounces() {
    assert_unbroken(Scenario::letters_at_length());
}
