//! Quantities with units: `"10Gbit/s"`, `"250us"`, `"64KiB"`.

use rocescope_model::units;
use serde::Deserialize;
use serde::de::{Deserializer, Error, Unexpected, Visitor};
use std::fmt;

/// 30 days: sums of a few times fit into 64 bits, even in picoseconds.
const NANOS_MAX: u64 = 30 * 86_400 * 1_000_000_000;

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $parse:path, $max:expr, $expects:literal, $plain:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
        pub struct $name(pub u64);

        impl $name {
            fn parse(text: &str) -> Option<Self> {
                $parse(text).filter(|value| *value <= $max).map(Self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Quantity;
                impl Visitor<'_> for Quantity {
                    type Value = $name;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expects)
                    }
                    fn visit_str<E: Error>(self, text: &str) -> Result<$name, E> {
                        $name::parse(text)
                            .ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
                    }
                    fn visit_i64<E: Error>(self, number: i64) -> Result<$name, E> {
                        match u64::try_from(number) {
                            Ok(number) if $plain => Ok($name(number)),
                            _ => Err(E::invalid_value(Unexpected::Signed(number), &self)),
                        }
                    }
                }
                deserializer.deserialize_any(Quantity)
            }
        }
    };
}

quantity!(
    /// A time or a point in time since the scenario began, in nanoseconds.
    Nanos, units::nanoseconds, NANOS_MAX, "a time of at most 30 days such as \"1.5s\", \"20ms\", \"10us\" or \"500ns\"", false
);

quantity!(
    /// A rate in bits a second.
    Rate, units::bits_per_second, u64::MAX, "a rate such as \"10Gbit/s\", \"2.5Mbit/s\", \"64kbit/s\" or \"800bit/s\"", false
);

quantity!(
    /// A size in bytes.
    Size, units::bytes, u64::MAX, "a size such as 4096, \"64KiB\" or \"1MiB\"", true
);

/// A probability as a threshold: a 64-bit random number below it is a hit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Probability(pub(crate) u64);

impl Probability {
    /// Whether the random number `dice` is a hit.
    pub(crate) fn hits(self, dice: u64) -> bool {
        // All ones mean certainty.
        dice < self.0 || self.0 == u64::MAX
    }
}

impl<'de> Deserialize<'de> for Probability {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Share;
        impl Visitor<'_> for Share {
            type Value = Probability;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a probability from 0 to 1")
            }
            fn visit_f64<E: Error>(self, share: f64) -> Result<Probability, E> {
                if (0.0..=1.0).contains(&share) {
                    // 2^64; a share of 1 saturates at all ones.
                    Ok(Probability((share * 18_446_744_073_709_551_616.0) as u64))
                } else {
                    Err(E::invalid_value(Unexpected::Float(share), &self))
                }
            }
            fn visit_i64<E: Error>(self, share: i64) -> Result<Probability, E> {
                match share {
                    0 => Ok(Probability(0)),
                    1 => Ok(Probability(u64::MAX)),
                    _ => Err(E::invalid_value(Unexpected::Signed(share), &self)),
                }
            }
        }
        deserializer.deserialize_any(Share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_to_the_nanosecond() {
        assert_eq!(Nanos::parse("1.5ms"), Some(Nanos(1_500_000)));
        assert_eq!(Nanos::parse("0.001us"), Some(Nanos(1)));
        assert_eq!(Nanos::parse(" 3 s "), Some(Nanos(3_000_000_000)));
        assert_eq!(Rate::parse("2.5Gbit/s"), Some(Rate(2_500_000_000)));
        assert_eq!(Size::parse("64KiB"), Some(Size(65_536)));
        assert_eq!(Size::parse("1_000B"), Some(Size(1000)));
    }

    #[test]
    fn invalid_quantities_are_rejected() {
        for text in [
            "",
            "s",
            ".5s",
            "-1s",
            "1",
            "1.2.3s",
            "31000000s",
            "99999999999999999999s",
        ] {
            assert_eq!(Nanos::parse(text), None, "{text}");
        }
        assert_eq!(Rate::parse("10Gb"), None);
    }

    #[test]
    fn a_certainty_always_hits_and_an_impossibility_never() {
        for dice in [0, 1, u64::MAX - 1, u64::MAX] {
            assert!(Probability(u64::MAX).hits(dice));
            assert!(!Probability(0).hits(dice));
        }
    }
}
