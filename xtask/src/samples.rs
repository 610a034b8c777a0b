//! Times, and what is said of many of them.

use std::time::Duration;

/// Times of the same thing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples(Vec<Duration>);

impl Samples {
    pub(crate) fn add(&mut self, sample: Duration) {
        self.0.push(sample);
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// The middle one; zero if there is none.
    pub(crate) fn median(&self) -> Duration {
        self.percentile(50)
    }

    /// The one that so many per cent do not exceed (nearest rank).
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100);
        sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_samples_by_their_rank() {
        let mut samples = Samples::default();
        assert_eq!(samples.median(), Duration::ZERO);
        for millis in (1..=200).rev() {
            samples.add(Duration::from_millis(millis));
        }
        assert_eq!(samples.median(), Duration::from_millis(100));
        assert_eq!(samples.percentile(99), Duration::from_millis(198));
        assert_eq!(samples.percentile(100), Duration::from_millis(200));
    }
}
