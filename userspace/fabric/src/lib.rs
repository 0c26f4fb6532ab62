//! A rail-optimised fabric in numbers, and what becomes of probes over it.
//!
//! Everything is a pure function of its arguments: no clock, file or socket can be reached (`no_std`),
//! seeds are passed in, and a probe's fate depends on nothing but the fabric, its faults and the probe
//! itself. So a test runs an hour of a cluster in seconds, and says the same on every machine.
//!
//! | module | what it holds |
//! |---|---|
//! | [`rails`] | [`Rails`]: how many hosts, NICs, switches; the [`Topology`] built from it |
//! | [`topology`] | nodes, links, names, addresses |
//! | `file` | the topology file |
//! | [`route`] | [`FiveTuple`], ECMP and the [`Route`] that a 5-tuple takes |
//! | [`fault`] | [`Fault`]: what breaks, where, and when |
//! | [`timing`] | [`Timing`] of links, queues and hosts; the [`Clocks`] of NICs |
//! | [`passage`] | [`Fabric`]: a probe sent, a path traced |
//! | [`mesh`] | [`Mesh`]: all probes and paths of a span of time, as an agent on every host would send them |
//! | [`random`] | draws that depend on their seeds alone |
//!
//! ECMP here hashes the 5-tuple with a seed a switch. What Linux or a switch chip computes is another
//! function: this one only shares its properties (same tuple, same way; another seed, another way).
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod fault;
mod file;
pub mod mesh;
pub mod passage;
pub mod rails;
pub mod random;
pub mod route;
pub mod timing;
pub mod topology;

pub use fault::{Fault, Kind, Place};
pub use mesh::{Mesh, Probe};
pub use passage::{Fabric, Outcome, Passage};
pub use rails::Rails;
pub use route::{FiveTuple, Route};
pub use timing::{Clocks, Timing};
pub use topology::{LinkId, Nic, NodeId, Role, Topology, Way};

/// UDP destination port of `RoCEv2`.
pub const ROCE_PORT: u16 = 4791;
