//! Every interface with its flags and addresses, in one call (`getifaddrs`).

use std::ffi::CStr;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An interface as the kernel lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its index.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Its MAC address, if that has six bytes.
    pub mac: Option<[u8; 6]>,
    /// Its IP addresses.
    pub addresses: Vec<IpAddr>,
    flags: libc::c_uint,
    /// `ARPHRD_…`
    hardware: u16,
}

impl Listed {
    /// An administrator has enabled it.
    #[must_use]
    pub const fn is_up(&self) -> bool {
        self.has(libc::IFF_UP)
    }

    /// It is enabled and has a carrier.
    #[must_use]
    pub const fn is_running(&self) -> bool {
        self.is_up() && self.has(libc::IFF_RUNNING)
    }

    /// It leads back to this host.
    #[must_use]
    pub const fn is_loopback(&self) -> bool {
        self.has(libc::IFF_LOOPBACK)
    }

    /// Its frames begin with an Ethernet header.
    #[must_use]
    pub const fn is_ethernet(&self) -> bool {
        matches!(self.hardware, libc::ARPHRD_ETHER | libc::ARPHRD_LOOPBACK)
    }

    const fn has(&self, flag: libc::c_int) -> bool {
        self.flags & flag.cast_unsigned() != 0
    }
}

/// Frees the list of `getifaddrs`.
struct List(*mut libc::ifaddrs);

impl Drop for List {
    fn drop(&mut self) {
        // SAFETY: the call made this list, and nothing refers to it any more.
        unsafe { libc::freeifaddrs(self.0) };
    }
}

/// Every interface, in the order of the kernel.
///
/// # Errors
/// The kernel refuses.
pub fn list() -> io::Result<Vec<Listed>> {
    let mut list = std::ptr::null_mut();
    // SAFETY: the call fills the pointer, and returns 0 when it did.
    if unsafe { libc::getifaddrs(&raw mut list) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let list = List(list);
    let mut all: Vec<Listed> = Vec::new();
    let mut next: *const libc::ifaddrs = list.0;
    // SAFETY: the list lives until `list` is dropped, and the `ifa_next` of its last entry is null.
    while let Some(entry) = unsafe { next.as_ref() } {
        // SAFETY: the name of every entry ends with 0.
        let name = unsafe { CStr::from_ptr(entry.ifa_name) }.to_string_lossy();
        // SAFETY: an address is null, or valid and of the type of its family.
        let address = unsafe { read(entry.ifa_addr) };
        match address {
            Some(Address::Link(link)) => all.push(Listed {
                index: link.sll_ifindex.cast_unsigned(),
                mac: (link.sll_halen == 6)
                    .then(|| link.sll_addr.first_chunk().copied())
                    .flatten(),
                addresses: Vec::new(),
                flags: entry.ifa_flags,
                hardware: link.sll_hatype,
                name: name.into_owned(),
            }),
            Some(Address::Ip(address)) => {
                // `eth0:1` is a label of an address of `eth0`.
                let name = name.split(':').next().unwrap_or_default();
                let listed = all.iter_mut().find(|listed| listed.name == name);
                if let Some(listed) = listed {
                    listed.addresses.push(address);
                }
            }
            None => {}
        }
        next = entry.ifa_next;
    }
    Ok(all)
}

enum Address {
    Link(libc::sockaddr_ll),
    Ip(IpAddr),
}

/// An address of a supported family.
///
/// # Safety
/// `address` is null, or valid and of the type of its family.
unsafe fn read(address: *const libc::sockaddr) -> Option<Address> {
    // SAFETY: every address begins with its family, and null is no reference.
    let family = unsafe { address.as_ref() }?.sa_family;
    match libc::c_int::from(family) {
        libc::AF_PACKET => {
            // SAFETY: the family determines the type; the address need not be aligned.
            Some(Address::Link(unsafe {
                address.cast::<libc::sockaddr_ll>().read_unaligned()
            }))
        }
        libc::AF_INET => {
            // SAFETY: as above.
            let address = unsafe { address.cast::<libc::sockaddr_in>().read_unaligned() };
            let bytes = address.sin_addr.s_addr.to_ne_bytes();
            Some(Address::Ip(Ipv4Addr::from(bytes).into()))
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let address = unsafe { address.cast::<libc::sockaddr_in6>().read_unaligned() };
            Some(Address::Ip(Ipv6Addr::from(address.sin6_addr.s6_addr).into()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_is_listed_with_index_and_kind() {
        let all = list().unwrap();
        let loopback = all.iter().find(|listed| listed.is_loopback()).unwrap();
        assert_eq!((loopback.name.as_str(), loopback.index), ("lo", 1));
        assert!(loopback.is_ethernet() && loopback.mac == Some([0; 6]));
    }
}
