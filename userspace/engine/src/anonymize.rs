//! Prefix-preserving anonymization of IP addresses.

use ipcrypt_rs::IpcryptPfx;
use rocescope_pipeline::anonymize::AddressMap;
use std::fmt;
use std::fs;
use std::net::IpAddr;
use std::sync::Arc;

/// Prefix-preserving encryption (`ipcrypt-pfx`, draft-denis-ipcrypt): encrypted addresses share a prefix of
/// the same length as the originals. It is reversible with the key.
pub struct Anonymizer(IpcryptPfx);

impl fmt::Debug for Anonymizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Anonymizer")
    }
}

impl AddressMap for Anonymizer {
    fn map(&self, address: IpAddr) -> IpAddr {
        self.0.encrypt_ipaddr(address)
    }
}

/// Parses a key: 64 hexadecimal digits, or `@` and the path of a file with them.
///
/// # Errors
/// What was expected, without the key.
pub fn anonymizer(text: &str) -> Result<Arc<dyn AddressMap>, String> {
    let digits = match text.strip_prefix('@') {
        Some(path) => fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?,
        None => text.to_owned(),
    };
    let digits = digits.trim();
    let mut key = [0; IpcryptPfx::KEY_BYTES];
    let wrong = || "expected 64 hexadecimal digits, or @ and the path of a file with them".to_owned();
    if digits.len() != 2 * key.len() || !digits.is_ascii() {
        return Err(wrong());
    }
    for (at, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).map_err(|_| wrong())?;
    }
    // The results of the two halves are combined with XOR: equal halves would cancel out.
    if key[..16] == key[16..] {
        return Err("the two halves of the key must differ".into());
    }
    Ok(Arc::new(Anonymizer(IpcryptPfx::new(key))))
}

#[cfg(test)]
mod tests {
    use super::anonymizer;
    use std::net::IpAddr;

    const KEY: &str = "0123456789abcdeffedcba98765432101032547698badcfeefcdab8967452301";

    fn shared(a: IpAddr, b: IpAddr) -> u32 {
        match (a, b) {
            (IpAddr::V4(a), IpAddr::V4(b)) => (u32::from(a) ^ u32::from(b)).leading_zeros(),
            (IpAddr::V6(a), IpAddr::V6(b)) => (u128::from(a) ^ u128::from(b)).leading_zeros(),
            _ => panic!("{a} {b}"),
        }
    }

    /// The specification's own example for this key (draft-denis-ipcrypt, appendix).
    #[test]
    fn prefixes_are_preserved_and_addresses_are_not() {
        let map = anonymizer(KEY).unwrap();
        let addresses = [
            "10.0.0.47",
            "10.0.0.129",
            "10.0.0.234",
            "172.16.5.193",
            "172.16.5.42",
            "fd00::1",
            "fd00::2",
            "fd00:1::1",
        ];
        let addresses: Vec<IpAddr> = addresses.iter().map(|text| text.parse().unwrap()).collect();
        for a in &addresses {
            assert_ne!(map.map(*a), *a);
            for b in addresses.iter().filter(|b| b.is_ipv4() == a.is_ipv4()) {
                assert_eq!(shared(*a, *b), shared(map.map(*a), map.map(*b)), "{a} {b}");
            }
        }
        let known: IpAddr = "0.0.0.0".parse().unwrap();
        assert_eq!(map.map(known), map.map(known));
    }

    #[test]
    fn a_key_is_64_digits() {
        for wrong in [
            "",
            "00",
            &"g".repeat(64),
            &"ab".repeat(33),
            &"0".repeat(64),
            "@/nowhere",
        ] {
            let error = anonymizer(wrong).unwrap_err();
            assert!(wrong.is_empty() || wrong.starts_with('@') || !error.contains(wrong));
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        std::fs::write(&file, format!("{KEY}\n")).unwrap();
        assert!(anonymizer(&format!("@{}", file.display())).is_ok());
    }
}
