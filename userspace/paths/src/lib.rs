//! Where paths of flows come from.
//!
//! | module | what it does |
//! |---|---|
//! | [`topology`] | reads, checks and writes the topology of a fabric |
//! | [`flow`] | what switches hash |
//! | [`known`] | reads and writes paths as JSON |
//!
//! [`rocescope_diagnose::paths`] computes how evenly they load the links.

pub mod flow;
pub mod known;
pub mod topology;

pub use flow::Flow;
pub use known::KnownPath;
pub use topology::Topology;
