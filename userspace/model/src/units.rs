//! Sizes, rates and durations as users write them, with one meaning in every command, configuration, filter and scenario.
//!
//! | quantity | units | examples |
//! |---|---|---|
//! | size | `k`, `M`, `G`, `T` are powers of 1,000; `Ki`, `Mi`, `Gi`, `Ti` of 1,024; `B` may follow | `4096`, `4G`, `64MiB` |
//! | rate in bits a second | `k`, `M`, `G`, `T`; `bit/s` may follow | `2.5G`, `1e9`, `10Gbit/s` |
//! | duration | `ns`, `us`, `ms`, `s`, `m`, `h`, `d`, `w`, in words too; parts add up | `1.5s`, `100ms`, `1h 30m` |

/// Returns a number of bytes; `None` if it is no size, or has more than 64 bits.
///
/// ```
/// use rocescope_model::units::bytes;
///
/// assert_eq!(bytes("4G"), Some(4_000_000_000));
/// assert_eq!((bytes("4Gi"), bytes("4GiB")), (Some(4 << 30), Some(4 << 30)));
/// ```
#[must_use]
pub fn bytes(text: &str) -> Option<u64> {
    quantity(text, size_factor)
}

/// Returns bits a second, rounded down; `None` if it is no rate, or has more than 64 bits.
#[must_use]
pub fn bits_per_second(text: &str) -> Option<u64> {
    quantity(text, rate_factor)
}

/// Returns the nanoseconds of a duration, rounded down; `None` if a part has no unit, or it has more than 64 bits.
#[must_use]
pub fn nanoseconds(text: &str) -> Option<u64> {
    let mut rest = text.trim();
    let mut total = None;
    while !rest.is_empty() {
        let (number, after) = split(rest);
        let after = after.trim_start();
        let end = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let (unit, next) = after.split_at_checked(end)?;
        let part = scaled(number, time_factor(unit)?)?;
        total = Some(total.unwrap_or(0_u64).checked_add(part)?);
        rest = next.trim_start();
    }
    total
}

fn quantity(text: &str, factor: impl Fn(&str) -> Option<u64>) -> Option<u64> {
    let (number, unit) = split(text.trim());
    scaled(number, factor(unit.trim())?)
}

/// Splits a number from its unit. `1e9` is one number, not 1 with the unit `e9`.
#[must_use]
pub fn split(text: &str) -> (&str, &str) {
    let end = |from: usize, of: &str| {
        let rest = text.get(from..).unwrap_or("");
        from + rest
            .find(|c: char| !(c.is_ascii_digit() || of.contains(c)))
            .unwrap_or(rest.len())
    };
    let digits = end(0, "+-._");
    let exponent = end(digits + 1, "+-");
    let has_exponent = text
        .get(digits..exponent)
        .is_some_and(|part| part.len() > 1 && part.starts_with(['e', 'E']));
    text.split_at_checked(if has_exponent { exponent } else { digits })
        .unwrap_or((text, ""))
}

