//! Live capture: the XDP program joins packets into runs, this module reads them.
//!
//! | module | what it does |
//! |---|---|
//! | `capture` | the live capture: attaches the programs and delivers their events |
//! | `event` | the events that a capture delivers |
//! | `object` | the embedded object, and its programs and maps by name |
//! | `kernel` | the program and its maps, loaded |
//! | `link` | attaches programs to interfaces; closing the descriptor detaches them |
//! | `flush` | a thread that flushes every CPU once a slice, so that no run stays in a cache |
//! | `rings` | reads the ring of each CPU and tracks the runs that full rings lost |
//! | `reader` | a thread that reads the rings into a bounded queue |
//! | `order` | merges the runs of all CPUs, sorted by first timestamp |
//! | `mirror` | gaps in the numbers of mirrored frames |
//! | `control_packets` | CM datagrams and TCP handshakes |
//! | `clock` | the clocks of the kernel in nanoseconds since the epoch |
//! | `cpu` | pins threads to CPUs |
//! | `warnings` | warnings of the programs for the operator |
//! | `cost` | the cost of loading the programs |
//! | `speed` | measures the nanoseconds that a packet costs on this host |
//! | `stack` | the stack depth of a program |
//! | [`measure`] | the cost of a packet in the kernel |
//! | [`rehearsal`] | the same programs over frames in memory, for tests and measurements |
//!
//! Modules import each other downwards only, and never from here: this file lists what is public.
//!
//! Invariant: after [`Capture::finish`] every RoCEv2 packet that the kernel counted is in a run
//! that was delivered, or in one that is counted as lost.

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
mod reader;
pub mod rehearsal;
mod rings;
mod speed;
mod stack;
mod warnings;

pub use capture::Capture;
pub use cost::{Cost, costs};
pub use error::Error;
pub use event::CaptureEvent;
pub use link::Mode;
pub use object::{OBJECT, OBJECT_VARIABLE};
pub use options::Options;
pub use rings::{Blind, Losses};
pub use speed::worst_case_ns;
