//! Resolves next hops with the routing table and the neighbour table, over netlink.
//!
//! The query asks for the route to the destination *out of one NIC*, so that the kernel skips its table of local
//! addresses, which would keep the frame inside the host; the rules and tables of the host apply. Without any route,
//! IPv4 treats the destination as a neighbour on that NIC and answers as if a route said so. That answer names no
//! table, which distinguishes it from a route. An empty datagram makes the kernel resolve an unknown neighbour.

use super::super::Error;
use super::link::Link;
use netlink_packet_core::{NLM_F_REQUEST, NetlinkDeserializable, NetlinkMessage, NetlinkPayload, NetlinkSerializable};
use netlink_packet_route::neighbour::{NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState};
use netlink_packet_route::route::{RouteAddress, RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteType};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket as Netlink, SocketAddr as NetlinkAddress};
use rocescope_host::packet::set_option;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};

/// The port "discard": usually closed, and a service on it ignores the datagram.
const DISCARD: u16 = 9;
const UDP: u8 = 17;

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
    netlink: Netlink,
    /// For each NIC, a socket that sends out of it.
    nudges: Vec<UdpSocket>,
    buffer: Vec<u8>,
}

impl NextHops {
    pub(super) fn open<'a>(links: impl Iterator<Item = &'a Link>) -> Result<Self, Error> {
        let netlink = || {
            let mut netlink = Netlink::new(NETLINK_ROUTE)?;
            netlink.bind_auto()?;
            netlink.connect(&NetlinkAddress::new(0, 0))?;
            Ok(netlink)
        };
        Ok(Self {
            netlink: netlink().map_err(Error::at("netlink"))?,
            nudges: links
                .map(nudge)
                .collect::<io::Result<_>>()
                .map_err(Error::at("a socket to ask neighbours"))?,
            buffer: Vec::new(),
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
        let mut message = RouteMessage::default();
        message.header.address_family = family(dst);
        message.header.destination_prefix_length = bits(dst);
        message.header.flags = RouteFlags::LookupTable;
        message.attributes = vec![
            RouteAttribute::Destination(route_address(dst)),
            RouteAttribute::Oif(link.index()),
            RouteAttribute::IpProto(UDP),
        ];
        if let Some(src) = src {
            message.header.source_prefix_length = bits(src);
            message.attributes.push(RouteAttribute::Source(route_address(src)));
        }
        let Some(RouteNetlinkMessage::NewRoute(route)) = self.ask(RouteNetlinkMessage::GetRoute(message))? else {
            return Ok(None);
        };
        let is_out = |attribute: &RouteAttribute| match attribute {
            RouteAttribute::Oif(index) => *index == link.index(),
            _ => false,
        };
        let is_found = route.header.kind == RouteType::Unicast && route.header.table != RouteHeader::RT_TABLE_UNSPEC;
        if !is_found || !route.attributes.iter().any(is_out) {
            return Ok(None);
        }
        let gateway = route.attributes.iter().find_map(|attribute| match attribute {
            RouteAttribute::Gateway(RouteAddress::Inet(v4)) => Some(IpAddr::V4(*v4)),
            RouteAttribute::Gateway(RouteAddress::Inet6(v6)) => Some(IpAddr::V6(*v6)),
            _ => None,
        });
        Ok(Some(gateway.unwrap_or(dst)))
    }

    /// Returns the MAC address of a neighbour, and whether the kernel has confirmed it.
    fn neighbour(&mut self, link: &Link, hop: IpAddr) -> Result<(Option<[u8; 6]>, bool), Error> {
        let mut message = NeighbourMessage::default();
        message.header.family = family(hop);
        message.header.ifindex = link.index();
        message.attributes = vec![NeighbourAttribute::Destination(match hop {
            IpAddr::V4(v4) => NeighbourAddress::Inet(v4),
            IpAddr::V6(v6) => NeighbourAddress::Inet6(v6),
        })];
        let Some(RouteNetlinkMessage::NewNeighbour(neighbour)) =
            self.ask(RouteNetlinkMessage::GetNeighbour(message))?
        else {
            return Ok((None, false));
        };
        let state = neighbour.header.state;
        if matches!(state, NeighbourState::Failed | NeighbourState::Incomplete) {
            return Ok((None, false));
        }
        let mac = neighbour.attributes.iter().find_map(|attribute| match attribute {
            NeighbourAttribute::LinkLayerAddress(mac) => <[u8; 6]>::try_from(&**mac).ok(),
            _ => None,
        });
        Ok((mac, state != NeighbourState::Stale))
    }

    /// Asks the kernel; `None` if it has no answer.
    fn ask(&mut self, message: RouteNetlinkMessage) -> Result<Option<RouteNetlinkMessage>, Error> {
        let mut packet = NetlinkMessage::from(message);
        packet.header.flags = NLM_F_REQUEST;
        packet.finalize();
        self.buffer.clear();
        self.buffer.resize(packet.buffer_len(), 0);
        packet.serialize(&mut self.buffer);
        self.exchange().map_err(Error::at("netlink"))
    }

    fn exchange<M>(&mut self) -> io::Result<Option<M>>
    where
        M: NetlinkDeserializable + NetlinkSerializable,
    {
        self.netlink.send(&self.buffer, 0)?;
        let (answer, _) = self.netlink.recv_from_full()?;
        match NetlinkMessage::<M>::deserialize(&answer).map(|answer| answer.payload) {
            Ok(NetlinkPayload::InnerMessage(answer)) => Ok(Some(answer)),
            // No route, no neighbour.
            Ok(_) => Ok(None),
            Err(error) => Err(io::Error::new(io::ErrorKind::InvalidData, error.to_string())),
        }
    }
}

/// Creates a socket that sends out of this link only. A socket cannot be bound to another interface later.
fn nudge(link: &Link) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((link.address(), 0))?;
    socket.set_nonblocking(true)?;
    let name = link.name().as_bytes();
    set_option(&socket, libc::SOL_SOCKET, libc::SO_BINDTODEVICE, name)?;
    Ok(socket)
}

const fn family(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}

const fn bits(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

const fn route_address(address: IpAddr) -> RouteAddress {
    match address {
        IpAddr::V4(v4) => RouteAddress::Inet(v4),
        IpAddr::V6(v6) => RouteAddress::Inet6(v6),
    }
}

/// Link-local addresses are meaningless without their link.
const fn scope(address: Ipv6Addr, link: &Link) -> u32 {
    if address.is_unicast_link_local() {
        link.index()
    } else {
        0
    }
}
