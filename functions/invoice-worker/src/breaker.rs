//! The breaker: once the provider is plainly away, this worker leaves it alone for a while.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use parceltrack::domain::ProviderState;
use tokio::time::Instant;

/// So many failures in a row open the breaker.
const THRESHOLD: u32 = 3;

/// How long it stays open before one mail may try again.
const OPEN_FOR: Duration = Duration::from_secs(15);

#[derive(Debug, Default)]
pub(crate) struct Breaker {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    failures_in_a_row: u32,
    open_until: Option<Instant>,
    found: Option<ProviderState>,
}

/// Whether the provider may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permit {
    /// Call it.
    Call,
    /// Leave it alone.
    LeaveAlone,
}

impl Breaker {
    /// Asks before a call. After a pause one caller is let through; if it never reports back, the next pause has begun.
    pub(crate) fn permit(&self) -> Permit {
        let now = Instant::now();
        let mut state = self.lock();
        match state.open_until {
            Some(until) if now < until => Permit::LeaveAlone,
            Some(_) => {
                state.open_until = Some(now + OPEN_FOR);
                Permit::Call
            }
            None => Permit::Call,
        }
    }

    /// The provider answered, with yes or no.
    pub(crate) fn answered(&self) {
        *self.lock() = State { found: Some(ProviderState::Answers), ..State::default() };
    }

    /// The provider did not answer, or refused everybody.
    pub(crate) fn failed(&self) {
        let mut state = self.lock();
        state.failures_in_a_row += 1;
        if state.failures_in_a_row >= THRESHOLD {
            state.open_until = Some(Instant::now() + OPEN_FOR);
            state.found = Some(ProviderState::Away);
        }
    }

    /// What the mails so far say of the provider, if they say anything.
    pub(crate) fn found(&self) -> Option<ProviderState> {
        self.lock().found
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn three_failures_in_a_row_open_it_and_one_probe_goes_through_later() {
        let breaker = Breaker::default();
        for _ in 0..THRESHOLD {
            assert_eq!(breaker.permit(), Permit::Call);
            breaker.failed();
        }
        assert_eq!((breaker.permit(), breaker.found()), (Permit::LeaveAlone, Some(ProviderState::Away)));
        tokio::time::advance(OPEN_FOR).await;
        assert_eq!(breaker.permit(), Permit::Call, "the probe");
        assert_eq!(breaker.permit(), Permit::LeaveAlone, "one probe only");
        breaker.failed();
        tokio::time::advance(OPEN_FOR).await;
        assert_eq!(breaker.permit(), Permit::Call, "the next probe");
        breaker.answered();
        assert_eq!((breaker.permit(), breaker.permit()), (Permit::Call, Permit::Call), "closed again");
        assert_eq!(breaker.found(), Some(ProviderState::Answers));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_between_failures_keeps_it_closed() {
        let breaker = Breaker::default();
        for _ in 0..10 {
            breaker.failed();
            breaker.failed();
            assert_ne!(breaker.found(), Some(ProviderState::Away));
            breaker.answered();
        }
        assert_eq!(breaker.permit(), Permit::Call);
    }

    #[tokio::test(start_paused = true)]
    async fn a_probe_that_never_reports_back_does_not_keep_it_open_for_ever() {
        let breaker = Breaker::default();
        (0..THRESHOLD).for_each(|_| breaker.failed());
        tokio::time::advance(OPEN_FOR).await;
        assert_eq!(breaker.permit(), Permit::Call);
        tokio::time::advance(OPEN_FOR).await;
        assert_eq!(breaker.permit(), Permit::Call);
    }
}
