//! Documents of datasets.
//!
//! | module | command |
//! |---|---|
//! | `report` | `report`: snapshots, totals, the page in a browser |
//! | `diagnose` | `diagnose hostmesh` |
//! | `compare` | `compare` |
#![expect(clippy::unwrap_used, clippy::panic, reason = "it is a test")]

mod compare;
mod diagnose;
mod report;
#[path = "../simulated/mod.rs"]
mod simulated;
