//! Cells as text: with prefixes and units, or plain.

use crate::{Cells, EventRow, Row, Time, Unit, Value};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Formats a cell with about three digits and its unit: `1.50 MiB`, `12.3 Gbit/s`, `2.40 ms`, `1.20 M`, `3.1 %`.
///
/// Bytes use steps of 1,024, everything else steps of 1,000. Instants are in UTC, to the
/// millisecond; values without a unit are formatted by [`plain`].
///
/// ```
/// use rocescope_model::{Unit, Value, human};
///
/// assert_eq!(human::readable(&Value::I64(1_572_864), Unit::Bytes), "1.50 MiB");
/// assert_eq!(human::readable(&Value::F64(12.3e9), Unit::BitsPerSecond), "12.3 Gbit/s");
/// assert_eq!(human::readable(&Value::I64(1_795_228_209_000_000_000), Unit::UnixNanoseconds), "2026-11-21T02:30:09Z");
/// ```
#[must_use]
pub fn readable(value: &Value<'_>, unit: Unit) -> String {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown, a float has fifteen")]
    let number = match value {
        Value::I64(number) => *number as f64,
        Value::F64(number) if number.is_finite() => *number,
        _ => return plain(value),
    };
    match unit {
        Unit::UnixNanoseconds => match value {
            Value::I64(ns) if ns % 1_000_000_000 == 0 => format!("{:.0}", Time(*ns)),
            Value::I64(ns) => format!("{:.3}", Time(*ns)),
            _ => plain(value),
        },
        Unit::None => plain(value),
        Unit::Ratio => format!("{:.1} %", number * 100.0),
        Unit::Bytes => scaled(number, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB", "PiB"]),
        Unit::Nanoseconds => scaled(number, 1000.0, &["ns", "µs", "ms", "s"]),
        Unit::BitsPerSecond => scaled(number, 1000.0, &["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"]),
        Unit::PacketsPerSecond => scaled(number, 1000.0, &["pps", "kpps", "Mpps", "Gpps"]),
        Unit::Packets | Unit::Frames | Unit::Messages | Unit::Flows | Unit::Events => {
            scaled(number, 1000.0, &["", "k", "M", "G", "T"])
        }
    }
}

/// Whether rates are shown in bits or bytes per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rates {
    /// bit/s, in steps of 1,000.
    #[default]
    Bits,
    /// B/s, in steps of 1,024.
    Bytes,
}

impl Rates {
    /// Returns the other unit.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Bits => Self::Bytes,
            Self::Bytes => Self::Bits,
        }
    }
}

/// Formats a rate given in bits per second.
#[must_use]
pub fn rate(bps: f64, rates: Rates) -> String {
    match rates {
        Rates::Bits => readable(&Value::F64(bps), Unit::BitsPerSecond),
        // A rate is rarely a whole number of bytes, and `1.75 MiB/s` is precise enough.
        Rates::Bytes => readable(&Value::F64(bps / 8.0), Unit::Bytes) + "/s",
    }
}

/// Returns the unit of a cell: that of its column; of an event's values, that of the event's kind.
#[must_use]
pub fn unit(cells: &dyn Cells, row: usize, column: usize) -> Unit {
    let table = cells.table();
    let Some(found) = table.columns.get(column) else {
        return Unit::None;
    };
    if table != EventRow::TABLE || !["value", "previous"].contains(&found.name) {
        return found.unit;
    }
    let kind = table.position("kind").map(|kind| cells.value(row, kind));
    match kind {
        Some(Value::Text(kind)) => EventRow::unit(&kind),
        _ => Unit::None,
    }
}

/// Formats a cell without prefixes: integers in full, floats with three decimals, instants in milliseconds, null as
/// `-`, sketches as their length.
#[must_use]
pub fn plain(value: &Value<'_>) -> String {
    match value {
        Value::Null => "-".into(),
        Value::I64(number) => number.to_string(),
        Value::F64(number) => format!("{number:.3}"),
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        Value::Text(text) => text.to_string(),
        Value::Time(time) => format!("{time:.3}"),
        Value::Bytes(bytes) => format!("<{} bytes>", bytes.len()),
        Value::Sparse(bytes) => format!("<{} bytes>", bytes.len()),
        Value::ListI64(list) => format!("{list:?}"),
    }
}

