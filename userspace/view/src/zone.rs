//! The time zone in which the screen shows times.

use core::fmt;
use rocescope_model::Time;
use rocescope_model::time::{HOUR_NS, MINUTE_NS};

/// How far local time is ahead of UTC at an instant, in nanoseconds. It changes with the seasons.
pub type Ahead = fn(Time) -> i64;

/// UTC, or local time.
#[derive(Clone, Copy, Default)]
pub struct Zone(Option<Ahead>);

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "local" } else { "UTC" })
    }
}

impl Zone {
    /// Local time.
    #[must_use]
    pub const fn local(ahead: Ahead) -> Self {
        Self(Some(ahead))
    }

    fn ahead_ns(self, time: Time) -> i64 {
        self.0.map_or(0, |ahead| ahead(time))
    }

    /// Date and time of day with these decimals, such as `2026-11-21T02:30:09.000`.
    #[must_use]
    pub fn text(self, time: Time, decimals: usize) -> String {
        let here = Time(time.0.saturating_add(self.ahead_ns(time)));
        let text = format!("{here:.decimals$}");
        text.trim_end_matches('Z').to_owned()
    }

    /// Date and time of day in seconds, with the mark of UTC.
    #[must_use]
    pub fn stamp(self, time: Time) -> String {
        let mark = if self.0.is_none() { "Z" } else { "" };
        self.text(time, 0) + mark
    }

    /// The name of the zone at an instant: `UTC`, `UTC+2`, `UTC-3:30`.
    #[must_use]
    pub fn name(self, time: Time) -> String {
        let ahead_ns = self.ahead_ns(time);
        let (hours, minutes) = (ahead_ns / HOUR_NS, ahead_ns.abs() % HOUR_NS / MINUTE_NS);
        match (ahead_ns, minutes) {
            (0, _) => "UTC".into(),
            (_, 0) => format!("UTC{hours:+}"),
            (..0, _) => format!("UTC-{}:{minutes:02}", hours.abs()),
            _ => format!("UTC+{hours}:{minutes:02}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_time_is_ahead_as_much_as_it_is_at_that_instant() {
        let time = Time(1_795_228_209_000_000_000);
        assert_eq!(Zone::default().text(time, 3), "2026-11-21T02:30:09.000");
        assert_eq!(Zone::default().name(time), "UTC");
        assert_eq!(Zone::default().stamp(time), "2026-11-21T02:30:09Z");
        let summer: Ahead = |time| if time.0 > 0 { 2 * HOUR_NS } else { HOUR_NS };
        let zone = Zone::local(summer);
        assert_eq!(
            (zone.text(time, 0).as_str(), zone.name(time).as_str()),
            ("2026-11-21T04:30:09", "UTC+2")
        );
        assert_eq!(
            (zone.text(Time(0), 0).as_str(), zone.name(Time(0)).as_str()),
            ("1970-01-01T01:00:00", "UTC+1")
        );
        assert_eq!(Zone::local(|_| -HOUR_NS / 2).name(time), "UTC-0:30");
        assert_eq!(Zone::local(|_| HOUR_NS * 11 / 2).name(time), "UTC+5:30");
    }
}
