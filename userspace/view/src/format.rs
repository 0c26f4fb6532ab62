//! Formats cells and counts.

use crate::glyphs::Glyphs;
use crate::zone::Zone;
use rocescope_model::human::{self, Rates};
use rocescope_model::time::{DAY_NS, HOUR_NS, MINUTE_NS, SECOND_NS};
use rocescope_model::{Column, Time, Type, Unit, Value};

/// Formats a cell of this unit, short enough for a table.
#[must_use]
pub fn cell(value: &Value<'_>, unit: Unit, rates: Rates, zone: Zone) -> String {
    match (value, unit) {
        (Value::Null, _) => "-".into(),
        (Value::Time(time), _) => {
            // The date is in the header.
            let text = zone.text(*time, 3);
            text.get(11..23).map_or_else(|| text.clone(), str::to_owned)
        }
        // A fault may have begun days ago.
        (Value::I64(ns), Unit::UnixNanoseconds) => zone.stamp(Time(*ns)),
        (Value::F64(bps), Unit::BitsPerSecond) if bps.is_finite() => human::rate(*bps, rates),
        (value, unit) if is_count(unit) => {
            let text = human::readable(value, unit);
            // Aligns digits where only some numbers have a prefix.
            if text.ends_with(|last: char| last.is_ascii_digit()) {
                text + "  "
            } else {
                text
            }
        }
        (value, unit) => human::readable(value, unit),
    }
}

/// Numbers that may have a decimal prefix but no unit.
const fn is_count(unit: Unit) -> bool {
    matches!(
        unit,
        Unit::Packets | Unit::Frames | Unit::Messages | Unit::Flows | Unit::Events
    )
}

/// The maximum width of the cells of a column if its unit bounds it; `None` if the cells must be measured.
#[must_use]
pub const fn width(column: &Column) -> Option<usize> {
    match (column.kind, column.unit) {
        (Type::Time, _) => Some(12),
        (Type::Bool, _) => Some(3),
        (Type::Text, _) => None,
        (Type::Bytes, _) => Some(17),
        (Type::ListI64, _) => Some(20),
        (_, Unit::UnixNanoseconds) => Some(20),
        (_, Unit::None) => None,
        (_, Unit::Bytes) => Some(8),
        (_, Unit::Nanoseconds | Unit::Ratio) => Some(7),
        (_, Unit::BitsPerSecond) => Some(11),
        (_, Unit::PacketsPerSecond) => Some(9),
        (_, _) => Some(6),
    }
}

/// A duration in the largest unit that keeps it an integer: `1 s`, `250 ms`.
#[must_use]
pub fn length(ns: i64) -> String {
    let of = |size: i64, unit: &str| (ns >= size && ns % size == 0).then(|| format!("{} {unit}", ns / size));
    of(1_000_000_000, "s")
        .or_else(|| of(1_000_000, "ms"))
        .or_else(|| of(1_000, "µs"))
        .unwrap_or_else(|| format!("{ns} ns"))
}

/// How long ago, in whole units: `12 s`, `3 min`, `5 h`, `2 days`.
#[must_use]
pub fn age(ns: i64) -> String {
    let (size, unit) = match ns {
        ..MINUTE_NS => (SECOND_NS, "s"),
        MINUTE_NS..HOUR_NS => (MINUTE_NS, "min"),
        HOUR_NS..DAY_NS => (HOUR_NS, "h"),
        DAY_NS.. => (DAY_NS, if ns < 2 * DAY_NS { "day" } else { "days" }),
    };
    format!("{} {unit}", ns / size)
}

/// Shortens text to `width` cells: an ellipsis replaces its end, the middle of an address, whose ends both matter, or
/// the begin of a path, whose file name matters.
#[must_use]
pub fn fit(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let Some(kept) = width.checked_sub(1) else {
        return String::new();
    };
    let from_the_end = if text.parse::<core::net::IpAddr>().is_ok() {
        kept / 2
    } else if text.starts_with(['/', '.']) {
        kept
    } else {
        0
    };
    let head = text.chars().take(kept - from_the_end);
    let tail = text.chars().skip(length - from_the_end);
    head.chain(['…']).chain(tail).collect()
}

/// A sparkline of `width` cells, the last value at the right, scaled to the maximum.
#[must_use]
pub fn sparkline(values: &[f32], width: usize, glyphs: Glyphs) -> String {
    let values = &values[values.len().saturating_sub(width)..];
    let max = values.iter().copied().fold(0.0_f32, f32::max);
    let blank = width - values.len();
    let levels = values.iter().map(|value| {
        let share = if max > 0.0 { value / max } else { *value };
        glyphs.spark(share)
    });
    " ".repeat(blank) + &levels.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_ends_in_an_ellipsis() {
        assert_eq!(fit("RC_SEND_ONLY", 6), "RC_SE…");
        assert_eq!(fit("fd00:1:2:3::4:5", 9), "fd00…:4:5");
        assert_eq!(fit("/var/captures/rail0.pcap", 12), "…/rail0.pcap");
        assert_eq!(fit("abc", 3), "abc");
        assert_eq!(fit("abc", 0), "");
    }

    #[test]
    fn sparklines_end_at_the_right() {
        let line = sparkline(&[f32::NAN, 0.0, 1.0, 2.0], 6, Glyphs::Unicode);
        assert_eq!(line, "   ·▄█");
        assert_eq!(sparkline(&[1.0, 2.0, 4.0], 2, Glyphs::Unicode), "▄█");
    }

    #[test]
    fn lengths_stay_integers() {
        assert_eq!(length(1_000_000_000), "1 s");
        assert_eq!(length(1_500_000_000), "1500 ms");
        assert_eq!(length(7), "7 ns");
    }
}
