//! What a rush is summed up in.

use std::fmt;
use std::time::Duration;

use time::OffsetDateTime;

/// How long answers took.
pub(super) struct Latencies(Vec<Duration>);

impl Latencies {
    pub(super) fn of(times: impl Iterator<Item = Duration>) -> Self {
        let mut times: Vec<_> = times.collect();
        times.sort();
        Self(times)
    }

    /// The time within which so many per cent of the answers came, by nearest rank; zero if there was none.
    fn percentile(&self, per_cent: usize) -> Duration {
        let rank = (self.0.len() * per_cent).div_ceil(100);
        self.0.get(rank.saturating_sub(1)).copied().unwrap_or_default()
    }
}

impl fmt::Display for Latencies {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [median, worst] = [50, 99].map(|per_cent| self.percentile(per_cent).as_millis());
        write!(formatter, "{} answers, p50 {median} ms, p99 {worst} ms", self.0.len())
    }
}

/// The second in which the provider got the most mails.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Peak {
    pub(super) mails: usize,
    /// When the first of them came.
    pub(super) from: OffsetDateTime,
}

/// The most mails in any window of one second, wherever it begins.
pub(super) fn peak(mut received: Vec<OffsetDateTime>) -> Option<Peak> {
    received.sort();
    let mut end = 0;
    let windows = received.iter().enumerate().map(|(start, from)| {
        while received.get(end).is_some_and(|mail| *mail - *from < time::Duration::SECOND) {
            end += 1;
        }
        Peak { mails: end - start, from: *from }
    });
    windows.max_by_key(|peak| peak.mails)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_times_that_really_were() {
        let hundred = Latencies::of((1..=100).rev().map(Duration::from_millis));
        assert_eq!([50, 99].map(|per_cent| hundred.percentile(per_cent)), [50, 99].map(Duration::from_millis));
        let two = Latencies::of([20, 10].into_iter().map(Duration::from_millis));
        assert_eq!([50, 99].map(|per_cent| two.percentile(per_cent)), [10, 20].map(Duration::from_millis));
        assert_eq!(Latencies::of(std::iter::empty()).percentile(99), Duration::ZERO);
    }

    #[test]
    fn a_peak_is_found_across_the_borders_of_calendar_seconds() {
        let at = |millis: i64| OffsetDateTime::UNIX_EPOCH + time::Duration::milliseconds(millis);
        let received = [2_500, 0, 700, 1_100, 1_400, 1_699, 2_150].map(at).to_vec();
        assert_eq!(peak(received), Some(Peak { mails: 4, from: at(700) }));
        assert_eq!([999, 1_000].map(|second| peak(vec![at(0), at(second)]).unwrap().mails), [2, 1]);
        assert_eq!(peak(vec![]), None);
    }
}
