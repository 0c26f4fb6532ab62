//! Formats values as text.

pub(crate) use rocescope_model::human::plural;
use rocescope_model::{Time, Unit, Value, human};

/// Formats a count with a prefix and unit.
pub(crate) fn count(number: u64, unit: Unit) -> String {
    human::readable(&Value::I64(i64::try_from(number).unwrap_or(i64::MAX)), unit)
}

/// Formats bytes: `1.50 MiB`.
pub(crate) fn bytes(number: u64) -> String {
    count(number, Unit::Bytes)
}

/// Formats a duration: `2.40 ms`.
pub(crate) fn nanos(number: u64) -> String {
    count(number, Unit::Nanoseconds)
}

/// Formats bits per second: `12.3 Gbit/s`.
pub(crate) fn bits(rate: f64) -> String {
    human::readable(&Value::F64(rate), Unit::BitsPerSecond)
}

/// Formats packets per second: `1.20 Mpps`.
pub(crate) fn packets(rate: f64) -> String {
    human::readable(&Value::F64(rate), Unit::PacketsPerSecond)
}

/// Formats a ratio with the digits that it needs: `12 %`, `0.3 %`, `0.004 %`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        0.0 => "0 %".into(),
        p if p >= 9.95 => format!("{p:.0} %"),
        p if p >= 0.095 => format!("{} %", format!("{p:.1}").trim_end_matches(".0")),
        p if p >= 0.009_5 => format!("{p:.2} %"),
        p if p >= 0.000_95 => format!("{p:.3} %"),
        p if p > 0.0 => "less than 0.001 %".into(),
        p => format!("{p:.1} %"),
    }
}

/// Returns `part / whole`, or 0 if `whole` is 0.
#[expect(clippy::cast_precision_loss, reason = "a share is shown with three digits")]
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The text with its first letter a capital.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// Formats a length of time in its two largest units: `4 s`, `250 ms`, `2 h 13 min`, `3 d 4 h`.
pub(crate) fn length(nanoseconds: i64) -> String {
    let milliseconds = nanoseconds / 1_000_000;
    let seconds = milliseconds / 1_000;
    let two = |large: i64, unit: &str, small: i64, below: &str| match small {
        0 => format!("{large} {unit}"),
        small => format!("{large} {unit} {small} {below}"),
    };
    match seconds {
        _ if nanoseconds < 1_000_000 => nanos(nanoseconds.max(0).unsigned_abs()),
        0 => format!("{milliseconds} ms"),
        1..60 => {
            let text = format!("{seconds}.{:03}", milliseconds % 1_000);
            format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
        }
        60..3_600 => two(seconds / 60, "min", seconds % 60, "s"),
        3_600..86_400 => two(seconds / 3_600, "h", seconds / 60 % 60, "min"),
        _ => two(seconds / 86_400, "d", seconds / 3_600 % 24, "h"),
    }
}

/// Formats an instant to the second if that is exact, otherwise to the millisecond.
pub(crate) fn instant(time_ns: i64) -> String {
    let time = Time(time_ns);
    if time_ns % 1_000_000_000 == 0 {
        format!("{time:.0}")
    } else {
        format!("{time:.3}")
    }
}

/// Formats a list of names: `a, b and 3 more`.
pub(crate) fn list(names: &[String], max: usize) -> String {
    let shown = names.iter().take(max).cloned().collect::<Vec<_>>();
    match names.len().saturating_sub(max) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::{length, list, percent};

    #[test]
    fn shares_have_the_digits_they_need() {
        let cases = [
            (0.0, "0 %"),
            (0.000_000_1, "less than 0.001 %"),
            (0.000_31, "0.03 %"),
            (0.000_031, "0.003 %"),
            (0.003_14, "0.3 %"),
            (0.01, "1 %"),
            (0.5, "50 %"),
            (1.0, "100 %"),
        ];
        for (share, text) in cases {
            assert_eq!(percent(share), text);
        }
    }

    #[test]
    fn lengths_have_two_units() {
        let cases = [
            (1_500, "1.50 µs"),
            (250_000_000, "250 ms"),
            (4_000_000_000, "4 s"),
            (4_250_000_000, "4.25 s"),
            (125_000_000_000, "2 min 5 s"),
            (7_980_000_000_000, "2 h 13 min"),
            (273_600_000_000_000, "3 d 4 h"),
        ];
        for (nanoseconds, text) in cases {
            assert_eq!(length(nanoseconds), text);
        }
    }

    #[test]
    fn long_lists_are_cut() {
        let names = ["a", "b", "c"].map(String::from);
        assert_eq!(list(&names, 2), "a, b and 1 more");
        assert_eq!(list(&names, 3), "a, b, c");
    }
}
