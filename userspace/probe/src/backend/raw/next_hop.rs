//! Resolves next hops with the routing table and the neighbour table, over netlink.
//!
//! The query asks for the route to the destination *out of one NIC*, so that the kernel skips its table of local
//! addresses, which would keep the frame inside the host; the rules and tables of the host apply. Without any route,
//! IPv4 treats the destination as a neighbour on that NIC and answers as if a route said so. That answer names no
//! table, which distinguishes it from a route. An empty datagram makes the kernel resolve an unknown neighbour.

use super::super::Error;
use super::link::Link;
use rocescope_host::netlink::{Socket, attribute, find, number};
use rocescope_host::packet::set_option;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};

/// The port "discard": usually closed, and a service on it ignores the datagram.
const DISCARD: u16 = 9;
/// `RTA_IP_PROTO`.
const PROTOCOL: u16 = 27;
/// `RTM_F_FIB_MATCH`: the answer is the entry of the table, with the length of its prefix.
const FIB_MATCH: u32 = 0x2000;
/// The sizes of `struct rtmsg` and `struct ndmsg`, which attributes follow.
const HEADER: usize = 12;

/// The state of a next hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resolved {
    /// Its MAC address.
    At([u8; 6]),
    /// It was asked and has not answered.
    Asked,
    /// The routing table has no route out of this NIC.
    NoRoute,
}

pub(super) struct NextHops {
    netlink: Socket,
    /// For each NIC, a socket that sends out of it.
    nudges: Vec<UdpSocket>,
}

impl NextHops {
    pub(super) fn open<'a>(links: impl Iterator<Item = &'a Link>) -> Result<Self, Error> {
        Ok(Self {
            netlink: Socket::open(libc::NETLINK_ROUTE).map_err(Error::at("netlink"))?,
            nudges: links
                .map(nudge)
                .collect::<io::Result<_>>()
                .map_err(Error::at("a socket to ask neighbours"))?,
        })
    }

    /// Replaces the interface of the NIC of this index.
    pub(super) fn replace(&mut self, nic: usize, link: &Link) -> io::Result<()> {
        let socket = nudge(link)?;
        if let Some(old) = self.nudges.get_mut(nic) {
            *old = socket;
        }
        Ok(())
    }

    /// Resolves the next hop from a link, which is the NIC of this index, to an address.
    pub(super) fn resolve(&mut self, link: &Link, nic: usize, dst: IpAddr) -> Result<Resolved, Error> {
        // IPv6 skips the table of local addresses only if it may choose the source.
        let mut hop = self.route(link, dst, Some(link.address()))?;
        if hop.is_none() {
            hop = self.route(link, dst, None)?;
        }
        let Some(hop) = hop else {
            return Ok(Resolved::NoRoute);
        };
        let (mac, is_fresh) = self.neighbour(link, hop)?;
        if !is_fresh && let Some(socket) = self.nudges.get(nic) {
            let to = match hop {
                IpAddr::V4(v4) => SocketAddr::new(v4.into(), DISCARD),
                IpAddr::V6(v6) => SocketAddrV6::new(v6, DISCARD, 0, scope(v6, link)).into(),
            };
            // The next lookup of the neighbour shows whether this was sent.
            let _ = socket.send_to(&[], to);
        }
        Ok(mac.map_or(Resolved::Asked, Resolved::At))
    }

    /// Returns the gateway of the route out of the link, or the destination if it is a neighbour.
    fn route(&mut self, link: &Link, dst: IpAddr, src: Option<IpAddr>) -> Result<Option<IpAddr>, Error> {
        let request = query(link, dst, src, libc::RTM_F_LOOKUP_TABLE);
        let answer = self.netlink.ask(libc::RTM_GETROUTE, &request);
        let answer = answer.map_err(Error::at("netlink"))?;
        let Some((header, attributes)) = answer.and_then(<[u8]>::split_first_chunk::<HEADER>) else {
            return Ok(None);
        };
        let [_, _, _, _, table, _, _, kind, ..] = *header;
        let is_found = kind == libc::RTN_UNICAST && table != libc::RT_TABLE_UNSPEC;
        if !is_found || find(attributes, libc::RTA_OIF).and_then(number) != Some(link.index()) {
            return Ok(None);
        }
        let gateway = find(attributes, libc::RTA_GATEWAY).and_then(address);
        Ok(Some(gateway.unwrap_or(dst)))
    }

    /// Returns the MAC address of a neighbour, and whether the kernel has confirmed it.
    fn neighbour(&mut self, link: &Link, hop: IpAddr) -> Result<(Option<[u8; 6]>, bool), Error> {
        // `struct ndmsg`.
        let mut request = vec![family(hop), 0, 0, 0];
        request.extend(link.index().to_ne_bytes());
        request.extend([0; 4]);
        request.extend(attribute(libc::NDA_DST, &octets(hop)));
        let answer = self.netlink.ask(libc::RTM_GETNEIGH, &request);
        let answer = answer.map_err(Error::at("netlink"))?;
        let Some((header, attributes)) = answer.and_then(<[u8]>::split_first_chunk::<HEADER>) else {
            return Ok((None, false));
        };
        let [_, _, _, _, _, _, _, _, state @ .., _, _] = *header;
        let state = u16::from_ne_bytes(state);
        if matches!(state, libc::NUD_FAILED | libc::NUD_INCOMPLETE) {
            return Ok((None, false));
        }
        let mac = find(attributes, libc::NDA_LLADDR).and_then(|mac| mac.try_into().ok());
        Ok((mac, state != libc::NUD_STALE))
    }
}

