//! The worker's share of the provider's rate: its mails go out evenly spaced, and never too many in any window of time,
//! however unevenly they are answered.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use parceltrack::domain::WorkerPace;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

/// Gives out turns. A turn not taken is not saved up: bursts are what providers count.
///
/// A mail reaches the provider at some moment between its turn and its end. So of the mails whose end is less than a
/// window ago, or that have not ended, there are never more than the pace allows: then there are never more in any window
/// at the provider either, whatever the time that each takes.
#[derive(Debug)]
pub(crate) struct Pace {
    rule: WorkerPace,
    /// As many as there may be mails in a window: a turn holds one until its mail has ended.
    places: Semaphore,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    next: Instant,
    under_way: usize,
    /// When the latest mails ended, the earliest first; with those under way at most as many as fit into a window.
    ended: VecDeque<Instant>,
}

/// The right to send one mail, from this moment on. Held until the mail has been answered.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    pub(crate) at: Instant,
    pace: &'a Pace,
    _place: SemaphorePermit<'a>,
}

impl Pace {
    pub(crate) fn new(rule: WorkerPace) -> Self {
        let state = State { next: Instant::now(), under_way: 0, ended: VecDeque::new() };
        Self { rule, places: Semaphore::new(rule.mails() as usize), state: Mutex::new(state) }
    }

    /// Takes the next turn, once it is known when that is; `None`, and takes none, if that does not suit.
    pub(crate) async fn turn(&self, suits: impl FnOnce(Instant) -> bool) -> Option<Turn<'_>> {
        let place = self.places.acquire().await.ok()?;
        let mut state = self.lock();
        let mut at = state.next.max(Instant::now());
        let full = state.under_way + state.ended.len() >= self.rule.mails() as usize;
        if full && let Some(earliest) = state.ended.front() {
            at = at.max(*earliest + self.rule.window());
        }
        if !suits(at) {
            return None;
        }
        if full {
            state.ended.pop_front();
        }
        state.under_way += 1;
        state.next = at + self.rule.interval();
        Some(Turn { at, pace: self, _place: place })
    }

    /// From when on the next turn may be taken.
    pub(crate) fn next(&self) -> Instant {
        self.lock().next
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.pace.lock();
        state.under_way -= 1;
        state.ended.push_back(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use parceltrack::domain::MailRate;
    use proptest::prelude::*;
    use tokio::time::{advance, sleep, sleep_until};

    use super::*;

    fn pace(per_second: f64) -> Pace {
        Pace::new(MailRate::new(per_second, 1).unwrap().of_one_worker())
    }

    #[tokio::test(start_paused = true)]
    async fn turns_are_evenly_spaced_and_not_saved_up() {
        let pace = pace(2.0);
        let start = Instant::now();
        let mut turns = Vec::new();
        for _ in 0..3 {
            let turn = pace.turn(|_| true).await.unwrap();
            sleep_until(turn.at).await;
            turns.push(turn.at - start);
        }
        assert_eq!(turns, [0, 550, 1100].map(Duration::from_millis));
        advance(Duration::from_mins(1)).await;
        let later = Instant::now();
        let mut turns = Vec::new();
        for _ in 0..2 {
            turns.push(pace.turn(|_| true).await.unwrap().at - later);
        }
        assert_eq!(turns, [0, 550].map(Duration::from_millis));
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_that_does_not_suit_is_left_to_others() {
        let pace = pace(1.0);
        let start = Instant::now();
        drop(pace.turn(|_| true).await);
        assert!(pace.turn(|turn| turn <= start).await.is_none());
        assert_eq!(pace.turn(|_| true).await.unwrap().at - start, Duration::from_millis(1100));
    }

    #[tokio::test(start_paused = true)]
    async fn a_mail_that_takes_long_keeps_the_next_one_waiting() {
        let pace = pace(1.0);
        let start = Instant::now();
        let slow = pace.turn(|_| true).await.unwrap();
        let answered = async {
            sleep(Duration::from_secs(3)).await;
            drop(slow);
        };
        let (next, ()) = tokio::join!(pace.turn(|_| true), answered);
        assert_eq!(next.unwrap().at - start, Duration::from_secs(4), "a window after its end");
    }

    /// When the provider got each mail, if they took so long before and after that, in milliseconds.
    async fn received(pace: &Pace, mails: &[(u64, u64)]) -> Vec<Instant> {
        let sending = mails.iter().map(async |(before, after)| {
            let turn = pace.turn(|_| true).await.unwrap();
            sleep_until(turn.at).await;
            sleep(Duration::from_millis(*before)).await;
            let received = Instant::now();
            sleep(Duration::from_millis(*after)).await;
            received
        });
        let mut received = futures::future::join_all(sending).await;
        received.sort();
        received
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_window_at_the_provider_has_more_mails_than_the_pace_allows(
            mails in prop::collection::vec((0..1500_u64, 0..1500_u64), 1..60),
            per_second in 0.4..12.0,
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
            runtime.block_on(async {
                let pace = pace(per_second);
                let received = received(&pace, &mails).await;
                for (first, next) in received.iter().zip(received.iter().skip(pace.rule.mails() as usize)) {
                    assert!(*next - *first >= pace.rule.window(), "{received:?}");
                }
            });
        }
    }
}
