//! The search itself: the same schedule gives the same run, and turning back at known states misses none.

use interleavings::explore::{history, states};
use interleavings::{Budget, Scenario, Schedule};

#[test]
fn the_same_schedule_gives_the_same_history() {
    let schedule: Schedule = "request0 0:ok request6 1:ok 0:ok 1:answer-lost request1 +1s deliver0 3:ok 3.1:repeats \
                              3:fails relay +61s 2:ok deliver1 +10s relay +46s event0"
        .parse()
        .unwrap();
    let [first, second] = [(); 2].map(|()| history(Scenario::everything(), &schedule, None));
    assert_eq!(first, second);
    assert!(first.contains("request0 is answered 201"), "{first}");
}

/// Without turning back the search is long, so the bounds are narrow here.
#[test]
fn turning_back_at_known_states_misses_none() {
    let narrow = |faults, deliveries, relays, scenario: Scenario| {
        let budget = Budget { faults, tries: 1, deliveries, relays, ..scenario.budget };
        Scenario { budget, ..scenario }
    };
    for scenario in [
        narrow(0, 0, 0, Scenario::two_requests()),
        narrow(0, 1, 1, Scenario::request_and_worker()),
        narrow(1, 1, 0, Scenario::provider_tells()),
        narrow(0, 2, 1, Scenario::two_workers()),
        narrow(2, 1, 0, Scenario::two_workers()),
        narrow(0, 1, 0, Scenario::one_letter_twice()),
        narrow(0, 1, 0, Scenario::sent_after_all()),
        narrow(0, 1, 0, Scenario::bounce_in_the_gap()),
    ] {
        let name = scenario.name;
        assert_eq!(states(scenario.clone(), true), states(scenario, false), "{name}");
    }
}
