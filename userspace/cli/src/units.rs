//! Parsers for rates, sizes and durations in arguments.

use rocescope_model::units;
use std::net::SocketAddr;
use std::time::Duration;

pub use rocescope_runtime::clock::instant;

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

/// Parses the size of a file of a set: a number alone is bytes, and a typing error of those who mean millions.
///
/// # Errors
/// What was expected.
pub fn file_bytes(text: &str) -> Result<u64, String> {
    const LEAST: u64 = 64 << 10;
    let bytes = units::bytes(text).filter(|bytes| *bytes >= LEAST);
    bytes.ok_or_else(|| "expected 64Ki at least, such as 100M or 1Gi".into())
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
}
