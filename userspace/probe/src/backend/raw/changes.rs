//! The notifications of the kernel about changed routes and interfaces that the agent subscribes to.
//!
//! The agent also resolves next hops periodically. That alone would notice a removed route seconds late, and probes
//! that cannot arrive would count as lost.

use super::super::Error;
use rocescope_host::netlink::Notifications;

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

/// Subscribes to these groups.
pub(super) fn subscribe(groups: &[libc::c_uint]) -> Result<Notifications, Error> {
    Notifications::open(libc::NETLINK_ROUTE, groups).map_err(Error::at("changes of routes and interfaces"))
}
