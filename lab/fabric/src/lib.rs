//! A simulator of a rail-optimised fabric and of the probes over it, without packets, and one of collectives with packets.
//!
//! Everything is a pure function of its arguments: the crate has no access to clocks, files or sockets (`no_std`),
//! callers pass the seeds, and the fate of a probe depends only on the fabric, its faults and the probe itself. So a
//! test runs an hour of a cluster in seconds, with the same result on every machine.
//!
//! | module | contents |
//! |---|---|
//! | [`rails`] | [`Rails`]: the number of hosts, NICs and switches; it builds the [`Topology`] |
//! | [`topology`] | nodes, links, names, addresses |
//! | `file` | the topology file |
//! | [`route`] | [`FiveTuple`], ECMP and the [`Route`] that a 5-tuple takes |
//! | [`fault`] | [`Fault`]: kind, place and time |
//! | [`timing`] | [`Timing`] of links, queues and hosts; the [`Clocks`] of NICs |
//! | [`packets`] | a simulator of packets, queues and pauses, for collectives |
//! | [`passage`] | [`Fabric`]: sends probes and traces paths |
//! | [`probing`] | [`Mesh`]: all probes and paths of a span of time, as if every host ran an agent |
//! | [`random`] | random draws that depend on their seeds alone |
//!
//! ECMP here hashes the 5-tuple with one seed per switch. Linux and switch chips use other functions with the same
//! properties: the same 5-tuple takes the same path, another seed gives another path.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod fault;
mod file;
pub mod packets;
pub mod passage;
pub mod probing;
pub mod rails;
pub mod random;
pub mod route;
pub mod timing;
pub mod topology;

pub use fault::{Fault, FaultKind, FaultLocation};
pub use passage::{Fabric, Outcome, Passage};
pub use probing::{Mesh, Probe};
pub use rails::Rails;
pub use route::{FiveTuple, Route};
pub use timing::{Clocks, Timing};
pub use topology::{LinkDirection, LinkId, Nic, NodeId, Role, Topology};
