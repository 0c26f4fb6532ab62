//! Evaluations of libraries against a known truth.
//!
//! | module | contents |
//! |---|---|
//! | `truth` | connections, against a generator that shares no code with them |
//! | `hosts_at_fault` | faults of hosts, against a model of NICs and switches |
//! | `connections_throughput` | what tracking connections costs |
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod connections_throughput;
mod hosts_at_fault;
mod truth;
