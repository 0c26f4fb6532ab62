//! What a network card reports, and the one setting that a capture changes.
//!
//! The kernel offers netlink and the older `SIOCETHTOOL`. Netlink libraries bring an async
//! runtime with them; every query here has an answer of fixed size with the older call.

use crate::interface::Interface;
use crate::request;
use std::io;

const GET_DRIVER: u32 = 0x03;
const GET_COALESCING: u32 = 0x0e;
const GET_RING: u32 = 0x10;
const GET_STRINGS: u32 = 0x1b;
const GET_STATISTICS: u32 = 0x1d;
const GET_FLAGS: u32 = 0x25;
const SET_FLAGS: u32 = 0x26;
const GET_FLOW_HASH: u32 = 0x29;
const GET_GRO: u32 = 0x2b;
const GET_CHANNELS: u32 = 0x3c;
const GET_TIMESTAMPING: u32 = 0x41;

const FLAG_RX_VLAN: u32 = 1 << 8;
const FLAG_LRO: u32 = 1 << 15;
const STRING_BYTES: usize = 32;
const STATISTICS: u32 = 1;
const DRIVER_BYTES: usize = 196;
const FLOW_UDP_V4: u32 = 0x02;
const FLOW_UDP_V6: u32 = 0x06;
const HASH_SOURCE_PORT: u32 = 1 << 6;

/// Descriptors of the receive ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// Descriptors in use.
    pub now: u32,
    /// The maximum that the driver supports.
    pub max: u32,
}

/// Interrupt moderation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coalescing {
    /// Microseconds that a frame waits for more frames.
    pub rx_usecs: u32,
    /// The number of frames that ends the wait.
    pub rx_frames: u32,
    /// Whether the card chooses both.
    pub adaptive: bool,
}

/// Version 4 or 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ip {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

impl Interface {
    /// The name of the driver.
    ///
    /// # Errors
    /// The driver does not report it; the same holds for all queries here.
    pub fn driver(&self) -> io::Result<String> {
        let mut answer = [0; DRIVER_BYTES / 4];
        self.ask(GET_DRIVER, &mut answer)?;
        let bytes: &[u8] = bytemuck::cast_slice(&answer);
        Ok(text(bytes.get(4..36).unwrap_or_default()))
    }

    /// The receive ring of each queue.
    ///
    /// # Errors
    /// As above.
    pub fn receive_ring(&self) -> io::Result<Ring> {
        let mut answer = [0; 9];
        self.ask(GET_RING, &mut answer)?;
        Ok(Ring {
            now: answer[5],
            max: answer[1],
        })
    }

    /// Queues that receive.
    ///
    /// # Errors
    /// As above.
    pub fn receive_queues(&self) -> io::Result<u32> {
        let mut answer = [0; 9];
        self.ask(GET_CHANNELS, &mut answer)?;
        // Those that only receive, and those that do both.
        Ok(answer[5] + answer[8])
    }

    /// Its interrupt moderation.
    ///
    /// # Errors
    /// As above.
    pub fn coalescing(&self) -> io::Result<Coalescing> {
        let mut answer = [0; 23];
        self.ask(GET_COALESCING, &mut answer)?;
        Ok(Coalescing {
            rx_usecs: answer[1],
            rx_frames: answer[2],
            adaptive: answer[10] != 0,
        })
    }

    /// Whether the UDP source port is part of the receive hash.
    ///
    /// # Errors
    /// As above.
    pub fn hashes_source_port(&self, ip: Ip) -> io::Result<bool> {
        let mut answer = [0; 64];
        answer[1] = match ip {
            Ip::V4 => FLOW_UDP_V4,
            Ip::V6 => FLOW_UDP_V6,
        };
        self.ask(GET_FLOW_HASH, &mut answer)?;
        // 64 bits in the byte order of the machine: the low half has them all.
        let data = u64::from(answer[2]) | u64::from(answer[3]) << 32;
        let data = if cfg!(target_endian = "little") {
            data
        } else {
            data.rotate_left(32)
        };
        Ok(data & u64::from(HASH_SOURCE_PORT) != 0)
    }

    /// Whether GRO is on: the kernel may merge frames after the driver.
    ///
    /// # Errors
    /// As above.
    pub fn merges_frames(&self) -> io::Result<bool> {
        Ok(self.value(GET_GRO)? != 0)
    }

    /// Whether LRO is on: the card may merge frames.
    ///
    /// # Errors
    /// As above.
    pub fn merges_in_hardware(&self) -> io::Result<bool> {
        Ok(self.value(GET_FLAGS)? & FLAG_LRO != 0)
    }

    /// Whether the card removes VLAN tags before XDP sees the frame.
    ///
    /// # Errors
    /// As above.
    pub fn strips_vlan(&self) -> io::Result<bool> {
        Ok(self.value(GET_FLAGS)? & FLAG_RX_VLAN != 0)
    }