/// Multiplies a decimal number that is not negative by a factor, exactly, then rounds down.
#[must_use]
pub fn scaled(number: &str, factor: u64) -> Option<u64> {
    let (number, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if !whole.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let mut digits = 0_u128;
    for c in whole.chars().chain(fraction.chars()).filter(|c| *c != '_') {
        digits = digits.checked_mul(10)?.checked_add(c.to_digit(10)?.into())?;
    }
    let decimals = fraction.chars().filter(|c| *c != '_').count();
    let shift = exponent
        .parse::<i32>()
        .ok()?
        .checked_sub(i32::try_from(decimals).ok()?)?;
    let value = digits.checked_mul(factor.into())?;
    let power = 10_u128.checked_pow(shift.unsigned_abs())?;
    let value = if shift < 0 {
        value / power
    } else {
        value.checked_mul(power)?
    };
    u64::try_from(value).ok()
}

/// The factor of a decimal prefix.
#[must_use]
pub fn decimal_factor(prefix: &str) -> Option<u64> {
    Some(match prefix {
        "" => 1,
        "k" | "K" => 1_000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        "T" => 1_000_000_000_000,
        _ => return None,
    })
}

/// The bytes of a unit of sizes.
#[must_use]
pub fn size_factor(unit: &str) -> Option<u64> {
    Some(match unit.strip_suffix('B').unwrap_or(unit) {
        "Ki" => 1 << 10,
        "Mi" => 1 << 20,
        "Gi" => 1 << 30,
        "Ti" => 1 << 40,
        prefix => return decimal_factor(prefix),
    })
}

/// The bits a second of a unit of rates.
#[must_use]
pub fn rate_factor(unit: &str) -> Option<u64> {
    decimal_factor(unit.strip_suffix("bit/s").unwrap_or(unit))
}

/// The nanoseconds of a unit of times.
#[must_use]
pub fn time_factor(unit: &str) -> Option<u64> {
    const SECOND: u64 = 1_000_000_000;
    Some(match unit {
        "ns" | "nsec" => 1,
        "us" | "µs" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "s" | "sec" | "second" | "seconds" => SECOND,
        "m" | "min" | "minute" | "minutes" => 60 * SECOND,
        "h" | "hr" | "hour" | "hours" => 3_600 * SECOND,
        "d" | "day" | "days" => 86_400 * SECOND,
        "w" | "week" | "weeks" => 7 * 86_400 * SECOND,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{bits_per_second, bytes, nanoseconds};

    #[test]
    fn sizes() {
        let units = [
            ("4096", 4_096),
            ("4096B", 4_096),
            ("4k", 4_000),
            ("4K", 4_000),
            ("4kB", 4_000),
            ("4M", 4_000_000),
            ("4MB", 4_000_000),
            ("4G", 4_000_000_000),
            ("4GB", 4_000_000_000),
            ("4T", 4_000_000_000_000),
            ("4TB", 4_000_000_000_000),
            ("4Ki", 4 << 10),
            ("4KiB", 4 << 10),
            ("4Mi", 4 << 20),
            ("4MiB", 4 << 20),
            ("4Gi", 4 << 30),
            ("4GiB", 4 << 30),
            ("4Ti", 4 << 40),
            ("4TiB", 4 << 40),
            ("1.5G", 1_500_000_000),
            (" 1_000 B ", 1_000),
        ];
        for (text, expected) in units {
            assert_eq!(bytes(text), Some(expected), "{text}");
        }
        for wrong in [
            "",
            "G",
            "-1",
            "+1",
            "1X",
            "1mB",
            "99999999T",
            "1e30",
            "1..5G",
            "1.5.5G",
            "4g",
        ] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn rates() {
        let units = [
            ("800", 800),
            ("800bit/s", 800),
            ("64k", 64_000),
            ("64kbit/s", 64_000),
            ("400M", 400_000_000),
            ("2.5Mbit/s", 2_500_000),
            ("2.5G", 2_500_000_000),
            ("10Gbit/s", 10_000_000_000),
            ("1T", 1_000_000_000_000),
            ("1Tbit/s", 1_000_000_000_000),
            ("1e9", 1_000_000_000),
            ("2.5e-1k", 250),
        ];
        for (text, expected) in units {
            assert_eq!(bits_per_second(text), Some(expected), "{text}");
        }
        for wrong in ["", "G", "-1M", "fast", "nan", "infG", "1e300G", "1Gi"] {
            assert_eq!(bits_per_second(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn durations() {
        let units = [
            ("500ns", 500),
            ("0.001us", 1),
            ("10us", 10_000),
            ("10µs", 10_000),
            ("100ms", 100_000_000),
            ("1.5ms", 1_500_000),
            (" 3 s ", 3_000_000_000),
            ("5m", 300_000_000_000),
            ("5min", 300_000_000_000),
            ("1h 30m", 5_400_000_000_000),
            ("1h30m", 5_400_000_000_000),
            ("2d", 172_800_000_000_000),
            ("1w", 604_800_000_000_000),
        ];
        for (text, expected) in units {
            assert_eq!(nanoseconds(text), Some(expected), "{text}");
        }
        for wrong in ["", "100", "1x", "s", "-1s", "1h 30", "9999999w"] {
            assert_eq!(nanoseconds(wrong), None, "{wrong}");
        }
    }
}