/// Whether a link has a route to an address that is more than the default route of the host: of a table of its own, or to a
/// part of the network.
pub(super) fn has_own_route(netlink: &mut Socket, link: &Link, dst: IpAddr) -> io::Result<bool> {
    let flags = libc::RTM_F_LOOKUP_TABLE | FIB_MATCH;
    for src in [Some(link.address()), None] {
        let answer = netlink.ask(libc::RTM_GETROUTE, &query(link, dst, src, flags))?;
        let Some((header, attributes)) = answer.and_then(<[u8]>::split_first_chunk::<HEADER>) else {
            continue;
        };
        let [_, prefix, _, _, table, _, _, kind, ..] = *header;
        let is_out = find(attributes, libc::RTA_OIF)
            .and_then(number)
            .is_none_or(|out| out == link.index());
        let is_own = prefix > 0 || table != libc::RT_TABLE_MAIN;
        if kind == libc::RTN_UNICAST && table != libc::RT_TABLE_UNSPEC && is_out && is_own {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A query for the route out of a link.
fn query(link: &Link, dst: IpAddr, src: Option<IpAddr>, flags: u32) -> Vec<u8> {
    let source_bits = if src.is_some() { bits(dst) } else { 0 };
    // `struct rtmsg`.
    let mut request = vec![family(dst), bits(dst), source_bits, 0, 0, 0, 0, 0];
    request.extend(flags.to_ne_bytes());
    request.extend(attribute(libc::RTA_DST, &octets(dst)));
    request.extend(attribute(libc::RTA_OIF, &link.index().to_ne_bytes()));
    request.extend(attribute(PROTOCOL, &[libc::IPPROTO_UDP as u8]));
    request.extend(src.into_iter().flat_map(|src| attribute(libc::RTA_SRC, &octets(src))));
    request
}

/// Creates a socket that sends out of this link only. A socket cannot be bound to another interface later.
fn nudge(link: &Link) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((link.address(), 0))?;
    socket.set_nonblocking(true)?;
    let name = link.name().as_bytes();
    set_option(&socket, libc::SOL_SOCKET, libc::SO_BINDTODEVICE, name)?;
    Ok(socket)
}

const fn family(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => libc::AF_INET as u8,
        IpAddr::V6(_) => libc::AF_INET6 as u8,
    }
}

const fn bits(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    }
}

fn address(octets: &[u8]) -> Option<IpAddr> {
    let v4 = || <[u8; 4]>::try_from(octets).map(IpAddr::from).ok();
    v4().or_else(|| <[u8; 16]>::try_from(octets).map(IpAddr::from).ok())
}

/// Link-local addresses are meaningless without their link.
const fn scope(address: Ipv6Addr, link: &Link) -> u32 {
    if address.is_unicast_link_local() {
        link.index()
    } else {
        0
    }
}
