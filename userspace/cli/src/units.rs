//! Parsers for rates, sizes, durations and instants in arguments.

use rocescope_model::{Time, units};
use rocescope_runtime::clock::{now, since_1970};
use std::net::SocketAddr;
use std::time::Duration;

/// Parses a rate in bits per second: `2.5G`, `400M`, `64k`, `1e9`.
///
/// # Errors
/// What was expected.
pub fn bits_per_second(text: &str) -> Result<f64, String> {
    let rate = units::bits_per_second(text).map(|rate| rate as f64);
    rate.ok_or_else(|| "expected bits per second, such as 2.5G, 400M or 64k".into())
}

/// Parses a number of bytes: `64Mi`, `10G`, `4096`; `Ki`, `Mi`, `Gi` and `Ti` are powers of 1,024.
///
/// # Errors
/// What was expected.
pub fn bytes(text: &str) -> Result<u64, String> {
    let bytes = units::bytes(text).filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| "expected a number of bytes greater than zero, such as 64Mi, 10G or 4096".into())
}

/// Parses a number that is not negative: `0.5`.
///
/// # Errors
/// What was expected.
pub fn share(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(share) if share >= 0.0 && share.is_finite() => Ok(share),
        _ => Err("expected a number from 0, such as 0.5".into()),
    }
}

/// Parses the name of an observer.
///
/// # Errors
/// What was expected.
pub fn name(text: &str) -> Result<String, String> {
    if text.trim().is_empty() || text.chars().any(char::is_control) {
        return Err("expected a name without control characters".into());
    }
    Ok(text.to_owned())
}

/// Parses a duration: `1s`, `100ms`, `5m`.
///
/// # Errors
/// What was expected.
pub fn duration(text: &str) -> Result<Duration, String> {
    let duration = units::nanoseconds(text).map(Duration::from_nanos);
    duration.ok_or_else(|| "expected a duration, such as 1s or 100ms".into())
}

/// Parses a duration greater than zero.
///
/// # Errors
/// What was expected.
pub fn positive_duration(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("must be greater than zero".into()),
        duration => Ok(duration),
    }
}

/// Parses a duration from `FROM` to `TO` milliseconds, both included: what is shorter burns processors, or fills memory
/// and disks; what is longer is a typing error.
///
/// # Errors
/// What was expected.
pub fn within<const FROM: u64, const TO: u64>(text: &str) -> Result<Duration, String> {
    let (from, to) = (Duration::from_millis(FROM), Duration::from_millis(TO));
    let duration = duration(text)?;
    match (from..=to).contains(&duration) {
        true => Ok(duration),
        false => Err(format!("expected a duration from {} to {}", short(FROM), short(TO))),
    }
}

/// Milliseconds in the largest unit that divides them: `10ms`, `366d`.
fn short(milliseconds: u64) -> String {
    let units = [(DAY, "d"), (HOUR, "h"), (60_000, "m"), (1_000, "s"), (1, "ms")];
    let unit = units.into_iter().find(|(unit, _)| milliseconds.is_multiple_of(*unit));
    match unit {
        Some((unit, name)) if milliseconds > 0 => format!("{}{name}", milliseconds / unit),
        _ => "0s".into(),
    }
}

/// An hour in milliseconds.
pub const HOUR: u64 = 3_600_000;
/// A day in milliseconds.
pub const DAY: u64 = 24 * HOUR;
/// The longest window, in milliseconds.
pub const YEAR: u64 = 366 * DAY;

/// Parses a share of a processor: `0.05`.
///
/// # Errors
/// What was expected.
pub fn share_of_core(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(share) if (0.001..=1.0).contains(&share) => Ok(share),
        _ => Err("expected a share of a core from 0.001 to 1, such as 0.05".into()),
    }
}

/// Parses how often something happens in a second, from 0 to 10,000: `0.5`.
///
/// # Errors
/// What was expected.
pub fn each_second(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(rate) if (0.0..=10_000.0).contains(&rate) => Ok(rate),
        _ => Err("expected a number a second from 0 to 10000, such as 0.5".into()),
    }
}

/// Parses a duration greater than zero, in seconds if it has no unit: `10`, `500ms`, `1m`.
///
/// # Errors
/// What was expected.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let Ok(seconds) = text.trim().parse::<f64>() else {
        let expected = |_| "expected a duration greater than zero, such as 10 (seconds) or 500ms".to_owned();
        return positive_duration(text).map_err(expected);
    };
    match Duration::try_from_secs_f64(seconds) {
        Ok(Duration::ZERO) => Err("must be greater than zero".into()),
        Ok(duration) => Ok(duration),
        Err(_) => Err("expected a duration, such as 10 (seconds) or 500ms".into()),
    }
}

