//! Routing rules that are about one NIC: by its address or its name (`ip rule`).

use crate::netlink::{Socket, attributes, text};
use std::io;
use std::net::IpAddr;

/// `FRA_SRC` and `FRA_OIFNAME` of `linux/fib_rules.h`.
const SOURCE: u16 = 2;
const INTERFACE: u16 = 17;
/// The size of `struct fib_rule_hdr`, which attributes follow.
const HEADER: usize = 12;

/// The rules by source addresses and by interfaces.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Networks with the lengths of their prefixes.
    sources: Vec<(IpAddr, u8)>,
    interfaces: Vec<String>,
}

impl Rules {
    /// The rules of this host.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn read() -> io::Result<Self> {
        let mut rules = Self::default();
        let mut socket = Socket::open(libc::NETLINK_ROUTE)?;
        for family in [libc::AF_INET, libc::AF_INET6] {
            let mut request = [0; HEADER];
            request[0] = family as u8;
            socket.exchange(libc::RTM_GETRULE, true, &request, |rule| rules.add(rule))?;
        }
        Ok(rules)
    }

    fn add(&mut self, rule: &[u8]) {
        let Some((header, rest)) = rule.split_first_chunk::<HEADER>() else {
            return;
        };
        let [_, _, source_bits, ..] = *header;
        for (kind, value) in attributes(rest) {
            let v4 = || <[u8; 4]>::try_from(value).map(IpAddr::from).ok();
            match kind {
                SOURCE => {
                    let address = v4().or_else(|| <[u8; 16]>::try_from(value).map(IpAddr::from).ok());
                    self.sources.extend(address.map(|address| (address, source_bits)));
                }
                INTERFACE => self.interfaces.extend(text(value)),
                _ => {}
            }
        }
    }

    /// Whether a rule is about a NIC with this name and address.
    #[must_use]
    pub fn name(&self, nic: &str, address: IpAddr) -> bool {
        let mut sources = self.sources.iter();
        self.interfaces.iter().any(|name| name == nic) || sources.any(|(network, bits)| holds(*network, *bits, address))
    }
}

/// Whether a network has an address.
fn holds(network: IpAddr, bits: u8, address: IpAddr) -> bool {
    let differs = match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => u128::from(network.to_bits() ^ address.to_bits()) << 96,
        (IpAddr::V6(network), IpAddr::V6(address)) => network.to_bits() ^ address.to_bits(),
        _ => return false,
    };
    differs.leading_zeros() >= bits.into()
}

#[cfg(test)]
mod tests {
    use super::{HEADER, INTERFACE, Rules, SOURCE};
    use crate::netlink::attribute;
    use std::net::IpAddr;

    #[test]
    fn rules_name_nics_by_their_interface_or_the_network_of_their_address() {
        let mut rules = Rules::default();
        let rule = |bits: u8, attributes: Vec<u8>| {
            let mut header = vec![0; HEADER];
            header[2] = bits;
            [header, attributes].concat()
        };
        rules.add(&rule(0, Vec::new()));
        rules.add(&rule(24, attribute(SOURCE, &[10, 1, 2, 0])));
        rules.add(&rule(0, attribute(INTERFACE, b"rail1\0")));
        let names = |nic: &str, address: [u8; 4]| rules.name(nic, IpAddr::from(address));
        assert!(names("eth7", [10, 1, 2, 200]) && names("rail1", [10, 9, 9, 9]));
        assert!(!names("eth0", [10, 1, 3, 1]) && !rules.name("eth0", "fd00::1".parse().unwrap()));
    }

    #[test]
    fn the_kernel_s_own_rules_name_no_nic() {
        assert!(!Rules::read().unwrap().name("no such NIC", [198, 51, 100, 7].into()));
    }
}
