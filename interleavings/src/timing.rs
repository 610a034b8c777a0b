//! The times that the promise rests on, as they stand in template.yaml.

use std::time::Duration;

/// How long everything lasts.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    /// After this Lambda kills a worker.
    pub worker_limit: Duration,
    /// How long a claim holds.
    pub lease: Duration,
    /// How long the queue hides what it delivered.
    pub visibility: Duration,
    /// After how many receives the queue gives a ticket up.
    pub max_receives: u32,
    /// After how many the worker believes that it does.
    pub max_receives_told: u32,
}

impl Timing {
    /// The queue gives up after so many receives, and the worker is told so.
    #[must_use]
    pub fn receives(max: u32) -> Self {
        Self { max_receives: max, max_receives_told: max, ..Self::default() }
    }
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            worker_limit: Duration::from_secs(10),
            lease: Duration::from_secs(45),
            visibility: Duration::from_mins(1),
            max_receives: 5,
            max_receives_told: 5,
        }
    }
}

/// After this Lambda kills a request.
pub(crate) const REQUEST_LIMIT: Duration = Duration::from_secs(10);

/// After this Lambda kills a run of the relay.
pub(crate) const RELAY_LIMIT: Duration = Duration::from_secs(50);

/// After this Lambda kills the hearing of an event.
pub(crate) const EVENT_LIMIT: Duration = Duration::from_secs(10);

/// For so long an operator has a letter in hand.
pub(crate) const OPERATOR_LIMIT: Duration = Duration::from_mins(15);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_are_those_of_the_template() {
        let template = include_str!("../../template.yaml");
        let Timing { worker_limit, lease, visibility, .. } = Timing::default();
        for (name, duration) in
            [("TimeoutSeconds", worker_limit), ("LeaseSeconds", lease), ("VisibilitySeconds", visibility)]
        {
            assert!(template.contains(&format!("\n      {name}: {}\n", duration.as_secs())), "{name}");
        }
    }
}
