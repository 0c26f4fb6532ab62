//! Hostping: topology files, matrices, and faults of simulated hosts.
#![expect(clippy::unwrap_used, reason = "it is a test")]

mod busy;
mod faults;
mod join;
mod measured;
mod rules;
mod simulated;
mod slides;
mod topology;
