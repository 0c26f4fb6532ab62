//! The clock of all rows.

use rocescope_model::Time;
use std::time::{SystemTime, UNIX_EPOCH};

/// The current time; 1970 if the clock is before it.
#[must_use]
pub fn now() -> Time {
    since_1970(SystemTime::now()).unwrap_or_default()
}

/// An instant of the system clock as a time; `None` outside the years that a dataset can hold.
#[must_use]
pub fn since_1970(time: SystemTime) -> Option<Time> {
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_nanos()).ok().map(Time)
}
