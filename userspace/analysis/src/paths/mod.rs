//! The paths of captured flows, and how unevenly flows lie on links.
//!
//! | module | what it does |
//! |---|---|
//! | [`runs`] | the paths that runs stored |
//! | [`fim`] | the Flow Imbalance Metric of each window |
//! | [`measured`] | the loads of the paths of a run |
//! | [`document`] | the metric and comparisons as text and as JSON |
//! | [`captured`] | what captured flows carried |

pub mod captured;
pub mod document;
pub mod fim;
pub mod measured;
pub mod runs;
