//! sFlow version 5: RoCEv2 flows from the samples of switches.
//!
//! | module | what it does |
//! |---|---|
//! | `datagram` | walks datagrams, samples and records; what cannot be read is counted by reason |
//! | `flows` | sampled packets by flow, and the packets they stand for |
//!
//! A sample holds the first bytes of a frame, usually 128: enough for the headers of RoCEv2, which `rocescope-wire`
//! decodes.

mod datagram;
mod flows;

pub use datagram::{Counts, Reader, Sampled};
pub use flows::{SampledFlow, SampledFlows};
