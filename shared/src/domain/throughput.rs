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
        Self::at_seconds(moment.seconds())
    }

    /// The slot that begins so many seconds after 1970-01-01T00:00:00Z, or has begun then.
    #[must_use]
    pub const fn at_seconds(seconds: i64) -> Self {
        Self(seconds.div_euclid(SLOT_SECONDS) * SLOT_SECONDS)
    }

    /// When it begins.
    #[must_use]
    pub const fn begin(self) -> Timestamp {
        Timestamp::from_millis(self.0 * 1000)
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

    /// The last complete hour or a little less before this moment: whole minutes.
    #[must_use]
    pub const fn of_the_hour_before(moment: Timestamp) -> Self {
        let minute = moment.seconds().div_euclid(60) * 60;
        Self { first: Slot(minute - 3600), last: Slot(minute - SLOT_SECONDS) }
    }

    /// The minutes that begin in these slots, each as the slots in it.
    pub fn minutes(self) -> impl Iterator<Item = Self> {
        let beginnings = (self.first.0..=self.last.0).filter(|seconds| seconds % 60 == 0);
        beginnings.map(|minute| Self { first: Slot(minute), last: Slot(minute + 60 - SLOT_SECONDS) })
    }

    /// Whether this slot is among them.
    #[must_use]
    pub fn contain(self, slot: Slot) -> bool {
        (self.first..=self.last).contains(&slot)
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
    fn an_hour_is_sixty_whole_minutes_and_the_one_that_runs_is_not_among_them() {
        let hour = Slots::of_the_hour_before(Timestamp::from_millis(7_259_999));
        let minutes: Vec<Slots> = hour.minutes().collect();
        assert_eq!(minutes.len(), 60);
        assert_eq!((minutes[0].first.seconds(), minutes[59].last.seconds()), (3_600, 7_195));
        for (seconds, minute) in [(3_600, 0), (3_659, 0), (3_660, 1), (7_199, 59)] {
            let slot = Slot::at_seconds(seconds);
            assert_eq!(minutes.iter().position(|minute| minute.contain(slot)), Some(minute), "{seconds}");
        }
        assert!(!hour.contain(Slot::at_seconds(3_599)) && !hour.contain(Slot::at_seconds(7_200)));
    }

    #[test]
    fn mails_are_spread_over_the_whole_stretch() {
        let slots = Slots::before(Timestamp::from_millis(60_000));
        assert_eq!([0, 1, 185].map(|mails| slots.per_second(mails).to_string()), ["0", "0.1", "18.5"]);
    }
}
