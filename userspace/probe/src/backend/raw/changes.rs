//! Notifications of the kernel about changed routes and interfaces.
//!
//! The agent also resolves next hops periodically. That alone would notice a removed route seconds late, and probes
//! that cannot arrive would count as lost.

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
pub(super) const INTERFACES: &[libc::c_uint] =
    &[libc::RTNLGRP_LINK, libc::RTNLGRP_IPV4_IFADDR, libc::RTNLGRP_IPV6_IFADDR];
/// The maximum number of messages read at a time; the socket stays ready while there are more.
const BURST: usize = 64;

pub(super) struct Changes(Netlink);

impl Changes {
    /// Subscribes to these groups.
    pub(super) fn open(groups: &[libc::c_uint]) -> Result<Self, Error> {
        let open = || {
            let mut netlink = Netlink::new(NETLINK_ROUTE)?;
            netlink.bind_auto()?;
            for group in groups {
                netlink.add_membership(*group)?;
            }
            io::Result::Ok(netlink)
        };
        open().map(Self).map_err(Error::at("changes of routes and interfaces"))
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Reads the notifications; returns whether there were any. Their content is not parsed: the caller looks up the
    /// state.
    pub(super) fn take(&self) -> bool {
        let mut some = false;
        for _ in 0..BURST {
            match self.0.recv(&mut &mut [0_u8; 1][..], libc::MSG_DONTWAIT) {
                Ok(_) => some = true,
                // Notifications were dropped because the buffer was full.
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => some = true,
                Err(_) => break,
            }
        }
        some
    }
}
