//! Documents of datasets.
//!
//! | module | command |
//! |---|---|
//! | `report` | `report`: snapshots, totals, the page in a browser |
//! | `diagnose` | `diagnose mesh` |
//! | `hosts` | `diagnose hosts` |
//! | `compare` | `compare` |
#![expect(clippy::unwrap_used, clippy::panic, reason = "it is a test")]

mod compare;
mod diagnose;
mod hosts;
mod report;
#[path = "../simulated/mod.rs"]
mod simulated;
