//! Live capture in the kernel: the XDP program joins packets into runs, this takes the runs.
//!
//! | module | what it does |
//! |---|---|
//! | `capture` | programs on interfaces, and what they hand over |
//! | `event` | what a capture hands over |
//! | `object` | the programs as they were built, by name |
//! | `kernel` | the program and its maps, loaded |
//! | `link` | programs on interfaces, held by descriptors and by nothing else |
//! | `flush` | a thread that visits every CPU once a slice, so that none holds its runs for ever |
//! | `rings` | the ring of each CPU, and what was lost before it was read |
//! | `order` | runs of all CPUs by their first time |
//! | `mirror` | gaps in the numbers of mirrored frames |
//! | `control_packets` | CM datagrams and TCP handshakes |
//! | `clock` | the clocks of the kernel in nanoseconds since the epoch |
//! | `cpu` | a thread on a chosen CPU |
//! | `warnings` | what the programs say in words |
//! | `cost` | what it takes to load the programs |
//! | `speed` | nanoseconds a packet, measured here |
//! | `stack` | how deep the stack of a program gets |
//! | [`measure`] | what a packet costs in the kernel |
//! | [`rehearsal`] | the same programs over frames in memory, for tests and measurements |
//!
//! The modules import each other downwards only, and never from here: this file names what is public.
//!
//! The invariant: after [`Capture::finish`] every RoCEv2 packet that the kernel counted is in a run
//! that was handed over, or in one that is counted as lost.

mod capture;
mod clock;
mod control_packets;
mod cost;
pub(crate) mod cpu;
pub(crate) mod error;
mod event;
mod flush;
mod kernel;
pub(crate) mod link;
pub mod measure;
mod mirror;
mod object;
mod options;
mod order;
pub mod rehearsal;
mod rings;
mod speed;
mod stack;
mod warnings;

pub use capture::Capture;
#[cfg(feature = "per-packet")]
pub(crate) use clock::epoch_offset_ns;
pub use cost::{Cost, costs};
pub use error::Error;
pub use event::CaptureEvent;
pub use link::Mode;
pub use object::{OBJECT, OBJECT_VARIABLE};
pub use options::Options;
pub use rings::{Blind, Losses};
pub use speed::worst_case_ns;
