//! The figures of a capture for Prometheus: `OpenMetrics` for those that ask for it, else Prometheus' own
//! text format.
//!
//! Names, help and units are those of the model's registry: a column `nak_packets` of `windows` is
//! `rocescope_nak_packets_total`. What has labels is bounded: flows are the largest of the last window,
//! as many as `--metrics-flows` says, opcodes are 256 at most, events as many as there are kinds.
//!
//! | module | what it does |
//! |---|---|
//! | [`gauge`] | what windows add up to, between two scrapes |
//! | [`text`] | the same as `OpenMetrics` |
//! | [`prometheus`] | that in the older format |
//! | [`mod@serve`] | the endpoint |

pub mod gauge;
pub mod prometheus;
pub mod serve;
pub mod text;

pub use gauge::Metrics;
pub use serve::serve;
