//! Hostping: topology files, matrices, and faults of simulated hosts.

mod busy;
mod faults;
mod join;
mod measured;
mod rules;
mod simulated;
mod slides;
mod topology;
