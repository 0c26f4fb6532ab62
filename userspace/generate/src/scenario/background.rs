//! Frames that are not RoCEv2, which every mirror port delivers too.

use super::pool::Pool;
use super::units::Nanos;
use serde::Deserialize;

/// Frames that are not RoCEv2.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Background {
    /// Their kind.
    pub kind: BackgroundKind,
    /// Frames in a second.
    pub frames_per_second: f64,
    /// Source addresses.
    #[serde(default = "src")]
    pub src: Pool,
    /// Destination addresses.
    #[serde(default = "dst")]
    pub dst: Pool,
    /// Bytes after the last header.
    #[serde(default = "payload")]
    pub payload: u16,
    /// The time of the first frame.
    #[serde(default)]
    pub start: Nanos,
    /// When they end; by default with the scenario's duration.
    pub stop: Option<Nanos>,
}

/// Kinds of frames that are not RoCEv2.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackgroundKind {
    /// ARP requests: no IP.
    Arp,
    /// TCP segments to port 18515, the side channel of perftest.
    Tcp,
    /// UDP datagrams to port 53.
    Udp,
    /// Echo requests, of ICMP or `ICMPv6`.
    Icmp,
}

fn src() -> Pool {
    Pool::default_address(1)
}

fn dst() -> Pool {
    Pool::default_address(2)
}

const fn payload() -> u16 {
    64
}
