//! The metrics of a capture.
//!
//! Names and units come from the registry of the model: the column `nak_packets` of `windows` is
//! `rocescope_nak_packets_total`; a column of another table has the name of the table as prefix. The number of
//! series is bounded: `--metrics-flows` flows of the last window, the ten worst connections of the last minute, 256 opcodes,
//! the kinds of events, and 100 places of incidents.
//!
//! | module | what it does |
//! |---|---|
//! | [`gauge`] | totals over the windows of a capture |
//! | [`text`] | these as `OpenMetrics` |
//! | `rtt` | round trips of all connections as one histogram |
//! | `help` | what each metric counts |

pub mod gauge;
mod help;
mod rtt;
pub mod text;

pub use gauge::{Measured, Metrics};
