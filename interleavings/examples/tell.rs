//! Tells what happens along a schedule, such as one that a failed test has printed:
//! `cargo run -p interleavings --example tell -- "two workers and a late relay" "deliver0 0:ok +60s"`.

use interleavings::explore::history;
use interleavings::{Scenario, Schedule};

#[allow(clippy::print_stdout, reason = "a command line speaks through its output")]
fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(name), Some(schedule)) = (arguments.next(), arguments.next()) else {
        println!("Say which scenario, and along which schedule. The scenarios:");
        Scenario::exhaustive().into_iter().chain([Scenario::everything()]).for_each(|one| println!("  {}", one.name));
        return;
    };
    let mut scenarios = Scenario::exhaustive().into_iter().chain([Scenario::everything()]);
    let scenario = scenarios.find(|scenario| scenario.name.starts_with(&name)).expect("a scenario of that name");
    let schedule: Schedule = schedule.parse().expect("a schedule");
    println!("{}", history(scenario, &schedule, None));
}
