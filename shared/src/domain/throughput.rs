//! How many mails go out a second, counted in slots of time that all workers add to.

use std::time::Duration;

use super::Timestamp;

/// How long a slot is, in seconds.
const SLOT_SECONDS: i64 = 5;

/// So many complete slots are looked back on. Fewer would jump with every batch of a slow worker, more would lag.
const RECENT: i64 = 2;

/// A slot of time in which sent mails are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(i64);

impl Slot {
    /// The slot that this moment is in.
    #[must_use]
    pub const fn of(moment: Timestamp) -> Self {
        Self(moment.seconds().div_euclid(SLOT_SECONDS) * SLOT_SECONDS)
    }

    /// When it begins, in seconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.0
    }
}

/// A stretch of complete slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// The first of them.
    pub first: Slot,
    /// The last of them.
    pub last: Slot,
}

impl Slots {
    /// The last ten seconds or so before this moment: the slots that nobody adds to any more.
    #[must_use]
    pub const fn before(moment: Timestamp) -> Self {
        let current = Slot::of(moment).0;
        Self { first: Slot(current - RECENT * SLOT_SECONDS), last: Slot(current - SLOT_SECONDS) }
    }

    /// So many mails in these slots, as mails a second.
    #[must_use]
    pub fn per_second(self, mails: u64) -> f64 {
        let seconds = self.last.0 + SLOT_SECONDS - self.first.0;
        let length = Duration::from_secs(u64::try_from(seconds).unwrap_or(1));
        f64::from(u32::try_from(mails).unwrap_or(u32::MAX)) / length.as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slots_before_a_moment_are_complete_and_end_where_its_own_begins() {
        for (millis, first, last) in [(60_000, 50, 55), (64_999, 50, 55), (65_000, 55, 60)] {
            let slots = Slots::before(Timestamp::from_millis(millis));
            assert_eq!((slots.first.seconds(), slots.last.seconds()), (first, last), "{millis}");
            assert!(slots.last < Slot::of(Timestamp::from_millis(millis)));
        }
    }

    #[test]
    fn mails_are_spread_over_the_whole_stretch() {
        let slots = Slots::before(Timestamp::from_millis(60_000));
        assert_eq!([0, 1, 185].map(|mails| slots.per_second(mails).to_string()), ["0", "0.1", "18.5"]);
    }
}
