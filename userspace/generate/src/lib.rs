//! Deterministic RoCEv2 traffic with its truth: a scenario and a seed in, frames out.
//!
//! The core does no I/O: [`Generator`] yields one frame after the other and counts the truth at the same
//! time. [`write()`] writes them into a pcap file. `docs/scenarios.md` documents the scenarios.
//!
//! All times are those of the tap, the one place whose clock the capture knows: a request passes, its
//! answer passes `delay` later, and the requester's reaction passes `near_delay` after that. So each
//! connection is two small state machines and a list of the few late packets, and one heap of
//! connections is the whole schedule.
//!
//! | module | what it holds |
//! |---|---|
//! | [`scenario`] | the scenario file |
//! | `classes` | scenarios that are built in |
//! | `endpoints` | its connections: addresses, numbers, headers |
//! | `rules` | a group of flows, precomputed |
//! | `message`, `requester`, `responder` | the transport: messages, sender, receiver |
//! | `delivery` | what the network does to a packet |
//! | `channel`, `connection`, `session` | the path between both sides; CM |
//! | `packet`, `frame`, `background` | bytes |
//! | `collective` | collectives: ranks, credits, chunks, with their own sender and receiver |
//! | `uet` | Ultra Ethernet Transport: packet delivery contexts, with their own sender and receiver |
//! | `mirror` | the mirror port: what it loses, and the times of the others |
//! | `tapped`, `sequence_set`, `tally`, `lost`, `account` | counts of what passes the tap |
//! | `report`, [`truth`] | the truth file |
//! | [`generator`] | the schedule |
//! | `pcap` | the file |
//! | `random` | random numbers |

mod account;
mod background;
mod channel;
mod classes;
mod collective;
mod connection;
#[cfg(test)]
mod crosscheck;
mod delivery;
mod endpoints;
mod frame;
pub mod generator;
mod lost;
mod message;
mod mirror;
mod packet;
mod pcap;
mod random;
mod report;
mod requester;
mod responder;
mod rules;
pub mod scenario;
mod sequence_set;
mod session;
mod tally;
mod tapped;
pub mod truth;
mod uet;

pub use classes::{CLASSES, REORDERED, UET, class};
pub use generator::{Frame, Generator};
pub use lost::{LossPoint, LostPacket, PacketKind};
pub use scenario::{Scenario, ScenarioError};
use std::io::{self, Write};
pub use tally::{Delays, Direction, PortVolume, Volume};
pub use truth::Truth;

/// The demo scenario: a small training cluster, some loss, some congestion.
pub const DEMO: &str = include_str!("../scenarios/demo.toml");

/// Bytes of the write buffer.
const BUFFER_BYTES: usize = 1 << 20;

/// Writes a scenario into a pcap file with nanosecond times and returns its truth.
///
/// # Errors
/// Those of `out`.
pub fn write(scenario: &Scenario, seed: u64, out: impl Write) -> io::Result<Truth> {
    let mut out = io::BufWriter::with_capacity(BUFFER_BYTES, out);
    let mut generator = Generator::new(scenario, seed);
    let mut frame = Vec::new();
    pcap::header(&mut out, scenario.snaplen)?;
    while let Some(Frame { at_ns, original_bytes }) = generator.next_frame(&mut frame) {
        pcap::frame(&mut out, at_ns, original_bytes, &frame)?;
    }
    out.flush()?;
    Ok(generator.truth())
}
