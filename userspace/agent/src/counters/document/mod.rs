//! Counters as text, for a command line to print.
//!
//! | module | what it does |
//! |---|---|
//! | [`lines`] | a line for each port and read, as `vmstat` prints them |
//! | [`once`] | every value, once |

pub mod lines;
pub mod once;

pub use lines::Lines;
