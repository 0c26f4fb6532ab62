//! Addresses.

use super::{arrays, bad, column};
use datafusion::arrow::array::{Array, BooleanArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::common::cast::as_string_view_array;
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};
use std::net::IpAddr;
use std::sync::Arc;

/// `ip_in(address, prefix)`: whether the address is in the prefix. Addresses are texts in a dataset. Null where either is
/// null, and where the text is no address.
pub(super) fn ip_in() -> ScalarUDF {
    let arguments = vec![DataType::Utf8View, DataType::Utf8View];
    create_udf(
        "ip_in",
        arguments,
        DataType::Boolean,
        Volatility::Immutable,
        Arc::new(evaluate),
    )
}

fn evaluate(arguments: &[ColumnarValue]) -> Result<ColumnarValue> {
    let [addresses, prefixes] = &arrays(arguments)?[..] else {
        return Err(bad("ip_in(address, prefix) has two arguments"));
    };
    let (addresses, prefixes) = (as_string_view_array(addresses)?, as_string_view_array(prefixes)?);
    // Mostly the same prefix for all rows.
    let mut last: Option<(String, Prefix)> = None;
    let mut found = Vec::with_capacity(addresses.len());
    for (address, text) in addresses.iter().zip(prefixes.iter()) {
        let (Some(address), Some(text)) = (address, text) else {
            found.push(None);
            continue;
        };
        let prefix = match &last {
            Some((known, prefix)) if known == text => *prefix,
            _ => {
                let prefix = Prefix::parse(text).map_err(bad)?;
                last = Some((text.to_owned(), prefix));
                prefix
            }
        };
        found.push(address.parse().ok().map(|address| prefix.has(address)));
    }
    Ok(column(BooleanArray::from(found)))
}

#[derive(Clone, Copy)]
struct Prefix {
    address: IpAddr,
    bits: u32,
}

impl Prefix {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no prefix such as 10.0.0.0/8 or fd00::/16");
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            Some(bits) => bits.parse().map_err(|_| wrong())?,
            None => width,
        };
        if bits > width {
            return Err(wrong());
        }
        Ok(Self { address, bits })
    }

    fn has(self, address: IpAddr) -> bool {
        let (differ, width) = match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => (u128::from(own.to_bits() ^ other.to_bits()), 32),
            (IpAddr::V6(own), IpAddr::V6(other)) => (own.to_bits() ^ other.to_bits(), 128),
            _ => return false,
        };
        differ.checked_shr(width - self.bits).unwrap_or(0) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::Prefix;

    #[test]
    fn prefixes_hold_the_addresses_that_share_their_bits() {
        let cases = [
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("10.1.2.3", "10.1.2.3", true),
            ("10.1.2.3", "10.1.2.2", false),
            ("0.0.0.0/0", "192.0.2.1", true),
            ("0.0.0.0/0", "fd00::1", false),
            ("fd00::/16", "fd00:1::1", true),
            ("fd00::/16", "fd01::1", false),
            ("::/0", "2001:db8::1", true),
            ("10.0.0.0/8", "::ffff:10.0.0.1", true),
        ];
        for (prefix, address, expected) in cases {
            let found = Prefix::parse(prefix).unwrap().has(address.parse().unwrap());
            assert_eq!(found, expected, "{address} in {prefix}");
        }
        for wrong in [
            "",
            "10.0.0.0/33",
            "10.0.0/8",
            "fd00::/129",
            "10.0.0.0/-1",
            "10.0.0.0/8/8",
        ] {
            assert!(Prefix::parse(wrong).is_err(), "{wrong}");
        }
    }
}