/// Parses a count: `20`.
///
/// # Errors
/// What was expected.
pub fn count(text: &str) -> Result<usize, String> {
    let number = text.trim().parse();
    number.map_err(|_| "expected a whole number from 0, such as 20".to_owned())
}

/// Parses an address with a port: `127.0.0.1:9464`, `[::]:9464`.
///
/// # Errors
/// What was expected.
pub fn socket_address(text: &str) -> Result<SocketAddr, String> {
    let address = text.trim().parse();
    address.map_err(|_| "expected an IP address and a port, such as 127.0.0.1:9464 or [::]:9464".to_owned())
}

/// Parses a playback speed: `1`, `0.5`, `max`.
///
/// # Errors
/// What was expected.
pub fn speed(text: &str) -> Result<f64, String> {
    match text.trim() {
        "max" => Ok(f64::INFINITY),
        text => match text.parse::<f64>() {
            Ok(speed) if speed > 0.0 && speed.is_finite() => Ok(speed),
            _ => Err("expected a factor greater than zero, such as 10, or `max`".into()),
        },
    }
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
fn instant_at(text: &str, now: Time) -> Result<Time, String> {
    let text = text.trim();
    if text == "now" {
        return Ok(now);
    }
    if let Some(ago) = text.strip_prefix('-') {
        let ago = duration(ago.trim()).ok();
        let ago = ago.and_then(|ago| i64::try_from(ago.as_nanos()).ok());
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
    fn messages_say_what_was_expected() {
        assert_eq!(
            (count("7"), bytes("64Mi"), bits_per_second("2.5G")),
            (Ok(7), Ok(64 << 20), Ok(2.5e9))
        );
        assert!(bytes("0").unwrap_err().contains("greater than zero") && bits_per_second("G").is_err());
        assert!(count("-1").unwrap_err().contains("from 0") && count("x").is_err());
        assert!(socket_address("[::1]:80").is_ok());
        assert!(socket_address("9464").unwrap_err().contains("127.0.0.1:9464"));
        assert!(instant("2300-01-01").unwrap_err().contains("between 1970 and 2262"));
        assert!(seconds("x").unwrap_err().contains("10 (seconds)"));
    }

    #[test]
    fn shares_and_names_are_validated() {
        assert_eq!(share("0.5"), Ok(0.5));
        assert!(share("-1").is_err() && share("nan").is_err());
        assert!(name("").is_err() && name("a\nb").is_err() && name("rail 3").is_ok());
    }

    #[test]
    fn a_speed_is_a_positive_number_or_max() {
        assert_eq!(speed("0.5"), Ok(0.5));
        assert_eq!(speed("max"), Ok(f64::INFINITY));
        assert!(speed("0").is_err() && speed("-1").is_err() && speed("inf").is_err());
    }

    #[test]
    fn durations_need_a_unit() {
        assert_eq!(duration("100ms"), Ok(Duration::from_millis(100)));
        assert!(duration("100").is_err());
        assert!(positive_duration("0s").is_err());
    }

    #[test]
    fn intervals_and_rates_have_limits_and_name_them() {
        assert_eq!(within::<10, HOUR>("10ms"), Ok(Duration::from_millis(10)));
        assert_eq!(within::<10, HOUR>("1h"), Ok(Duration::from_secs(3_600)));
        for wrong in ["1ns", "9ms", "61m", "0s"] {
            let expected = "expected a duration from 10ms to 1h";
            assert_eq!(within::<10, HOUR>(wrong).unwrap_err(), expected, "{wrong}");
        }
        assert!(within::<1, YEAR>("1ns").unwrap_err().contains("from 1ms to 366d"));
        assert!(within::<10, HOUR>("5").unwrap_err().contains("such as 1s"));
        assert_eq!((share_of_core("0.05"), share_of_core("1")), (Ok(0.05), Ok(1.0)));
        for wrong in ["0", "500", "1.01", "-1", "nan", ""] {
            assert!(share_of_core(wrong).unwrap_err().contains("from 0.001 to 1"), "{wrong}");
            assert!(
                each_second(wrong).is_err() != ["0", "500", "1.01"].contains(&wrong),
                "{wrong}"
            );
        }
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
