//! Every test of paths in one executable: each links for seconds.
#![expect(clippy::unwrap_used, reason = "it is a test")]

mod discover;
mod gnmi;
mod prometheus;
mod sflow;
mod sflow_switches;
mod topology;
mod vxlan;
