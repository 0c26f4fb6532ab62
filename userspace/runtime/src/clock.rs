//! The clock of all rows, and the times that users write.

use rocescope_model::{Time, units};
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

/// Parses an instant in UTC: `2026-11-21T02:30:09Z`, `2026-11-21 02:30:09.5`, `2026-11-21 02:30`, `2026-11-21`;
/// `12:00` or `12:00:30` today; `-1h` before now; `now`.
///
/// # Errors
/// What was expected.
pub fn instant(text: &str) -> Result<Time, String> {
    instant_at(text, now())
}

/// [`instant`] at the time `now`.
///
/// # Errors
/// Those of [`instant`].
pub fn instant_at(text: &str, now: Time) -> Result<Time, String> {
    let text = text.trim();
    if text == "now" {
        return Ok(now);
    }
    if let Some(ago) = text.strip_prefix('-') {
        let ago = units::nanoseconds(ago.trim());
        let ago = ago.and_then(|ago| i64::try_from(ago).ok());
        let before = ago.and_then(|ago| now.0.checked_sub(ago)).map(Time);
        return before.ok_or_else(|| format!("expected a duration before now, such as -1h or -90s, not {text}"));
    }
    let civil = now.civil();
    let today = format!("{:04}-{:02}-{:02}", civil.year, civil.month, civil.day);
    let whole = match (text.as_bytes(), text.len()) {
        ([_, _, b':', _, _], _) => format!("{today}T{text}:00Z"),
        ([_, _, b':', _, _, b':', ..], _) => format!("{today}T{}Z", text.trim_end_matches('Z')),
        (_, 10) => format!("{text}T00:00:00Z"),
        (_, 16) => format!("{text}:00Z"),
        _ => text.to_owned(),
    };
    let Ok(time) = humantime::parse_rfc3339_weak(&whole) else {
        return Err(
        "expected an instant in UTC, such as 2026-11-21T02:30:09Z, 2026-11-21, 12:00 (today), -1h (an hour ago) or now"
            .into(),
        );
    };
    since_1970(time)
        .ok_or_else(|| "expected an instant between 1970 and 2262, which are the limits of a dataset".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_have_limits() {
        assert!(instant("2300-01-01").unwrap_err().contains("between 1970 and 2262"));
    }

    #[test]
    fn the_time_of_day_is_optional() {
        let second = Time(1_795_228_209_000_000_000);
        for text in ["2026-11-21T02:30:09Z", "2026-11-21 02:30:09", " 2026-11-21T02:30:09.0Z"] {
            assert_eq!(instant(text), Ok(second), "{text}");
        }
        assert_eq!(instant("2026-11-21 02:30"), Ok(Time(second.0 - 9_000_000_000)));
        assert_eq!(instant("2026-11-21").unwrap().0 % 86_400_000_000_000, 0);
        for wrong in ["", "yesterday", "2026-13-01", "25:30", "1969-12-31", "2500-01-01"] {
            assert!(instant(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_relative_to_now_and_to_today() {
        let now = instant("2026-11-21T02:30:09Z").unwrap();
        let at = |text: &str| instant_at(text, now).map(|time| format!("{time:.0}"));
        for (text, wanted) in [
            ("now", "2026-11-21T02:30:09Z"),
            ("-1h", "2026-11-21T01:30:09Z"),
            ("-90s", "2026-11-21T02:28:39Z"),
            ("-1h 30m", "2026-11-21T01:00:09Z"),
            ("-3h", "2026-11-20T23:30:09Z"),
            ("12:00", "2026-11-21T12:00:00Z"),
            ("00:00:30", "2026-11-21T00:00:30Z"),
            ("00:00:30Z", "2026-11-21T00:00:30Z"),
        ] {
            assert_eq!(at(text), Ok(wanted.into()), "{text}");
        }
        for wrong in ["-", "-1", "-1x", "1h", "24:00:00x", "-9999y"] {
            assert!(at(wrong).is_err(), "{wrong}");
        }
    }
}
