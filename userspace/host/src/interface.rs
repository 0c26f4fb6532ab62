//! Network interfaces: their state, and what a capture may change.
//!
//! All answers are about the network namespace of this process; where `/sys` shows another one, the
//! answer is "unknown".

use crate::listing::{self, Listed};
use crate::{packet, request};
use std::ffi::CStr;
use std::fs;
use std::io;

/// An interface, by index: it may be renamed during a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its index.
    pub index: u32,
    /// Its name when the capture began.
    pub name: String,
}

/// Frames that an interface has dropped on receive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// By the NIC, because the host was too slow: `rx_missed_errors` and `rx_fifo_errors`.
    pub missed: u64,
    /// `rx_dropped`: by the driver, or by the kernel because no protocol takes the frame.
    pub other: u64,
}

impl Dropped {
    /// The frames since `before`.
    #[must_use]
    pub const fn since(self, before: Self) -> Self {
        Self {
            missed: self.missed.saturating_sub(before.missed),
            other: self.other.saturating_sub(before.other),
        }
    }

    /// The frames beyond those that arrived, and that no protocol took.
    #[must_use]
    pub const fn beyond(self, unhandled: u64) -> u64 {
        self.missed + self.other.saturating_sub(unhandled)
    }
}

impl std::iter::Sum for Dropped {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            missed: sum.missed + one.missed,
            other: sum.other + one.other,
        })
    }
}

/// The state of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Enabled, with a carrier.
    Up,
    /// Disabled or without a carrier.
    Down,
    /// It no longer exists.
    Gone,
}

impl From<Listed> for Interface {
    fn from(listed: Listed) -> Self {
        Self {
            index: listed.index,
            name: listed.name,
        }
    }
}

impl Interface {
    /// Finds an interface.
    ///
    /// # Errors
    /// There is no interface of that name, or the kernel refuses.
    pub fn find(name: &str) -> io::Result<Self> {
        let mut all = listing::list()?.into_iter();
        let found = all.find(|listed| listed.name == name);
        found
            .map(Self::from)
            .ok_or_else(|| io::Error::from_raw_os_error(libc::ENODEV))
    }

