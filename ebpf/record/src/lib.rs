//! The interface between capture and pipeline: run records, counters, configuration; and the cache that
//! joins packets into runs.
//!
//! The kernel program and the readers of capture files call the same functions, so that both
//! publish the same records for the same frames and times. Hence `no_std`, no allocation, no
//! clock: time comes in through [`Clock`], records leave through [`Sink`], and the slots of the
//! cache are the caller's memory.
//!
//! | module | what it holds |
//! |---|---|
//! | [`run`] | [`RunRecord`]: consecutive packets of one stream of one flow, in 128 bytes |
//! | [`cache`] | finds the slot of a packet's stream; runs leave it in order |
//! | [`slot`] | an open run: which packets join it, and what ends it |
//! | [`moment`] | when and where a packet passes |
//! | [`counters`] | exact counts beside the records: nothing is lost silently |
//! | [`config`] | the configuration that user space sets, also while the program runs |
//! | [`exact_budget`] | the packets whose exact times a CPU can afford |
//! | [`filter`] | rejects packets before they cost a run |
//! | [`mirror`] | gaps in the sequence numbers of mirrors |
//! | [`control_packet`] | CM datagrams and TCP handshakes, exported beside the runs |
//! | [`uet`] | headers of UET packets, exported in the place of runs |
//! | [`queue_pair`] | queue pairs that come, change and go, from the kernel's verbs core |
//! | [`handshake`] | from three TCP segments to one handshake |
//! | [`observer`] | all of it together, for user space |
//!
//! The central invariant: the packets and bytes of every opcode, summed
//! over published and lost runs, equal the counters.
#![no_std]

#[cfg(test)]
extern crate std;

pub mod batch;
pub mod cache;
pub mod config;
pub mod control_packet;
pub mod counters;
pub mod exact_budget;
pub mod filter;
pub mod handshake;
pub mod mirror;
pub mod moment;
pub mod observer;
pub mod queue_pair;
pub mod run;
pub mod slot;
pub mod uet;

pub use cache::{Set, Sink};
pub use config::Config;
pub use control_packet::{ControlPacket, HandshakeRecord, MadRecord, SegmentRecord};
pub use counters::Counters;
pub use exact_budget::ExactBudget;
pub use filter::PacketFilter;
pub use moment::{Clock, Moment};
pub use observer::Observer;
pub use run::{Cut, OpcodeTotals, RunRecord};
pub use slot::Slot;
pub use uet::UetRecord;
