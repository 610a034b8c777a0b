//! A moment in milliseconds since 1970, UTC; the one form of time in the domain and in the tables.

use std::fmt;
use std::ops::Add;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use time::{Date, OffsetDateTime, UtcOffset};

/// Singapore has kept UTC+8 without daylight saving since 1982, so no time zone database is needed.
const SINGAPORE: UtcOffset = time::macros::offset!(+8);

/// A moment, to the millisecond, UTC. Shown as RFC 3339.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From milliseconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// The latest moment, in the year 2286, whose milliseconds have the 13 digits that keys sort by.
    pub const LAST: Self = Self(9_999_999_999_999);

    /// From milliseconds that somebody else chose; `None` before 1970 and after [`Timestamp::LAST`].
    #[must_use]
    pub fn of_our_time(millis: i64) -> Option<Self> {
        (0..=Self::LAST.0).contains(&millis).then_some(Self(millis))
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Whole seconds since 1970-01-01T00:00:00Z, as DynamoDB's TTL wants them.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// Reads RFC 3339, such as `2026-11-30T01:02:03.456Z`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let time = OffsetDateTime::parse(text, &time::format_description::well_known::Rfc3339).ok()?;
        i64::try_from(time.unix_timestamp_nanos() / 1_000_000).ok().map(Self)
    }

    /// The calendar day in Singapore: 2025-12-31T16:30Z is 1 January 2026.
    ///
    /// # Panics
    /// Outside the years 1 to 9999, which no clock of ours shows.
    #[must_use]
    pub fn singapore_date(self) -> Date {
        self.utc().to_offset(SINGAPORE).date()
    }

    /// How long after `earlier` this is; zero if it is not after.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    fn utc(self) -> OffsetDateTime {
        OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000_000).expect("a year from 1 to 9999")
    }
}

impl Add<Duration> for Timestamp {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let utc = self.utc();
        write!(
            formatter,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
            utc.year(),
            u8::from(utc.month()),
            utc.day(),
            utc.hour(),
            utc.minute(),
            utc.second(),
            utc.millisecond()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_past_midnight_in_singapore_is_already_the_new_year() {
        let utc_afternoon = Timestamp::from_millis(1_767_198_600_000);
        assert_eq!(utc_afternoon.to_string(), "2025-12-31T16:30:00.000Z");
        assert_eq!(utc_afternoon.singapore_date(), time::macros::date!(2026 - 01 - 01));
    }

    #[test]
    fn durations_are_added_and_subtracted() {
        let start = Timestamp::from_millis(1_000);
        assert_eq!((start + Duration::from_secs(2)).since(start), Duration::from_secs(2));
        assert_eq!(start.since(start + Duration::from_secs(2)), Duration::ZERO);
    }
}
