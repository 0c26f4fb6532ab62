//! The mesh as it is looked at: probes by pair of NICs, and the pairs as a matrix.
//!
//! | module | what it holds |
//! |---|---|
//! | [`pairs`] | [`Pairs`]: rows of `probes` and `paths` in, a [`PairRow`](rocescope_model::PairRow) a pair out, in bounded memory |
//! | [`matrix`] | [`Matrix`]: which pair stands where, and the way from cell to cell |
//! | [`figure`] | [`Figure`]: what a cell says, and how grave that is |
//! | `order` | names with numbers, in the order of the numbers |
//!
//! Whoever draws a matrix asks here, so that a terminal and a report show the same.

pub mod figure;
pub mod matrix;
mod order;
pub mod pairs;

pub use figure::{Figure, Severity};
pub use matrix::Matrix;
pub use pairs::Pairs;
