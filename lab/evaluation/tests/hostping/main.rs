//! Loopback tests of simulated hosts.
//!
//! | module | what it holds |
//! |---|---|
//! | `simulated` | runs of simulated hosts, with noise |
//! | `slides`, `rules` | the matrices of the slides, and thresholds |
//! | `faults` | slow links, one and two |
//! | `busy` | the overloaded link of a busy host |
//! | `join` | a NIC that the mesh accuses, and the links behind it |
//! | `loopback` | plans, runs and when they run |
#![expect(clippy::unwrap_used, reason = "it is a test")]

mod busy;
mod faults;
mod join;
mod loopback;
mod rules;
mod simulated;
mod slides;
