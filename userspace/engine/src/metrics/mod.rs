//! The figures of a capture or a collector for Prometheus: `OpenMetrics` for those that ask for it, else Prometheus' own
//! text format.
//!
//! Names, help and units are those of the model's registry: a column `nak_packets` of `windows` is
//! `rocescope_nak_packets_total`, and one of another table has the table's name before its own. What has labels is bounded: flows are the largest of the last window,
//! as many as `--metrics-flows` says, opcodes are 256 at most, events, refusals and verdicts as many as
//! there are kinds.
//!
//! | module | what it does |
//! |---|---|
//! | [`gauge`] | what windows of a capture add up to, between two scrapes |
//! | [`text`] | the same as `OpenMetrics` |
//! | [`diagnosed`] | what windows of a mesh add up to |
//! | [`mesh`] | that, and what the collector did, as `OpenMetrics` |
//! | `write` | how a figure is written |
//! | [`prometheus`] | that in the older format |
//! | [`mod@serve`] | the endpoint |

pub mod diagnosed;
pub mod gauge;
pub mod mesh;
pub mod prometheus;
pub mod serve;
pub mod text;
mod write;

pub use diagnosed::Diagnosed;
pub use gauge::Metrics;
pub use serve::serve;
