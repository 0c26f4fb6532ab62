//! Where paths of flows come from.
//!
//! | module | what it does |
//! |---|---|
//! | [`topology`] | reads, checks and writes the topology of a fabric |
//! | [`flow`] | what switches hash |
//! | [`workload`] | the flows of a workload, from server pairs, sockets and queue pairs |
//! | [`sflow`] | flows from the samples of switches, their counters and what they drop |
//! | [`prometheus`] | what switches count, from a Prometheus server |
//! | [`gnmi`] | what switches count, from their gNMI servers |
//! | [`switch`] | rows of what switches count and drop, from any source |
//! | [`driver`] | how a switch is asked for the egress port of a flow |
//! | [`transport`], [`ssh`] | how commands reach it |
//! | [`mod@discover`] | the paths of flows, hop by hop |
//! | [`document`] | flows, paths and advice as text, as JSON and as rows |
//! | [`known`] | reads and writes paths as JSON |
//!
//! [`rocescope_diagnose::paths`] computes how evenly they load the links.

pub mod discover;
pub mod document;
pub mod driver;
pub mod flow;
pub mod gnmi;
pub mod known;
pub mod prometheus;
pub mod sflow;
pub mod ssh;
pub mod switch;
pub mod topology;
pub mod transport;
pub mod workload;

pub use flow::Flow;
pub use known::KnownPath;
pub use topology::Topology;
pub use workload::{RatedFlow, Workload};
