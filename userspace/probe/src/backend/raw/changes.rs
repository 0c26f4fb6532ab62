//! Whether routes or interfaces have changed, as the kernel tells whoever listens.
//!
//! Next hops are looked up again now and then anyway. A route that is gone would be noticed seconds late
//! by that alone, and probes that cannot arrive would pass for lost ones.

use super::super::Error;
use netlink_sys::Socket as Netlink;
use netlink_sys::protocols::NETLINK_ROUTE;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// Routes and the rules that choose among their tables.
pub(super) const ROUTES: &[libc::c_uint] = &[
    libc::RTNLGRP_IPV4_ROUTE,
    libc::RTNLGRP_IPV4_RULE,
    libc::RTNLGRP_IPV6_ROUTE,
    libc::RTNLGRP_IPV6_RULE,
];
/// Interfaces and their addresses.
pub(super) const INTERFACES: &[libc::c_uint] = &[
    libc::RTNLGRP_LINK,
    libc::RTNLGRP_IPV4_IFADDR,
    libc::RTNLGRP_IPV6_IFADDR,
];
/// Messages taken at one time; more are told of at once again.
const BURST: usize = 64;

pub(super) struct Changes(Netlink);

impl Changes {
    /// Listens to these groups.
    pub(super) fn open(groups: &[libc::c_uint]) -> Result<Self, Error> {
        let open = || {
            let mut netlink = Netlink::new(NETLINK_ROUTE)?;
            netlink.bind_auto()?;
            for group in groups {
                netlink.add_membership(*group)?;
            }
            io::Result::Ok(netlink)
        };
        open()
            .map(Self)
            .map_err(Error::at("changes of routes and interfaces"))
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Takes what was said; whether something has changed. What, is not read: it will be looked up.
    pub(super) fn take(&self) -> bool {
        let mut some = false;
        for _ in 0..BURST {
            match self.0.recv(&mut &mut [0_u8; 1][..], libc::MSG_DONTWAIT) {
                Ok(_) => some = true,
                // More was said than found room.
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => some = true,
                Err(_) => break,
            }
        }
        some
    }
}
