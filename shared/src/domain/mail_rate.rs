//! How fast the workers may mail, so that the provider never gets more mails in a second than it allows.
//!
//! The workers do not talk to each other: each keeps to its share of the limit, and the shares together are at most the
//! limit.

use std::time::Duration;

/// The window that providers count in.
const SECOND: Duration = Duration::from_secs(1);

/// Turns are spaced as if each mail took this long. A provider that is slower slows its worker down.
const MAIL_TAKES: Duration = Duration::from_millis(100);

/// From one notice to the next, at least: those to merchants, which are few. Longer than a mail may take, by a window and by
/// what clocks may differ. So of all notices, whoever sends them, no second has more than one.
const NOTICE_INTERVAL: Duration = Duration::from_secs(5);

/// Where the provider allows so little that a whole mail cannot be set aside, notices get this part of it.
const NOTICES_OF_A_SMALL_LIMIT: f64 = 0.1;

/// What the provider allows, how many workers share it, and what they leave to notices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MailRate {
    limit: f64,
    workers: u32,
    notices: f64,
}

/// No rate at which anything could be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidMailRate {
    /// The limit is zero, negative or no number.
    #[error("the provider's limit must be above zero")]
    NoLimit,
    /// There are no workers.
    #[error("there must be a worker")]
    NoWorkers,
}

impl MailRate {
    /// So many mails a second in all, shared by so many workers.
    pub fn new(limit: f64, workers: u32) -> Result<Self, InvalidMailRate> {
        if !(limit.is_finite() && limit > 0.0) {
            return Err(InvalidMailRate::NoLimit);
        }
        if workers == 0 {
            return Err(InvalidMailRate::NoWorkers);
        }
        Ok(Self { limit, workers, notices: 0.0 })
    }

    /// The same with a place for notices beside the workers' mails: one in any second, where that leaves each worker one.
    #[must_use]
    pub fn beside_notices(self) -> Self {
        let notices =
            if self.limit >= 1.0 + f64::from(self.workers) { 1.0 } else { self.limit * NOTICES_OF_A_SMALL_LIMIT };
        Self { notices, ..self }
    }

    /// From the right to one notice to the right to the next, of all who send any.
    #[must_use]
    pub fn notice_interval(self) -> Duration {
        NOTICE_INTERVAL.max(SECOND.div_f64(self.limit * NOTICES_OF_A_SMALL_LIMIT))
    }

    /// What the provider allows, in mails a second.
    #[must_use]
    pub const fn limit(self) -> f64 {
        self.limit
    }

    /// What each worker keeps to: `⌊limit ÷ workers⌋` mails in any second, or, where that is none, one mail in each
    /// `workers ÷ limit` seconds; of the limit less what is left to notices.
    ///
    /// So where there is at least one mail a second for each worker, no second has more than the limit. Where there is
    /// not, as with the one mail a second of the SES sandbox, the limit holds on average, and a single second may have
    /// one mail of each worker.
    #[must_use]
    pub fn of_one_worker(self) -> WorkerPace {
        let share = (self.limit - self.notices) / f64::from(self.workers);
        if share < 1.0 {
            return WorkerPace { mails: 1, window: SECOND.div_f64(share) };
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 1, and a cast saturates")]
        let mails = share.floor() as u32;
        WorkerPace { mails, window: SECOND }
    }

    /// How many mails a second all workers together send if they have enough to do and a mail takes no longer than
    /// 100 ms. Below the limit by what each worker's share loses in rounding, and by the time that mails take.
    #[must_use]
    pub fn of_all_workers(self) -> f64 {
        f64::from(self.workers) / self.of_one_worker().interval().as_secs_f64()
    }
}

/// At most `mails` mails in any stretch of time as long as `window`, evenly spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerPace {
    mails: u32,
    window: Duration,
}

impl WorkerPace {
    /// At most so many mails, at least 1, ...
    #[must_use]
    pub const fn mails(self) -> u32 {
        self.mails
    }

    /// ... in any stretch of time this long.
    #[must_use]
    pub const fn window(self) -> Duration {
        self.window
    }

    /// From the beginning of one mail to the beginning of the next. A mail reaches the provider at some moment between
    /// its beginning and its answer, so the first and the last of a window may move towards each other by the time that
    /// a mail takes. That is why the interval is longer than `window ÷ mails`.
    #[must_use]
    pub fn interval(self) -> Duration {
        (self.window + MAIL_TAKES) / self.mails
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(limit: f64, workers: u32) -> MailRate {
        MailRate::new(limit, workers).unwrap()
    }

    #[test]
    fn the_shares_of_all_workers_are_at_most_the_limit_in_any_second() {
        for (limit, workers) in [(20.0, 2), (14.0, 2), (14.0, 4), (5.0, 2), (7.9, 3), (2.0, 2), (1000.0, 7)] {
            let pace = rate(limit, workers).of_one_worker();
            assert_eq!(pace.window(), SECOND, "{limit} for {workers}");
            assert!(f64::from(pace.mails() * workers) <= limit, "{limit} for {workers}");
            assert!(f64::from((pace.mails() + 1) * workers) > limit, "no smaller than it must be");
        }
    }

    #[test]
    fn the_shares_and_a_notice_are_at_most_the_limit_in_any_second() {
        for (limit, workers) in [(20.0, 2), (14.0, 2), (5.0, 2), (7.9, 3), (3.0, 2), (1000.0, 7)] {
            let beside = rate(limit, workers).beside_notices();
            let pace = beside.of_one_worker();
            assert_eq!((pace.window(), beside.limit()), (SECOND, limit), "{limit} for {workers}");
            assert!(f64::from(pace.mails() * workers) + 1.0 <= limit, "{limit} for {workers}");
            assert!(beside.notice_interval() >= Duration::from_secs(5));
        }
    }

    #[test]
    fn where_little_is_allowed_shares_and_notices_are_below_it_on_average() {
        for (limit, workers) in [(1.0, 2), (2.0, 2), (0.5, 2), (1.0, 10)] {
            let beside = rate(limit, workers).beside_notices();
            let notices = 1.0 / beside.notice_interval().as_secs_f64();
            assert!(beside.of_all_workers() + notices < limit, "{limit} for {workers}");
        }
    }

    #[test]
    fn below_one_mail_a_second_and_worker_the_limit_holds_on_average() {
        let sandbox = rate(1.0, 2).of_one_worker();
        assert_eq!((sandbox.mails(), sandbox.window()), (1, Duration::from_secs(2)));
        assert!(rate(1.0, 2).of_all_workers() < 1.0);
        assert!(rate(1.0, 2).of_all_workers() > 0.9);
    }

    #[test]
    fn all_workers_together_stay_a_tenth_below_a_limit_that_they_share_evenly() {
        for (limit, workers, all) in [(20.0, 2, 18.18), (14.0, 2, 12.73), (5.0, 2, 3.64), (200.0, 20, 181.82)] {
            let together = rate(limit, workers).of_all_workers();
            assert!((together - all).abs() < 0.01, "{together} of {limit}");
        }
    }

    #[test]
    fn a_rate_that_sends_nothing_is_none() {
        for limit in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(MailRate::new(limit, 2), Err(InvalidMailRate::NoLimit));
        }
        assert_eq!(MailRate::new(1.0, 0), Err(InvalidMailRate::NoWorkers));
    }
}
