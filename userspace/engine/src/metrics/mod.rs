//! The metrics of a capture or a collector.
//!
//! Names and units come from the registry of the model: the column `nak_packets` of `windows` is
//! `rocescope_nak_packets_total`; a column of another table has the name of the table as prefix. The number of
//! series is bounded: `--metrics-flows` flows of the last window, 256 opcodes, and the kinds of events,
//! refusals and verdicts; members of a controller count by group.
//!
//! | module | what it does |
//! |---|---|
//! | [`gauge`] | totals over the windows of a capture |
//! | [`text`] | these as `OpenMetrics` |
//! | [`diagnosed`] | totals over the windows of a mesh, and of hosts |
//! | [`collector`] | these and the collector's own metrics as `OpenMetrics` |
//! | [`controller`] | members of a controller, likewise |
//! | `rtt` | round trips of all connections as one histogram |
//! | `help` | what each metric counts |

pub mod collector;
pub mod controller;
pub mod diagnosed;
pub mod gauge;
mod help;
mod rtt;
pub mod text;

pub use diagnosed::Diagnosed;
pub use gauge::{Measured, Metrics};
