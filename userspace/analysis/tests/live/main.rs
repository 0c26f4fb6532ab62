//! The analyses of a collector, with a clock of its own.
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod collector;
mod incidents;
mod late_hosts;
mod owned;
