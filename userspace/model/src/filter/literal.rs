//! The values that columns are compared with.

use crate::{Column, Type, Unit, Value, units};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use core::cmp::Ordering;
use core::net::IpAddr;

/// A comparison operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
}

impl Comparison {
    /// Whether the comparison is true for two values in this order.
    #[must_use]
    pub const fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Below => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::Above => order.is_gt(),
            Self::AtLeast => order.is_ge(),
        }
    }

    /// Whether it is more than an equality test.
    #[must_use]
    pub const fn is_ordering(self) -> bool {
        !matches!(self, Self::Equal | Self::NotEqual)
    }
}

/// An address and the length of its network prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefix {
    /// The address.
    pub address: IpAddr,
    /// Prefix length in bits: at most 32 or 128.
    pub bits: u8,
}

impl Prefix {
    /// Creates a prefix that contains only this address.
    #[must_use]
    pub const fn host(address: IpAddr) -> Self {
        let bits = if address.is_ipv4() { 32 } else { 128 };
        Self { address, bits }
    }

    /// Parses `10.0.0.0/8`; without a slash, the prefix contains only the address. `::ffff:10.0.0.1`, the GID of an IPv4
    /// address, is that address.
    ///
    /// # Errors
    /// Returns a message.
    pub fn read(text: &str) -> Result<Self, String> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let written: IpAddr = address
            .parse()
            .map_err(|_| format!("`{address}` is not an IP address"))?;
        let address = written.to_canonical();
        let all = Self::host(address);
        let Some(bits) = bits else { return Ok(all) };
        // The first 96 bits of a GID of an IPv4 address are the same for all of them.
        let before = Self::host(written).bits - all.bits;
        let range = before..=before + all.bits;
        match bits.parse() {
            Ok(bits) if range.contains(&bits) => Ok(Self {
                address,
                bits: bits - before,
            }),
            _ => Err(format!(
                "invalid prefix length `{bits}`: expected {} to {}",
                range.start(),
                range.end()
            )),
        }
    }

    /// Whether the prefix contains `address`. A prefix never contains an address of the other family.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(a), IpAddr::V4(b)) => {
                (u32::from(a) ^ u32::from(b))
                    .checked_shr(32 - u32::from(self.bits))
                    .unwrap_or(0)
                    == 0
            }
            (IpAddr::V6(a), IpAddr::V6(b)) => {
                (u128::from(a) ^ u128::from(b))
                    .checked_shr(128 - u32::from(self.bits))
                    .unwrap_or(0)
                    == 0
            }
            _ => false,
        }
    }
}

/// A value that a column is compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// An integer, compared exactly with integers.
    Integer(i64),
    /// Any other number.
    Number(f64),
    /// True or false.
    Truth(bool),
    /// An address or a network.
    Network(Prefix),
    /// Text, case-insensitive; `*` matches any characters.
    Pattern(String),
    /// No value.
    Null,
}

impl Literal {
    /// Parses a value for `column`, which the user wrote as `name`.
    ///
    /// # Errors
    /// Returns a message.
    pub fn read(name: &str, column: &Column, text: &str) -> Result<Self, String> {
        if column.nullable && text.eq_ignore_ascii_case("null") {
            return Ok(Self::Null);
        }
        match column.kind {
            Type::I64 | Type::F64 => number(text, column.unit).ok_or_else(|| {
                let example = example(column.unit);
                format!("invalid number `{text}` for `{name}`: expected a number such as {example}")
            }),
            Type::Bool => match text {
                "true" | "yes" => Ok(Self::Truth(true)),
                "false" | "no" => Ok(Self::Truth(false)),
                _ => Err(format!(
                    "invalid value `{text}` for `{name}`: expected `true` or `false`"
                )),
            },
            Type::Text => Ok(Prefix::read(text).map_or_else(|_| Self::Pattern(text.to_owned()), Self::Network)),
            Type::Time => Err(format!("`{name}` cannot be compared; use `{name}_ns`, in nanoseconds")),
            Type::Bytes | Type::ListI64 => Err(format!("`{name}` cannot be compared: it holds more than one value")),
        }
    }

    /// Whether the comparison of `value` with this literal is true. A null value equals only `null`.
    #[must_use]
    pub fn compare(&self, value: &Value<'_>, comparison: Comparison) -> bool {
        let equal = |equal: bool| match comparison {
            Comparison::Equal => equal,
            Comparison::NotEqual => !equal,
            _ => false,
        };
        match (value, self) {
            (Value::Null, Self::Null) => equal(true),
            (_, Self::Null) => equal(false),
            (Value::I64(value), Self::Integer(number)) => comparison.holds(value.cmp(number)),
            (Value::I64(value), Self::Number(number)) => (*value as f64)
                .partial_cmp(number)
                .is_some_and(|order| comparison.holds(order)),
            (Value::F64(value), Self::Integer(number)) => value
                .partial_cmp(&(*number as f64))
                .is_some_and(|order| comparison.holds(order)),
            (Value::F64(value), Self::Number(number)) => {
                value.partial_cmp(number).is_some_and(|order| comparison.holds(order))
            }
            (Value::Bool(value), Self::Truth(truth)) => equal(value == truth),
            (Value::Text(value), Self::Network(prefix)) => {
                equal(value.parse().is_ok_and(|address| prefix.contains(address)))
            }
            (Value::Text(value), Self::Pattern(pattern)) => equal(matches(value, pattern)),
            _ => false,
        }
    }

    /// Same as [`compare`](Self::compare), for an address that is not text.
    #[must_use]
    pub fn is_network_of(&self, address: IpAddr, comparison: Comparison) -> bool {
        match (self, comparison) {
            (Self::Network(prefix), Comparison::Equal) => prefix.contains(address),
            (Self::Network(prefix), Comparison::NotEqual) => !prefix.contains(address),
            _ => false,
        }
    }
}

