//! Who stamps the frames of a NIC: the card, its driver, or only the agent.
//!
//! The card does where somebody has switched that on for every frame (`hwstamp_ctl -i NIC -t 1 -r 1`; what
//! synchronises clocks by PTP does so only for its own frames). The agent looks and switches nothing: it would change the NIC for
//! all programs, and takes a capability that probing does not.

use super::super::Error;
use super::link::Link;
use super::socket::Stamps;
use crate::types::{Clock, Nanos};
use std::mem::zeroed;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;

/// The stamps of a virtual interface are taken where the frame passes from one end to the other.
const VIRTUAL_ERROR: Nanos = Nanos(1_000);
/// A card waits up to so long with an interrupt, to raise one for several frames.
const INTERRUPT_ERROR: Nanos = Nanos(64_000);
/// Cards count in steps of up to 16 ns each way, and lie by the length of their own pipelines, some tens.
const CARD_ERROR: Nanos = Nanos(100);
/// Between the agent's look at the clock and the driver other programs may have their turn: a tick of the scheduler.
const AGENT_ERROR: Nanos = Nanos(4_000_000);

/// Who stamps, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stamping {
    /// The card, both ways, with a clock of its own.
    Card,
    /// The driver what leaves, the network stack what comes, with the system clock.
    Kernel,
    /// The network stack what comes; the driver does not stamp what leaves, so the agent does.
    Agent,
}

impl Stamping {
    /// The best that all have: stamps of a card mean nothing beside those of another clock.
    pub(super) fn of_all(links: &[Link]) -> Result<Self, Error> {
        // Questions of interfaces are asked through any socket.
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(Error::at("a socket"))?;
        let each = links.iter().map(|link| Self::of(link, &socket));
        Ok(each.max().unwrap_or(Self::Kernel))
    }

    fn of(link: &Link, socket: &UdpSocket) -> Self {
        if stamps_in_hardware(link, socket) {
            Self::Card
        } else if driver_stamps(link, socket) {
            Self::Kernel
        } else {
            Self::Agent
        }
    }

    /// What to ask of the kernel (`SO_TIMESTAMPING`). What answers routers give is timed by the system clock in any case.
    pub(super) const fn flags(self) -> libc::c_uint {
        let arrivals = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
        arrivals
            | match self {
                Self::Card => {
                    libc::SOF_TIMESTAMPING_TX_HARDWARE
                        | libc::SOF_TIMESTAMPING_RX_HARDWARE
                        | libc::SOF_TIMESTAMPING_RAW_HARDWARE
                }
                Self::Kernel => libc::SOF_TIMESTAMPING_TX_SOFTWARE,
                Self::Agent => 0,
            }
    }

    /// The stamp that is (2) or (3).
    pub(super) const fn choose(self, stamps: Stamps) -> Option<Nanos> {
        match self {
            Self::Card => stamps.hardware,
            Self::Kernel | Self::Agent => stamps.software,
        }
    }

    /// As rows state it.
    pub(super) fn clock(self, links: &[Link]) -> Clock {
        let (source, error) = match self {
            Self::Card => ("nic hardware", CARD_ERROR),
            Self::Kernel if links.iter().all(Link::is_virtual) => {
                ("kernel software", VIRTUAL_ERROR)
            }
            Self::Kernel => ("kernel software", INTERRUPT_ERROR),
            Self::Agent => ("cpu", AGENT_ERROR),
        };
        Clock {
            source,
            error,
            own: self == Self::Card,
        }
    }
}

/// The card stamps every frame, both ways.
fn stamps_in_hardware(link: &Link, socket: &UdpSocket) -> bool {
    // SAFETY: a structure of numbers, for which all zero is a value.
    let mut config: libc::hwtstamp_config = unsafe { zeroed() };
    ask(link, socket, libc::SIOCGHWTSTAMP, &mut config)
        && config.tx_type == libc::HWTSTAMP_TX_ON as libc::c_int
        && config.rx_filter == libc::HWTSTAMP_FILTER_ALL as libc::c_int
}

/// What `ETHTOOL_GET_TS_INFO` answers (`linux/ethtool.h`).
#[repr(C)]
struct TimestampingInfo {
    command: u32,
    so_timestamping: u32,
    phc_index: i32,
    tx_types: u32,
    tx_reserved: [u32; 3],
    rx_filters: u32,
    rx_reserved: [u32; 3],
}

fn driver_stamps(link: &Link, socket: &UdpSocket) -> bool {
    const ETHTOOL_GET_TS_INFO: u32 = 0x41;
    let mut info = TimestampingInfo {
        command: ETHTOOL_GET_TS_INFO,
        so_timestamping: 0,
        phc_index: 0,
        tx_types: 0,
        tx_reserved: [0; 3],
        rx_filters: 0,
        rx_reserved: [0; 3],
    };
    ask(link, socket, libc::SIOCETHTOOL, &mut info)
        && info.so_timestamping & libc::SOF_TIMESTAMPING_TX_SOFTWARE != 0
}

/// Asks the kernel something of an interface; whether it answered.
fn ask<T>(link: &Link, socket: &UdpSocket, what: libc::c_ulong, answer: &mut T) -> bool {
    // SAFETY: a structure of numbers and pointers, for which all zero is a value.
    let mut request: libc::ifreq = unsafe { zeroed() };
    let (name, _) = request.ifr_name.split_at_mut(libc::IFNAMSIZ - 1);
    for (to, from) in name.iter_mut().zip(link.name().bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = std::ptr::from_mut(answer).cast();
    // SAFETY: name and answer live until the call is over, and the answer has the size that this question has.
    unsafe { libc::ioctl(socket.as_raw_fd(), what as _, &raw mut request) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_s_stamps_are_never_mixed_with_the_system_s() {
        let (software, hardware) = (Some(Nanos(1)), Some(Nanos(2)));
        let stamps = |software, hardware| Stamps { software, hardware };
        let both = stamps(software, hardware);
        assert_eq!(Stamping::Card.choose(both), hardware);
        assert_eq!(Stamping::Card.choose(stamps(software, None)), None);
        assert_eq!(Stamping::Kernel.choose(both), software);
        assert_eq!(Stamping::Agent.choose(stamps(None, hardware)), None);
        assert!(Stamping::Card.clock(&[]).own && !Stamping::Kernel.clock(&[]).own);
    }
}
