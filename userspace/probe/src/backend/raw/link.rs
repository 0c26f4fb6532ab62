//! The NICs of this host, and frames out of them: all that `pnet` is for.
//!
//! `pnet` reads frames without their times, so receiving is [`Socket`]'s; both use one descriptor.

use super::super::Error;
use super::socket::Socket;
use crate::types::{Nic, Refusal};
use pnet::datalink::{self, Channel, Config, DataLinkSender, NetworkInterface};
use pnet::ipnetwork::IpNetwork;
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::os::fd::{AsFd, IntoRawFd};
use std::path::Path;
use std::time::Duration;

/// A NIC with an address.
#[derive(Clone, Debug)]
pub struct Link {
    interface: NetworkInterface,
    mac: [u8; 6],
    address: IpAddr,
}

/// The interfaces of this host, whatever they are.
pub(super) fn interfaces() -> Vec<NetworkInterface> {
    datalink::interfaces()
}

/// Every Ethernet interface that is up and has an address.
#[must_use]
pub fn all() -> Vec<Link> {
    let interfaces = interfaces().into_iter();
    interfaces
        .filter(|interface| interface.is_up() && !interface.is_loopback())
        .filter_map(|interface| Link::new(interface, None).ok())
        .collect()
}

/// The interface with this name.
///
/// # Errors
/// There is none, or it cannot be probed.
pub fn find(name: &str) -> Result<Link, Error> {
    let found = interfaces().into_iter().find(|one| one.name == name);
    let why = match found.map(|interface| Link::new(interface, None)) {
        Some(Ok(link)) => return Ok(link),
        Some(Err(why)) => why,
        None => "no such interface (`ip link` lists them)",
    };
    Err(Error::Nic {
        nic: name.into(),
        why: why.into(),
    })
}

impl Link {
    /// `before` is the address that it had: it keeps it for as long as it can.
    fn new(interface: NetworkInterface, before: Option<IpAddr>) -> Result<Self, &'static str> {
        let mac = interface.mac.filter(|_| !interface.is_loopback());
        let mac = mac.ok_or("no Ethernet interface")?;
        let is_routed = |address: &IpAddr| match address {
            IpAddr::V4(v4) => !v4.is_link_local(),
            IpAddr::V6(v6) => !v6.is_unicast_link_local(),
        };
        let mut addresses: Vec<IpAddr> = interface.ips.iter().map(IpNetwork::ip).collect();
        addresses.retain(is_routed);
        // IPv4 where there is any, else IPv6.
        addresses.sort_by_key(|address| (Some(*address) != before, is_v6(*address)));
        let address = *addresses
            .first()
            .ok_or("it has no address (`ip address add`)")?;
        Ok(Self {
            mac: mac.octets(),
            address,
            interface,
        })
    }

    /// The interface of this name among these, if it can be probed at an address of the same family.
    pub(super) fn among(&self, interfaces: &[NetworkInterface]) -> Option<Self> {
        let mut named = interfaces.iter().filter(|one| one.name == self.name());
        let now = Self::new(named.next()?.clone(), Some(self.address)).ok()?;
        (is_v6(now.address) == is_v6(self.address)).then_some(now)
    }

    /// Another interface, or one that is to be told from this by what stands in frames.
    pub(super) fn differs(&self, other: &Self) -> bool {
        let key = |link: &Self| (link.index(), link.mac, link.address);
        key(self) != key(other)
    }

    /// What the agent knows of it.
    #[must_use]
    pub fn nic(&self) -> Nic {
        Nic {
            name: self.interface.name.clone(),
            address: self.address,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.interface.name
    }

    /// The address that it is probed at.
    #[must_use]
    pub const fn address(&self) -> IpAddr {
        self.address
    }

    /// Its MAC address.
    #[must_use]
    pub const fn mac(&self) -> [u8; 6] {
        self.mac
    }

    /// The number of the interface.
    #[must_use]
    pub const fn index(&self) -> u32 {
        self.interface.index
    }

    /// No card is behind it.
    #[must_use]
    pub fn is_virtual(&self) -> bool {
        !self.sys("device").exists()
    }

    /// An RDMA device is behind it, which takes RoCEv2 for itself: UDP 4791 never reaches the kernel.
    #[must_use]
    pub fn is_rdma(&self) -> bool {
        self.sys("device/infiniband").exists()
    }

    fn sys(&self, what: &str) -> std::path::PathBuf {
        Path::new("/sys/class/net")
            .join(&self.interface.name)
            .join(what)
    }

    /// What sends frames out of it, by the socket, which is bound to it.
    pub(super) fn sender(&self, socket: &Socket) -> Result<Sender, Error> {
        let shared = socket.fd().as_fd().try_clone_to_owned();
        let config = Config {
            // It is not asked to read, nor to build.
            read_buffer_size: 0,
            write_buffer_size: 0,
            write_timeout: Some(Duration::ZERO),
            promiscuous: false,
            // `pnet` closes it.
            socket_fd: Some(shared.map_err(Error::at("a packet socket"))?.into_raw_fd()),
            ..Config::default()
        };
        match datalink::channel(&self.interface, config).map_err(Error::at("a packet socket"))? {
            Channel::Ethernet(sender, _) => Ok(Sender(sender)),
            _ => Err(Error::at("a packet socket")(ErrorKind::Unsupported.into())),
        }
    }
}

/// Sends frames.
pub(super) struct Sender(Box<dyn DataLinkSender>);

impl Sender {
    pub(super) fn send(&mut self, frame: &[u8]) -> Result<(), Refusal> {
        match self.0.send_to(frame, None) {
            Some(Ok(())) => Ok(()),
            Some(Err(error)) => Err(refusal(&error)),
            None => Err(Refusal::Other),
        }
    }
}

fn refusal(error: &io::Error) -> Refusal {
    match (error.raw_os_error(), error.kind()) {
        (Some(libc::ENOBUFS | libc::EAGAIN), _) | (None, ErrorKind::TimedOut) => Refusal::Full,
        (Some(libc::ENETDOWN | libc::ENXIO | libc::ENODEV), _) => Refusal::Down,
        _ => Refusal::Other,
    }
}

/// The family of an address, as the kernel numbers it.
fn is_v6(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(_))
}
