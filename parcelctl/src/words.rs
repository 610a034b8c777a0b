//! Times and amounts as people say them, and the one way to print JSON.

use std::time::Duration;

use anyhow::Result;
use serde::Serialize;

/// A length of time in its largest unit, such as `3 h`.
pub(crate) fn age(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// So many of a thing.
pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}

/// One document on standard output.
pub(crate) fn print_json(document: &impl Serialize) -> Result<()> {
    println!("{}", serde_json::to_string_pretty(document)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_said_in_its_largest_unit() {
        let said = [0, 59, 60, 7199, 7200, 172_799, 172_800].map(|seconds| age(Duration::from_secs(seconds)));
        assert_eq!(said, ["0 s", "59 s", "1 min", "1 h", "2 h", "47 h", "2 days"]);
    }
}
