//! The mesh for display: probes by pair of NICs, and the pairs as a matrix.
//!
//! | module | contents |
//! |---|---|
//! | [`pairs`] | [`Pairs`]: rows of `probes` and `paths` in, one [`PairRow`](rocescope_model::PairRow) per pair out, in bounded memory |
//! | [`matrix`] | [`Matrix`]: which pair is in which cell, and how to move between cells |
//! | [`metric`] | [`Metric`]: the metric that a cell shows, and its severity |
//! | `order` | natural order of names with numbers |
//!
//! The terminal view and the report both use this module, so that they show the same.

pub mod matrix;
pub mod metric;
mod order;
pub mod pairs;

pub use matrix::Matrix;
pub use metric::{Metric, Severity};
pub use order::natural;
pub use pairs::Pairs;