    /// Turns the removal of VLAN tags on or off. Needs `CAP_NET_ADMIN`.
    ///
    /// # Errors
    /// The driver does not support the change, or the process may not make it.
    pub fn set_strips_vlan(&self, strips: bool) -> io::Result<()> {
        let flags = self.value(GET_FLAGS)?;
        let flags = if strips {
            flags | FLAG_RX_VLAN
        } else {
            flags & !FLAG_RX_VLAN
        };
        self.ask(SET_FLAGS, &mut [0, flags])?;
        // Some drivers report success and do nothing.
        if self.strips_vlan()? == strips {
            Ok(())
        } else {
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    /// Whether the card can timestamp received frames.
    ///
    /// # Errors
    /// As above.
    pub fn timestamps_in_hardware(&self) -> io::Result<bool> {
        let mut answer = [0; 11];
        self.ask(GET_TIMESTAMPING, &mut answer)?;
        Ok(answer[1] & libc::SOF_TIMESTAMPING_RX_HARDWARE != 0)
    }

    /// Whether the driver timestamps a frame when it hands it to the card.
    ///
    /// # Errors
    /// As above.
    pub fn stamps_sent_frames(&self) -> io::Result<bool> {
        let mut answer = [0; 11];
        self.ask(GET_TIMESTAMPING, &mut answer)?;
        Ok(answer[1] & libc::SOF_TIMESTAMPING_TX_SOFTWARE != 0)
    }

    /// Whether the card currently timestamps every frame, sent and received.
    ///
    /// # Errors
    /// As above.
    pub fn stamps_in_hardware(&self) -> io::Result<bool> {
        let name = self.current_name().ok_or(io::ErrorKind::NotFound)?;
        let mut config = libc::hwtstamp_config {
            flags: 0,
            tx_type: 0,
            rx_filter: 0,
        };
        // SAFETY: the call fills this structure.
        unsafe { request::exchange(&name, libc::SIOCGHWTSTAMP, &mut config) }?;
        Ok(config.tx_type == libc::HWTSTAMP_TX_ON as libc::c_int
            && config.rx_filter == libc::HWTSTAMP_FILTER_ALL as libc::c_int)
    }

    /// The driver's own counters, by name.
    ///
    /// # Errors
    /// As above.
    pub fn statistics(&self) -> io::Result<Vec<(String, u64)>> {
        let mut statistics = Statistics::open(self.clone(), |_| true)?;
        let values = statistics.read()?;
        Ok(statistics.names.into_iter().zip(values).collect())
    }

    /// How many counters the driver has.
    fn statistics_count(&self) -> io::Result<u32> {
        let mut driver = [0; DRIVER_BYTES / 4];
        self.ask(GET_DRIVER, &mut driver)?;
        // Behind three texts of 32 bytes, two more, 12 bytes, and the number of private flags.
        Ok(driver[(4 + 5 * 32 + 12 + 4) / 4])
    }

    fn value(&self, command: u32) -> io::Result<u32> {
        let mut answer = [0; 2];
        self.ask(command, &mut answer)?;
        Ok(answer[1])
    }

    /// Sends a query: a structure of words that begins with the command.
    fn ask(&self, command: u32, words: &mut [u32]) -> io::Result<()> {
        let name = self.current_name().ok_or(io::ErrorKind::NotFound)?;
        if let Some(first) = words.first_mut() {
            *first = command;
        }
        // SAFETY: there are at least as many words as the structure of this command has; where its
        // length depends on a count, that count is in them.
        unsafe { request::exchange(&name, libc::SIOCETHTOOL, words) }
    }
}

/// The driver's own counters, or some of them, for repeated reads: their names are asked for once.
#[derive(Debug)]
pub struct Statistics {
    interface: Interface,
    wanted: Vec<usize>,
    names: Vec<String>,
    /// How many the driver has.
    count: u32,
    /// The answer: a structure of words.
    values: Vec<u32>,
}

impl Statistics {
    /// Finds the counters that `is_wanted` selects by name.
    ///
    /// # Errors
    /// The interface is gone, or its driver has no counters.
    pub fn open(interface: Interface, is_wanted: impl Fn(&str) -> bool) -> io::Result<Self> {
        let count = interface.statistics_count()?;
        let mut words = vec![0; 3 + count as usize * STRING_BYTES / 4];
        (words[1], words[2]) = (STATISTICS, count);
        interface.ask(GET_STRINGS, &mut words)?;
        let bytes: &[u8] = bytemuck::cast_slice(words.get(3..).unwrap_or_default());
        let all = bytes.chunks_exact(STRING_BYTES).map(text).enumerate();
        let (wanted, names) = all.filter(|(_, name)| is_wanted(name)).unzip();
        Ok(Self {
            interface,
            wanted,
            names,
            count,
            values: Vec::new(),
        })
    }

    /// Their names, in the order of the values.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Their values.
    ///
    /// # Errors
    /// The interface is gone, or its driver has other counters now: open it again.
    pub fn read(&mut self) -> io::Result<Vec<u64>> {
        if self.wanted.is_empty() {
            return Ok(Vec::new());
        }
        // The kernel writes as many as the driver has, whatever the request states.
        if self.interface.statistics_count()? != self.count {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.values.resize(2 + 2 * self.count as usize, 0);
        self.values[1] = self.count;
        self.interface.ask(GET_STATISTICS, &mut self.values)?;
        let values: &[u8] = bytemuck::cast_slice(self.values.get(2..).unwrap_or_default());
        let value = |at: &usize| values.get(at * 8..).and_then(<[u8]>::first_chunk);
        Ok(self
            .wanted
            .iter()
            .map(|at| value(at).map_or(0, |value| u64::from_ne_bytes(*value)))
            .collect())
    }
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0);
    String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())]).into_owned()
}
