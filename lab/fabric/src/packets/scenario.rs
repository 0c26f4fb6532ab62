//! What happens in a run.

use super::network::{Network, Node, Port};
use super::schedule::Algorithm;
use alloc::vec::Vec;

/// Bytes of a frame beside its payload: Ethernet with preamble, gap and FCS, IPv4, UDP, BTH, ICRC.
const OVERHEAD: u64 = 82;
/// Bytes of an acknowledgement on the link.
const ACK: u64 = 86;

/// Links, senders and switches.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Rate of each link, in Gbit/s.
    pub gigabits: u64,
    /// Delay of each link.
    pub delay_ns: i64,
    /// Payload of a packet.
    pub mtu: u64,
    /// Bytes that a flow may have in flight.
    pub window: u64,
    /// Bytes of an ingress port in the buffer above which its peer is paused.
    pub pause_above: u64,
    /// Bytes at which it may send again.
    pub resume_below: u64,
    /// Bytes beyond `pause_above` that the buffer holds; more is dropped.
    pub headroom: u64,
    /// Epoch of the counters.
    pub epoch_ns: i64,
    /// How often hosts look for packets that are overdue.
    pub tick_ns: i64,
}

impl Default for Settings {
    /// The links of the paper's evaluation (§IV-A: 100 Gbit/s, 2 µs), one bandwidth-delay product of its longest path in
    /// flight, and epochs of 1 ms as the authors' program has.
    fn default() -> Self {
        Self {
            gigabits: 100,
            delay_ns: 2_000,
            mtu: 4_096,
            window: 340_000,
            pause_above: 100_000,
            resume_below: 80_000,
            headroom: 100_000,
            epoch_ns: 1_000_000,
            tick_ns: 50_000,
        }
    }
}

impl Settings {
    fn bits_ns(&self, bytes: u64) -> i64 {
        (bytes * 8 / self.gigabits) as i64
    }

    /// How long a link is busy with a packet of this payload.
    #[must_use]
    pub fn packet_ns(&self, payload: u64) -> i64 {
        self.bits_ns(payload + OVERHEAD)
    }

    /// How long an acknowledgement takes over these links.
    #[must_use]
    pub fn ack_ns(&self, links: usize) -> i64 {
        links as i64 * (self.delay_ns + self.bits_ns(ACK))
    }

    /// Round-trip time of a full packet over these links when their queues are empty.
    #[must_use]
    pub fn base_rtt_ns(&self, links: usize) -> i64 {
        links as i64 * (self.delay_ns + self.packet_ns(self.mtu)) + self.ack_ns(links)
    }

    /// How long a transfer takes over these links alone.
    #[must_use]
    pub fn alone_ns(&self, bytes: u64, links: usize) -> i64 {
        let (full, rest) = (bytes / self.mtu, bytes % self.mtu);
        let rest_ns = if rest > 0 { self.packet_ns(rest) } else { 0 };
        let sending_ns = full as i64 * self.packet_ns(self.mtu) + rest_ns;
        // The last packet is sent when all before it are, and then needs a round trip.
        (sending_ns - self.packet_ns(self.mtu)).max(0) + self.base_rtt_ns(links)
    }
}

/// The collective.
#[derive(Debug, Clone)]
pub struct Collective {
    /// Its algorithm.
    pub algorithm: Algorithm,
    /// The hosts of its ranks.
    pub ranks: Vec<Node>,
    /// UDP source port of each rank's flows.
    pub src_ports: Vec<u16>,
    /// Bytes: see [`Algorithm::plan`].
    pub bytes: u64,
}

/// A flow outside the collective.
#[derive(Debug, Clone)]
pub struct Background {
    /// Its sender.
    pub src: Node,
    /// Its receiver.
    pub dst: Node,
    /// Its UDP source port.
    pub src_port: u16,
    /// Bytes.
    pub bytes: u64,
    /// Its start.
    pub start_ns: i64,
    /// The ports out of which it leaves each node; empty: as ECMP selects.
    pub path: Vec<Port>,
}

/// PFC frames that are injected without a reason.
#[derive(Debug, Clone, Copy)]
pub struct Storm {
    /// The port that is paused: the frames come from the other end of its link.
    pub paused: Port,
    /// Their start.
    pub start_ns: i64,
    /// How long they last.
    pub duration_ns: i64,
}

/// What happens in a run.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The network.
    pub network: Network,
    /// Links, senders and switches.
    pub settings: Settings,
    /// The collective.
    pub collective: Collective,
    /// Other flows.
    pub background: Vec<Background>,
    /// Injected pauses.
    pub storms: Vec<Storm>,
    /// Ports of switches at which packets are captured, when they enter and when they leave.
    pub taps: Vec<Port>,
    /// Seed of ECMP.
    pub seed: u64,
    /// The run ends here if the collective has not ended before.
    pub until_ns: i64,
}
