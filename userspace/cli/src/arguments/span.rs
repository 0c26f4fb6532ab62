//! The time that a command reads of a dataset.

use crate::units::{instant, positive_duration};
use anyhow::{Result, ensure};
use clap::Args;
use rocescope_model::Time;
use rocescope_store::TimeRange;
use std::fmt;
use std::time::Duration;

/// The id of the group of these options, for conflicts.
pub const SPAN: &str = "span";

/// The time that a command reads of a dataset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
#[group(id = SPAN, multiple = true)]
pub struct SpanArguments {
    /// Read only rows from this time on: `2026-11-21T02:30:09Z`, `12:00` (today), `-1h` (an hour ago) or `now`; in UTC
    #[arg(long, value_name = "TIME", value_parser = instant, allow_hyphen_values = true)]
    pub from: Option<Time>,
    /// Read only rows before this time
    #[arg(long, value_name = "TIME", value_parser = instant, allow_hyphen_values = true)]
    pub to: Option<Time>,
    /// Read only rows of the last DURATION, such as `10m`, before `--to` or before now
    #[arg(long, value_name = "DURATION", value_parser = positive_duration, allow_hyphen_values = true, conflicts_with = "from")]
    pub last: Option<Duration>,
}

impl SpanArguments {
    /// Whether a time is selected.
    #[must_use]
    pub const fn is_set(&self) -> bool {
        self.from.is_some() || self.to.is_some() || self.last.is_some()
    }

    /// The range at this time.
    ///
    /// # Errors
    /// It is empty.
    pub fn range(&self, now: Time) -> Result<TimeRange> {
        let before = |last: Duration| {
            let nanos = i64::try_from(last.as_nanos()).unwrap_or(i64::MAX);
            Time(self.to.unwrap_or(now).0.saturating_sub(nanos))
        };
        let range = TimeRange {
            from: self.from.or_else(|| self.last.map(before)),
            to: self.to,
        };
        if let (Some(from), Some(to)) = (range.from, range.to) {
            ensure!(
                from < to,
                "--from must be earlier than --to: {from:.0} is not before {to:.0}"
            );
        }
        Ok(range)
    }
}

/// The options as the user set them, for messages.
impl fmt::Display for SpanArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = self.from.map(|from| format!("--from {from:.0}"));
        let last = self.last.map(|last| match self.to {
            Some(_) => format!("--last {}", humantime::format_duration(last)),
            None => format!("--last {} (before now)", humantime::format_duration(last)),
        });
        let to = self.to.map(|to| format!("--to {to:.0}"));
        let set: Vec<String> = from.into_iter().chain(last).chain(to).collect();
        f.write_str(&set.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time(1_000_000_000_000);

    #[test]
    fn the_last_minutes_count_back_from_the_end_or_from_now() {
        let last = SpanArguments {
            last: Some(Duration::from_secs(600)),
            ..SpanArguments::default()
        };
        assert_eq!(last.range(NOW).unwrap(), TimeRange::since(Time(400_000_000_000)));
        assert_eq!(last.to_string(), "--last 10m (before now)");
        let to = Some(Time(700_000_000_000));
        let before = SpanArguments { to, ..last };
        let range = before.range(NOW).unwrap();
        assert_eq!((range.from, range.to), (Some(Time(100_000_000_000)), to));
        assert_eq!(before.to_string(), "--last 10m --to 1970-01-01T00:11:40Z");
    }

    #[test]
    fn an_end_before_the_start_is_refused() {
        let (from, to) = (Some(NOW), Some(NOW));
        let last = None;
        assert!(SpanArguments { from, to, last }.range(NOW).is_err());
    }
}
