//! Deterministic RoCEv2 traffic with its truth: a scenario and a seed in, frames out.
//!
//! The core does no input or output: [`Generator`] hands out one frame after the other, and counts
//! what it meant while it does. [`write()`] puts them into a pcap file. What a scenario can say
//! stands in `docs/scenarios.md`.
//!
//! All happens in the time of the tap, the one place whose clock the capture knows: a request
//! passes, its answer passes `delay` later, and what the requester makes of the answer shows
//! `near_delay` after that. So each connection is two small state machines and a list of the few
//! packets that are late, and one heap of connections is the whole agenda.
//!
//! | module | what it holds |
//! |---|---|
//! | [`scenario`] | the scenario file |
//! | `fabric` | its connections: addresses, numbers, headers |
//! | `rules` | a group of flows, made ready |
//! | `message`, `requester`, `responder` | the transport: messages, sender, receiver |
//! | `fate` | what the network does to a packet |
//! | `channel`, `connection`, `session` | the way between both sides; CM |
//! | `packet`, `frame`, `background` | bytes |
//! | `tapped`, `seen`, `tally`, `lost`, `account` | what passes the tap, counted |
//! | `report`, [`truth`] | the truth file |
//! | [`generator`] | the agenda |
//! | `pcap` | the file |
//! | `random` | chance |

mod account;
mod background;
mod channel;
mod connection;
#[cfg(test)]
mod crosscheck;
mod fabric;
mod fate;
mod frame;
pub mod generator;
mod lost;
mod message;
mod packet;
mod pcap;
mod random;
mod report;
mod requester;
mod responder;
mod rules;
pub mod scenario;
mod seen;
mod session;
mod tally;
mod tapped;
pub mod truth;

pub use generator::{Frame, Generator};
pub use lost::{LossPoint, Lost, PacketKind};
pub use scenario::{Scenario, ScenarioError};
use std::io::{self, Write};
pub use tally::{Delays, Direction, Volume};
pub use truth::Truth;

/// A scenario to show: a small training cluster, some loss, some congestion.
pub const DEMO: &str = include_str!("../scenarios/demo.toml");

/// Bytes gathered before they are written.
const BUFFER_BYTES: usize = 1 << 20;

/// Generates a scenario into a pcap file with nanosecond times. What it holds.
///
/// # Errors
/// Those of `out`.
pub fn write(scenario: &Scenario, seed: u64, out: impl Write) -> io::Result<Truth> {
    let mut out = io::BufWriter::with_capacity(BUFFER_BYTES, out);
    let mut generator = Generator::new(scenario, seed);
    let mut frame = Vec::new();
    pcap::header(&mut out, scenario.snaplen)?;
    while let Some(Frame {
        at_ns,
        original_bytes,
    }) = generator.next_frame(&mut frame)
    {
        pcap::frame(&mut out, at_ns, original_bytes, &frame)?;
    }
    out.flush()?;
    Ok(generator.truth())
}
