//! The promise, sentence by sentence, over everything that can happen within bounds, and over longer histories at random.
//!
//! `cargo test -p interleavings -- --nocapture` prints how much was explored.

#[allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]
mod answers;
mod at_random;
mod broken_worlds;
mod explored;
mod promise;
mod search;
