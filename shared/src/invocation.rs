//! How a function serves Lambda's invocations, and until when it may work on each.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::settings::{InvalidSetting, parsed};

/// The function's own `Timeout` in template.yaml, after which Lambda kills its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout(Duration);

impl Timeout {
    /// From this environment variable, in whole seconds. Each function has a variable of its own, since `cargo lambda watch`
    /// gives all functions one environment.
    pub fn from_env(name: &'static str) -> Result<Self, InvalidSetting> {
        Ok(Self(Duration::from_secs(u64::from(parsed::<std::num::NonZeroU16>(name)?.get()))))
    }

    /// The deadline of an invocation that begins `now`, of which Lambda says that it is `told`; both in milliseconds since 1970.
    fn deadline(self, told: u64, now: u64) -> Deadline {
        let own = now.saturating_add(u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX));
        if told <= now { Deadline::Own(own) } else { Deadline::Told(told.min(own)) }
    }
}

impl fmt::Display for Timeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.0.as_secs())
    }
}

/// When an invocation must be over, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deadline {
    /// As Lambda says; never later than the function's own timeout allows.
    Told(u64),
    /// By the function's own timeout: what was told was over before the work began, so it is no deadline. `cargo lambda watch` tells
    /// one in 1970.
    Own(u64),
}

/// Serves invocations until Lambda stops the process. The deadline in each one's context is one that can be kept.
///
/// # Errors
/// If the Lambda Runtime API cannot be reached.
pub async fn serve<Event, Answer, Work>(
    timeout: Timeout,
    function: impl Fn(LambdaEvent<Event>) -> Work,
) -> Result<(), Error>
where
    Event: DeserializeOwned,
    Answer: Serialize,
    Work: Future<Output = Result<Answer, Error>>,
{
    let logged = AtomicBool::new(false);
    lambda_runtime::run(service_fn(move |mut event: LambdaEvent<Event>| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        event.context.deadline = match timeout.deadline(event.context.deadline, u64::try_from(now).unwrap_or(u64::MAX))
        {
            Deadline::Told(deadline) => deadline,
            Deadline::Own(deadline) => {
                if !logged.swap(true, Ordering::Relaxed) {
                    tracing::warn!(event = "deadline_in_the_past", %timeout);
                }
                deadline
            }
        };
        function(event)
    }))
    .await
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: u64 = 1_796_000_000_000;

    #[test]
    fn a_deadline_that_is_over_before_the_work_begins_is_replaced_by_the_functions_own_timeout() {
        let timeout = Timeout(Duration::from_secs(10));
        // What `cargo lambda watch` tells, nothing at all, and this very moment.
        for told in [600_000, 0, NOW] {
            assert_eq!(timeout.deadline(told, NOW), Deadline::Own(NOW + 10_000), "{told}");
        }
        assert_eq!(timeout.deadline(NOW + 1, NOW), Deadline::Told(NOW + 1));
    }

    proptest! {
        #[test]
        fn there_is_always_time_left_and_never_more_than_the_timeout(
            told in prop_oneof![0..NOW * 2, any::<u64>()],
            now in 0..NOW * 2,
            seconds in 1..=900_u64,
        ) {
            let timeout = Timeout(Duration::from_secs(seconds));
            let (Deadline::Told(deadline) | Deadline::Own(deadline)) = timeout.deadline(told, now);
            prop_assert!(deadline > now && deadline <= now + seconds * 1000);
            prop_assert!(told <= now || deadline <= told);
        }
    }
}
