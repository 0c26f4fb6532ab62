//! What tracking connections costs, beside the same capture without it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod connections_throughput;
