//! How long to wait before an endpoint is called again. Each wait is spread out, so that what failed together does not
//! come back together.

use std::time::Duration;

const SECOND: u64 = 1;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;

/// The waits between the attempts at one delivery.
const RETRY_SECONDS: [u64; 7] = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR];

/// So many failures in a row, of whatever deliveries, and the endpoint is left alone for a while.
const FAILURES_BEFORE_REST: u32 = 3;

/// The first rest and the longest, in seconds. Short beside the waits above, so that a single delivery is not kept back.
const REST_SECONDS: (u64, u64) = (30, 15 * MINUTE);

/// SQS hides a message for so long at most before it is first received.
pub const LONGEST_TICKET_DELAY: Duration = Duration::from_mins(15);

/// How long a delivery waits after its `failures`-th failure (from 1): 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h, plus up to
/// a tenth; `None` if that was the last attempt. `jitter` is a random value from 0 to 1.
#[must_use]
pub fn webhook_retry_wait(failures: u32, jitter: f64) -> Option<Duration> {
    let index = usize::try_from(failures.saturating_sub(1)).ok()?;
    let seconds = RETRY_SECONDS.get(index)?;
    Some(Duration::from_secs(*seconds).mul_f64(1.0 + jitter.clamp(0.0, 1.0) / 10.0))
}

/// How long an endpoint is left alone after so many failures in a row: 30 s after the third, then twice as long each time up
/// to 15 min; `None` before. Then one call at a time tries it.
#[must_use]
pub fn endpoint_rest(consecutive_failures: u32) -> Option<Duration> {
    let more = consecutive_failures.checked_sub(FAILURES_BEFORE_REST)?;
    let (first, longest) = REST_SECONDS;
    Some(Duration::from_secs((first << more.min(16)).min(longest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_waits_as_was_promised_and_ends_with_its_eighth_failure() {
        let seconds: Vec<_> =
            (1..=8).map(|failures| webhook_retry_wait(failures, 0.0).map(|wait| wait.as_secs())).collect();
        let promised = [5, 300, 1800, 7200, 18_000, 36_000, 36_000].map(Some);
        assert_eq!(seconds, [&promised[..], &[None]].concat());
        assert_eq!(webhook_retry_wait(2, 1.0), Some(Duration::from_secs(330)));
        assert_eq!(webhook_retry_wait(2, 7.0), Some(Duration::from_secs(330)));
        assert_eq!(webhook_retry_wait(u32::MAX, 0.0), None);
    }

    #[test]
    fn an_endpoint_rests_after_the_third_failure_longer_each_time_up_to_a_quarter_of_an_hour() {
        let seconds: Vec<_> =
            (1..=10).map(|failures| endpoint_rest(failures).map_or(0, |rest| rest.as_secs())).collect();
        assert_eq!(seconds, [0, 0, 30, 60, 120, 240, 480, 900, 900, 900]);
        assert_eq!(endpoint_rest(u32::MAX), Some(Duration::from_mins(15)));
    }

    #[test]
    fn a_single_delivery_is_not_kept_back_by_its_endpoints_rest() {
        for failures in 1..=7 {
            let rest = endpoint_rest(failures).unwrap_or_default();
            assert!(rest < webhook_retry_wait(failures, 0.0).unwrap(), "{failures}");
        }
    }
}
