//! The way of a flow.

use core::net::IpAddr;

/// What determines the path of packets to one UDP port: switches hash these fields, and the ports of all these flows are
/// alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UdpPath {
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// UDP source port.
    pub port: u16,
}
