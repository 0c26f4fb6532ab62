//! Waiting for a condition.

use std::time::{Duration, Instant};

/// Only a hang takes so long, also on a busy machine.
pub const DEADLINE: Duration = Duration::from_secs(300);

/// Waits until it is so. Fails after [`DEADLINE`].
#[track_caller]
pub fn until(what: &str, mut so: impl FnMut() -> bool) {
    until_some(what, || so().then_some(()));
}

/// Waits until there is a value. Fails after [`DEADLINE`].
#[track_caller]
pub fn until_some<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < DEADLINE, "it never came to this: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
