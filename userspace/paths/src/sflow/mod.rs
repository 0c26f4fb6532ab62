//! sFlow version 5: RoCEv2 flows from the samples of switches, what they count, and what they drop.
//!
//! | module | what it does |
//! |---|---|
//! | `datagram` | walks datagrams, samples and records; what cannot be read is counted by reason |
//! | `words`, `sample`, `counts` | the words of a datagram, the head of a sample, what was read |
//! | `counters` | samples of the counters of ports |
//! | `extended` | records about the way of a packet through a switch |
//! | `reasons` | why a switch dropped a packet |
//! | `ports` | a [`Source`](crate::switch::Source): readings of ports and queues, and drops |
//! | `flows` | sampled packets by flow |
//! | `estimate` | the packets that the samples of several switches stand for, and how far they may be off |
//!
//! A sample holds the first bytes of a frame, usually 128: enough for the headers of RoCEv2, which `rocescope-wire`
//! decodes.

mod counters;
mod counts;
mod datagram;
mod estimate;
mod extended;
mod flows;
mod ports;
mod reasons;
mod sample;
mod words;

pub use counters::{PfcRequests, PortCounters};
pub use counts::Counts;
pub use datagram::{QueueSample, Reader, Sampled};
pub use flows::{SampledFlow, SampledFlows};
pub use ports::Switches;
pub use sample::Point;

use crate::switch::Dropped;
use std::net::IpAddr;

/// What a datagram has.
#[derive(Debug)]
pub enum Item {
    /// A sampled RoCEv2 packet.
    Packet(Sampled),
    /// The counters of a port.
    Port {
        /// Address of the switch.
        switch: IpAddr,
        /// Index of the port.
        index: u32,
        /// How often the switch was seen to start again.
        restarts: u32,
        /// What it counts.
        port: Box<PortCounters>,
    },
    /// What a sampled packet found in its queue.
    Queue(QueueSample),
    /// A dropped packet, and the sampling rate if it was sampled.
    Dropped(Dropped, Option<u32>),
}
