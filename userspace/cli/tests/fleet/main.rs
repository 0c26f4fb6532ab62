//! Collector and controller, with the agents and capture boxes that talk to them.
//!
//! | module | contents |
//! |---|---|
//! | `collect` | rows in, diagnosis out, a killed collector resumes |
//! | `control` | one controller for agents and capture boxes |
//! | `metrics` | the metrics for Prometheus of captures and collectors |
#![expect(clippy::unwrap_used, clippy::panic, reason = "it is a test")]

mod collect;
mod control;
mod metrics;
