//! Addresses for flows: one, a range, a network, or a list of those.

use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Unexpected, Visitor};
use std::fmt;
use std::net::IpAddr;

/// The maximum number of addresses in a pool: a network with 16 host bits.
const ADDRESSES_MAX: u128 = 65_536;

/// A pool of addresses of one version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pool {
    /// First and last of each range, as numbers.
    ranges: Vec<(u128, u128)>,
    /// Whether they are IPv6.
    v6: bool,
}

impl Pool {
    /// The number of addresses, at least 1.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ranges
            .iter()
            .map(|(first, last)| (last - first + 1) as usize)
            .sum()
    }

    /// Always `false`: a pool has at least one address.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Whether the addresses are IPv6.
    #[must_use]
    pub fn is_v6(&self) -> bool {
        self.v6
    }

    /// The address at `index`, modulo their number.
    #[must_use]
    pub fn get(&self, index: usize) -> IpAddr {
        let mut left = (index % self.len().max(1)) as u128;
        for (first, last) in &self.ranges {
            let count = last - first + 1;
            if left < count {
                return self.address(first + left);
            }
            left -= count;
        }
        self.address(0)
    }

    /// The default address 10.255.0.`host`.
    pub(super) fn default_address(host: u8) -> Self {
        let number = u128::from(u32::from_be_bytes([10, 255, 0, host]));
        Self {
            ranges: vec![(number, number)],
            v6: false,
        }
    }

    fn address(&self, number: u128) -> IpAddr {
        if self.v6 {
            IpAddr::V6(number.into())
        } else {
            IpAddr::V4((number as u32).into())
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let number = |address: IpAddr| match address {
            IpAddr::V4(v4) => (u128::from(u32::from(v4)), false),
            IpAddr::V6(v6) => (u128::from(v6), true),
        };
        let address = |text: &str| text.trim().parse().ok().map(number);
        let (first, last, v6) = if let Some((first, last)) = text.split_once('-') {
            let ((first, v6), (last, last_v6)) = (address(first)?, address(last)?);
            (first, last, (v6 == last_v6).then_some(v6)?)
        } else if let Some((network, bits)) = text.split_once('/') {
            let (network, v6) = address(network)?;
            let width: u32 = if v6 { 128 } else { 32 };
            let host_bits = width.checked_sub(bits.parse().ok()?)?;
            let hosts = 1u128.checked_shl(host_bits)?;
            let network = network & !(hosts - 1);
            // Without network and broadcast address, if the network has both.
            if hosts > 2 {
                (network + 1, network + hosts - 2, v6)
            } else {
                (network, network + hosts - 1, v6)
            }
        } else {
            let (only, v6) = address(text)?;
            (only, only, v6)
        };
        (first <= last && last - first < ADDRESSES_MAX).then_some(Self {
            ranges: vec![(first, last)],
            v6,
        })
    }
}

impl<'de> Deserialize<'de> for Pool {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Addresses;
        impl<'de> Visitor<'de> for Addresses {
            type Value = Pool;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "at most 65,536 addresses such as \"10.0.0.1\", \"10.0.0.1-10.0.0.9\", \"fd00::/120\", or a list of them",
                )
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Pool, E> {
                Pool::parse(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Pool, A::Error> {
                let Some(mut pool) = list.next_element::<Pool>()? else {
                    return Err(A::Error::invalid_length(0, &self));
                };
                while let Some(more) = list.next_element::<Pool>()? {
                    if more.v6 != pool.v6 {
                        return Err(A::Error::custom("a pool must have addresses of one IP version"));
                    }
                    pool.ranges.extend(more.ranges);
                }
                Ok(pool)
            }
        }
        deserializer.deserialize_any(Addresses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_is_an_address_a_range_or_a_network() {
        let all = |text: &str| {
            let pool = Pool::parse(text).unwrap();
            (
                pool.len(),
                pool.get(0).to_string(),
                pool.get(pool.len() - 1).to_string(),
            )
        };
        assert_eq!(all("10.0.0.7"), (1, "10.0.0.7".into(), "10.0.0.7".into()));
        assert_eq!(all("10.0.0.250-10.0.1.4"), (11, "10.0.0.250".into(), "10.0.1.4".into()));
        assert_eq!(all("10.1.2.3/24"), (254, "10.1.2.1".into(), "10.1.2.254".into()));
        assert_eq!(all("fd77::/126"), (2, "fd77::1".into(), "fd77::2".into()));
        assert_eq!(all("10.0.0.4/31"), (2, "10.0.0.4".into(), "10.0.0.5".into()));
        assert_eq!(
            Pool::parse("10.0.0.1").unwrap().get(5),
            Pool::parse("10.0.0.1").unwrap().get(0)
        );
    }

    #[test]
    fn invalid_pools_are_rejected() {
        for text in [
            "",
            "10.0.0",
            "10.0.0.9-10.0.0.1",
            "10.0.0.1-fd77::1",
            "10.0.0.0/33",
            "10.0.0.0/8",
            "::/0",
        ] {
            assert_eq!(Pool::parse(text), None, "{text}");
        }
    }
}
