//! Frames that are not RoCEv2, as every mirror port delivers them.

use super::pool::Pool;
use super::units::Nanos;
use serde::Deserialize;

/// Frames that are not RoCEv2.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Background {
    /// What they are.
    pub kind: Kind,
    /// How many a second.
    pub frames_per_second: f64,
    /// Where they come from.
    #[serde(default = "src")]
    pub src: Pool,
    /// Where they go.
    #[serde(default = "dst")]
    pub dst: Pool,
    /// Bytes behind the last header.
    #[serde(default = "payload")]
    pub payload: u16,
    /// When the first comes.
    #[serde(default)]
    pub start: Nanos,
    /// When they end; with the scenario's duration where it is not given.
    pub stop: Option<Nanos>,
}

/// Kinds of frames that are not RoCEv2.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
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
