//! How long to wait before somebody looks again. All waits live here.

use std::time::Duration;

/// How long after its creation an invoice becomes due, if its first ticket has not finished it.
pub const FIRST_DUE: Duration = Duration::from_mins(1);

const MINUTE: u64 = 60;

/// How far the relay moves a due time on, the `moves`-th time (from 0): 5, 10, 20, 40, then 60 minutes.
///
/// Long, because the ticket may simply be waiting in a long queue, and a second one would not speed it up.
#[must_use]
pub fn relay_backoff(moves: u32) -> Duration {
    Duration::from_secs((5 * MINUTE).saturating_mul(1 << moves.min(4)).min(60 * MINUTE))
}

/// With fewer tickets waiting on a queue, its workers have caught up: what is due has no ticket among them.
const CAUGHT_UP: u64 = 10;

/// At every so many-th look the relay sends a ticket, however long the queue is: six and a half hours after the first
/// ticket, which is longer than the longest drain that is reckoned with.
const LOOKS_FOR_A_TICKET: u32 = 10;

/// What the relay knows of the last ticket of what is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastTicket {
    /// It is on the queue, unless it got lost.
    Sent,
    /// A worker acknowledged it, and left the next one to the relay.
    UsedUp,
}

/// Whether the relay sends a ticket at its `moves`-th look (from 0), while so many are waiting on the queue. As long as the
/// workers have not caught up, what is due is most likely waiting for its turn, and a second ticket would only make the
/// queue longer.
#[must_use]
pub fn relay_sends(last: LastTicket, moves: u32, waiting: u64) -> bool {
    last == LastTicket::UsedUp || waiting < CAUGHT_UP || (moves + 1).is_multiple_of(LOOKS_FOR_A_TICKET)
}

/// How long an invoice stays parked, the `parks`-th time (from 0): 15 s, 30 s, then doubling up to 10 minutes.
///
/// Short at first, so that a brief outage costs the customer little; bounded, so that a long one ends soon for
/// everybody.
#[must_use]
pub fn park_backoff(parks: u32) -> Duration {
    Duration::from_secs(15_u64.saturating_mul(1 << parks.min(6)).min(10 * MINUTE))
}

/// How long a ticket stays hidden after its `receives`-th failed try (from 1): 1, 2, 4, 8 s, plus up to a quarter.
///
/// `jitter` is a random value from 0 to 1; it spreads out tickets that failed together.
#[must_use]
pub fn retry_delay(receives: u32, jitter: f64) -> Duration {
    let seconds = 1_u32 << receives.saturating_sub(1).min(3);
    Duration::from_secs_f64(f64::from(seconds) * (1.0 + jitter.clamp(0.0, 1.0) / 4.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minutes(durations: impl Iterator<Item = Duration>) -> Vec<u64> {
        durations.map(|duration| duration.as_secs() / 60).collect()
    }

    #[test]
    fn the_relay_waits_longer_each_time_up_to_an_hour() {
        assert_eq!(minutes((0..7).map(relay_backoff)), [5, 10, 20, 40, 60, 60, 60]);
        assert_eq!(relay_backoff(u32::MAX), Duration::from_hours(1));
    }

    #[test]
    fn what_waits_for_its_turn_gets_a_second_ticket_once_in_six_and_a_half_hours() {
        let looks: Vec<u32> = (0..20).filter(|moves| relay_sends(LastTicket::Sent, *moves, CAUGHT_UP)).collect();
        assert_eq!(looks, [9, 19]);
        let until: Duration = FIRST_DUE + (0..9).map(relay_backoff).sum::<Duration>();
        assert_eq!(until.as_secs() / MINUTE, 376);
        assert!((0..20).all(|moves| relay_sends(LastTicket::Sent, moves, CAUGHT_UP - 1)));
        assert!((0..20).all(|moves| relay_sends(LastTicket::UsedUp, moves, u64::MAX)));
    }

    #[test]
    fn parking_begins_short_and_is_bounded() {
        let seconds: Vec<_> = (0..8).map(|parks| park_backoff(parks).as_secs()).collect();
        assert_eq!(seconds, [15, 30, 60, 120, 240, 480, 600, 600]);
        assert_eq!(park_backoff(u32::MAX), Duration::from_mins(10));
    }

    #[test]
    fn a_retry_doubles_and_is_spread_by_at_most_a_quarter() {
        let least: Vec<_> = (1..6).map(|receives| retry_delay(receives, 0.0).as_secs()).collect();
        assert_eq!(least, [1, 2, 4, 8, 8]);
        assert_eq!(retry_delay(4, 1.0), Duration::from_secs(10));
        assert_eq!(retry_delay(0, 0.0), Duration::from_secs(1));
    }
}