/// Whether a character neither moves the cursor nor changes colors or the direction of text.
#[must_use]
pub fn is_visible(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The same as [`visible`], line by line: ends of lines stay.
///
/// ```
/// assert_eq!(rocescope_model::human::visible_lines("a\u{1b}[2J\nb\r\n"), "a\u{fffd}[2J\nb\u{fffd}\n");
/// ```
#[must_use]
pub fn visible_lines(text: &str) -> String {
    text.chars()
        .map(|c| if c == '\n' || is_visible(c) { c } else { '\u{fffd}' })
        .collect()
}

/// Replaces the characters that are not [visible](is_visible): text of others may not write to a terminal or a log
/// what it likes.
///
/// ```
/// assert_eq!(rocescope_model::human::visible("a\u{1b}[2Jb\n\u{202e}"), "a\u{fffd}[2Jb\u{fffd}\u{fffd}");
/// ```
#[must_use]
pub fn visible(text: &str) -> String {
    text.chars()
        .map(|c| if is_visible(c) { c } else { '\u{fffd}' })
        .collect()
}

/// Formats a number in groups of three digits: `1,234,567`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a count with its noun: `1 window`, `1,200 windows`.
#[must_use]
pub fn plural(number: u64, noun: &str) -> String {
    let end = if number == 1 { "" } else { "s" };
    format!("{} {noun}{end}", grouped(number))
}

/// Wraps text between words into lines of at most `width` characters; a longer word has a line of its own.
///
/// ```
/// use rocescope_model::human;
///
/// assert_eq!(human::wrap("one two three", 8), ["one two", "three"]);
/// ```
#[must_use]
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

fn scaled(number: f64, step: f64, units: &[&str]) -> String {
    let mut number = number;
    let mut units = units.iter().peekable();
    let mut whole = number % 1.0 == 0.0;
    let mut unit = units.next();
    // From 999.5 on, the number would round to four digits.
    while number.abs() >= step - 0.5 && units.peek().is_some() {
        number /= step;
        whole = false;
        unit = units.next();
    }
    let decimals = match number.abs() {
        _ if whole => 0,
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{number:.decimals$} {}", unit.unwrap_or(&""));
    text.trim_end().into()
}

#[cfg(test)]
mod tests {
    use super::{Rates, grouped, plain, plural, rate, readable, unit};
    use crate::{Cells, EventRow, Row, Unit, Value};
    use alloc::string::String;
    use alloc::vec::Vec;

    #[test]
    fn three_digits_and_a_prefix() {
        let cases = [
            (0, Unit::Packets, "0"),
            (999, Unit::Packets, "999"),
            (1_200_000, Unit::Packets, "1.20 M"),
            (999_999, Unit::Packets, "1.00 M"),
            (1_023, Unit::Bytes, "1023 B"),
            (1_024, Unit::Bytes, "1.00 KiB"),
            (-1_536, Unit::Bytes, "-1.50 KiB"),
            (2_400_000, Unit::Nanoseconds, "2.40 ms"),
            (7_200_000_000_000, Unit::Nanoseconds, "7200 s"),
            (42, Unit::None, "42"),
        ];
        for (number, unit, text) in cases {
            assert_eq!(readable(&Value::I64(number), unit), text);
        }
    }

    #[test]
    fn the_kind_of_an_event_determines_the_unit_of_its_value() {
        let value = EventRow::TABLE.position("value").unwrap();
        let rows: Vec<EventRow> = ["jitter", "rnr_nak", "cnp_burst", "nak"]
            .into_iter()
            .map(|kind| EventRow {
                kind: kind.into(),
                value: Some(7_314_000.0),
                ..EventRow::default()
            })
            .collect();
        let shown = |row| readable(&rows.value(row, value), unit(&rows, row, value));
        let shown: Vec<String> = (0..rows.len()).map(shown).collect();
        assert_eq!(shown, ["7.31 Mbit/s", "7.31 ms", "7.31 Mpps", "7314000.000"]);
    }

    #[test]
    fn digits_are_grouped_by_three() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(plural(1, "window"), "1 window");
        assert_eq!(plural(1_200, "window"), "1,200 windows");
    }

    #[test]
    fn rates_are_shown_in_bits_or_bytes() {
        assert_eq!(rate(16.2e6, Rates::Bits), "16.2 Mbit/s");
        assert_eq!(rate(8.0 * 1024.0 * 1536.0, Rates::Bytes), "1.50 MiB/s");
    }

    #[test]
    fn floats() {
        assert_eq!(readable(&Value::F64(0.031), Unit::Ratio), "3.1 %");
        assert_eq!(readable(&Value::F64(f64::INFINITY), Unit::BitsPerSecond), "inf");
        assert_eq!(readable(&Value::F64(812.5), Unit::PacketsPerSecond), "812 pps");
        assert_eq!(plain(&Value::F64(2.0 / 3.0)), "0.667");
        assert_eq!(plain(&Value::Null), "-");
    }
}
