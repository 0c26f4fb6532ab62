//! sFlow version 5: RoCEv2 flows from the samples of switches.
//!
//! | module | what it does |
//! |---|---|
//! | `datagram` | walks datagrams, samples and records; what cannot be read is counted by reason |
//! | `flows` | sampled packets by flow |
//! | `estimate` | the packets that the samples of several switches stand for, and how far they may be off |
//!
//! A sample holds the first bytes of a frame, usually 128: enough for the headers of RoCEv2, which `rocescope-wire`
//! decodes.

mod datagram;
mod estimate;
mod flows;

pub use datagram::{Counts, Point, Reader, Sampled};
pub use flows::{SampledFlow, SampledFlows};