/// Returns example numbers of this unit.
const fn example(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds | Unit::UnixNanoseconds => "1500, 20us or 1ms",
        Unit::Ratio => "0.05 or 5%",
        Unit::BitsPerSecond => "2.5G or 400M",
        Unit::Bytes => "4096, 4k or 4Ki",
        _ => "17, 10k or 1M",
    }
}

/// Parses a number with its suffix: a decimal prefix, or the unit of a time or ratio.
fn number(text: &str, unit: Unit) -> Option<Literal> {
    if let Some(hexadecimal) = text.strip_prefix("0x") {
        return i64::from_str_radix(hexadecimal, 16).ok().map(Literal::Integer);
    }
    let (number, suffix) = units::split(text);
    let factor = match (unit, suffix) {
        (Unit::Ratio, "%") => 0.01,
        (_, "") => 1.0,
        (Unit::Nanoseconds | Unit::UnixNanoseconds, _) => units::time_factor(suffix)? as f64,
        (Unit::Bytes, _) => units::size_factor(suffix)? as f64,
        (Unit::BitsPerSecond, _) => units::rate_factor(suffix)? as f64,
        _ => units::decimal_factor(suffix)? as f64,
    };
    let number = number.replace('_', "");
    if let Ok(integer) = number.parse::<i64>() {
        // All factors except that of a ratio are integers.
        if factor >= 1.0 {
            return integer.checked_mul(factor as i64).map(Literal::Integer);
        }
    }
    let value = number.parse::<f64>().ok()? * factor;
    value.is_finite().then_some(Literal::Number(value))
}

/// Whether `text` matches `pattern`, case-insensitively; `*` matches any characters.
#[must_use]
pub fn matches(text: &str, pattern: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or("");
    let Some(mut rest) = without_prefix(text, first) else {
        return false;
    };
    let mut pieces = pieces.peekable();
    if pieces.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            // The last piece must end the text.
            return rest
                .len()
                .checked_sub(piece.len())
                .and_then(|at| rest.get(at..))
                .is_some_and(|end| end.eq_ignore_ascii_case(piece));
        }
        let found = rest
            .char_indices()
            .find_map(|(at, _)| without_prefix(&rest[at..], piece));
        match found {
            Some(after) => rest = after,
            None if piece.is_empty() => {}
            None => return false,
        }
    }
    true
}

fn without_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let start = text.get(..prefix.len())?;
    if start.eq_ignore_ascii_case(prefix) {
        text.get(prefix.len()..)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{Literal, Prefix, matches, number};
    use crate::Unit;

    #[test]
    fn patterns() {
        for (text, pattern, expected) in [
            ("RC_SEND_ONLY", "rc_send_only", true),
            ("RC_SEND_ONLY", "RC_SEND", false),
            ("RC_SEND_ONLY", "RC_SEND*", true),
            ("RC_SEND_ONLY", "*ONLY", true),
            ("RC_SEND_ONLY", "*SEND*", true),
            ("RC_SEND_ONLY", "*E*D*N*Y", true),
            ("RC_SEND_ONLY", "*SEND_ONLY_*", false),
            ("", "*", true),
            ("ab", "ab*b", false),
            ("é", "*", true),
        ] {
            assert_eq!(matches(text, pattern), expected, "{text} {pattern}");
        }
    }

    #[test]
    fn numbers_carry_prefixes_and_units() {
        let cases = [
            ("17", Unit::None, Some(Literal::Integer(17))),
            ("1_000", Unit::None, Some(Literal::Integer(1000))),
            ("10k", Unit::Packets, Some(Literal::Integer(10_000))),
            ("2.5G", Unit::BitsPerSecond, Some(Literal::Number(2.5e9))),
            ("1e9", Unit::BitsPerSecond, Some(Literal::Number(1e9))),
            ("20us", Unit::Nanoseconds, Some(Literal::Integer(20_000))),
            ("1.5ms", Unit::Nanoseconds, Some(Literal::Number(1.5e6))),
            ("5%", Unit::Ratio, Some(Literal::Number(0.05))),
            ("0x11", Unit::None, Some(Literal::Integer(17))),
            ("5%", Unit::Bytes, None),
            ("20us", Unit::Bytes, None),
            ("fast", Unit::Bytes, None),
            ("", Unit::Bytes, None),
            ("9999999999T", Unit::Bytes, None),
        ];
        for (text, unit, expected) in cases {
            assert_eq!(number(text, unit), expected, "{text}");
        }
    }

    #[test]
    fn prefixes() {
        let contains = |prefix: &str, address: &str| Prefix::read(prefix).unwrap().contains(address.parse().unwrap());
        assert!(contains("10.0.0.0/8", "10.9.9.9") && !contains("10.0.0.0/8", "11.0.0.0"));
        assert!(contains("0.0.0.0/0", "11.0.0.0") && !contains("0.0.0.0/0", "::1"));
        assert!(contains("::/0", "fd00::1") && contains("fd00::/8", "fdff::1"));
        assert!(!contains("10.0.0.1", "10.0.0.2") && contains("10.0.0.1", "10.0.0.1"));
        assert!(contains("::ffff:10.0.0.1", "10.0.0.1") && !contains("::ffff:10.0.0.1", "10.0.0.2"));
        assert!(contains("::ffff:10.0.0.0/104", "10.255.0.1") && Prefix::read("::ffff:10.0.0.0/95").is_err());
        assert!(Prefix::read("10.0.0.0/33").is_err() && Prefix::read("ten/8").is_err());
    }
}
