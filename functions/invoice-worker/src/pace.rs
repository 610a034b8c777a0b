//! The worker's share of the provider's rate: one mail, then a pause, whatever the crowd.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Gives out turns, evenly spaced. A turn not taken is not saved up: bursts are what providers count.
#[derive(Debug)]
pub(crate) struct Pace {
    interval: Duration,
    next: Mutex<Instant>,
}

impl Pace {
    pub(crate) fn new(per_second: f64) -> Self {
        Self { interval: Duration::from_secs_f64(1.0 / per_second), next: Mutex::new(Instant::now()) }
    }

    /// Takes the next turn and says when it is; `None`, and takes none, if that does not suit.
    pub(crate) fn turn(&self, suits: impl FnOnce(Instant) -> bool) -> Option<Instant> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = (*next).max(Instant::now());
        if !suits(turn) {
            return None;
        }
        *next = turn + self.interval;
        Some(turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn turns_are_evenly_spaced_and_not_saved_up() {
        let pace = Pace::new(2.0);
        let start = Instant::now();
        let turns: Vec<_> = (0..3).map(|_| pace.turn(|_| true).unwrap() - start).collect();
        assert_eq!(turns, [0, 500, 1000].map(Duration::from_millis));
        tokio::time::advance(Duration::from_mins(1)).await;
        let later: Vec<_> = (0..2).map(|_| pace.turn(|_| true).unwrap() - start).collect();
        assert_eq!(later, [60_000, 60_500].map(Duration::from_millis));
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_that_does_not_suit_is_left_to_others() {
        let pace = Pace::new(1.0);
        let start = Instant::now();
        assert!(pace.turn(|_| true).is_some());
        assert!(pace.turn(|turn| turn <= start).is_none());
        assert_eq!(pace.turn(|_| true).unwrap() - start, Duration::from_secs(1));
    }
}