    /// Every interface but the loopback, in the order of their indexes.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn all() -> io::Result<Vec<Self>> {
        let all = listing::list()?.into_iter();
        let mut all: Vec<Self> = all.filter(|listed| !listed.is_loopback()).map(Self::from).collect();
        all.sort_by_key(|interface| interface.index);
        Ok(all)
    }

    /// Its current flags and addresses; `None` when it is gone.
    #[must_use]
    pub fn listed(&self) -> Option<Listed> {
        let mut all = listing::list().ok()?.into_iter();
        all.find(|listed| listed.index == self.index)
    }

    /// Its current name; `None` when it is gone.
    #[must_use]
    pub fn current_name(&self) -> Option<String> {
        let mut name = [0; libc::IF_NAMESIZE];
        // SAFETY: the call writes at most as many bytes as the array has.
        let found = unsafe { libc::if_indextoname(self.index, name.as_mut_ptr()) };
        if found.is_null() {
            return None;
        }
        // SAFETY: the name that the call wrote ends with 0.
        let name = unsafe { CStr::from_ptr(found) };
        Some(name.to_string_lossy().into_owned())
    }

    /// The MTU in bytes.
    ///
    /// # Errors
    /// It is gone.
    pub fn mtu(&self) -> io::Result<u32> {
        request::mtu(&self.current_name().ok_or(io::ErrorKind::NotFound)?)
    }

    /// The link speed in megabits per second; `None` if the driver does not report it, or there is no carrier.
    #[must_use]
    pub fn speed_mbps(&self) -> Option<u64> {
        let directory = self.directory()?;
        let speed = fs::read_to_string(format!("{directory}/speed")).ok()?;
        // Some drivers report -1, or all bits, for an unknown speed.
        speed
            .trim()
            .parse()
            .ok()
            .filter(|speed| (1..u64::from(u32::MAX)).contains(speed))
    }

    /// Its directory in `/sys`; `None` if `/sys` shows another network namespace.
    fn directory(&self) -> Option<String> {
        let directory = format!("/sys/class/net/{}", self.name);
        let seen = fs::read_to_string(format!("{directory}/ifindex")).ok()?;
        (seen.trim().parse() == Ok(self.index)).then_some(directory)
    }

    /// Whether its frames begin with an Ethernet header.
    ///
    /// # Errors
    /// It is gone.
    pub fn is_ethernet(&self) -> io::Result<bool> {
        let listed = self.listed().ok_or(io::ErrorKind::NotFound)?;
        Ok(listed.is_ethernet())
    }

    /// Its current state.
    #[must_use]
    pub fn state(&self) -> State {
        match self.listed() {
            Some(listed) if listed.is_running() => State::Up,
            Some(_) => State::Down,
            None => State::Gone,
        }
    }

    /// Frames that the interface has dropped since it exists, as Linux counts them.
    #[must_use]
    pub fn dropped(&self) -> Option<Dropped> {
        let name = self.current_name()?;
        let table = fs::read_to_string("/proc/self/net/dev").ok()?;
        let counts = table
            .lines()
            .find_map(|line| line.trim_start().strip_prefix(&name)?.strip_prefix(':'))?;
        // bytes packets errs drop fifo ...: the fourth is the sum of `rx_dropped` and `rx_missed_errors`.
        let counts: Vec<u64> = counts
            .split_whitespace()
            .filter_map(|count| count.parse().ok())
            .collect();
        let (dropped, overrun) = (*counts.get(3)?, *counts.get(4)?);
        let missed = || {
            let path = format!("{}/statistics/rx_missed_errors", self.directory()?);
            fs::read_to_string(path).ok()?.trim().parse().ok()
        };
        let missed: u64 = missed().unwrap_or(0);
        Some(Dropped {
            missed: missed + overrun,
            other: dropped.saturating_sub(missed),
        })
    }

    /// Why the kernel needs the frames of this interface; `None` where dropping them harms nothing.
    #[must_use]
    pub fn in_use(&self) -> Option<String> {
        let Some(directory) = self.directory() else {
            return Some("/sys does not show it, so its use is unknown".into());
        };
        if let Ok(master) = fs::read_link(format!("{directory}/master")) {
            let master = master.file_name().unwrap_or_default().to_string_lossy();
            return Some(format!("it belongs to {master}"));
        }
        let Some(listed) = self.listed() else {
            return Some("its addresses could not be listed".into());
        };
        if let Some(address) = listed.addresses.first() {
            return Some(format!("it has the address {address}"));
        }
        default_route(&self.name).then(|| "it carries a default route".into())
    }

    /// Makes the interface accept frames for any destination until the result is dropped or the
    /// process ends.
    ///
    /// # Errors
    /// `CAP_NET_RAW` is missing, or the interface is gone.
    pub fn promiscuous(&self) -> io::Result<Promiscuous> {
        // Not bound, so it queues no frames.
        let socket = packet::Socket::open()?;
        let membership = libc::packet_mreq {
            mr_ifindex: self.index.cast_signed(),
            mr_type: libc::PACKET_MR_PROMISC as libc::c_ushort,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        socket.set(libc::PACKET_ADD_MEMBERSHIP, &membership)?;
        Ok(Promiscuous { _socket: socket })
    }
}

/// Keeps an interface in promiscuous mode.
#[derive(Debug)]
pub struct Promiscuous {
    _socket: packet::Socket,
}

/// Whether a default route leads through the interface.
fn default_route(name: &str) -> bool {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    // Iface Destination Gateway Flags RefCnt Use Metric Mask ...
    let v4 = read("/proc/self/net/route").lines().any(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let column = |at: usize| columns.get(at).copied();
        column(0) == Some(name) && column(1) == Some("00000000") && column(7) == Some("00000000")
    });
    // Destination, its prefix length, ..., the interface last.
    v4 || read("/proc/self/net/ipv6_route").lines().any(|line| {
        line.starts_with("00000000000000000000000000000000 00 ") && line.split_whitespace().last() == Some(name)
    })
}
