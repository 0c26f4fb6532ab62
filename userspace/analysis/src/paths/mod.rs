//! The paths of captured flows, and how unevenly flows lie on links.
//!
//! | module | what it does |
//! |---|---|
//! | [`runs`] | the paths that runs stored |
//! | [`fim`] | the Flow Imbalance Metric of each window |
//! | [`captured`] | what captured flows carried |

pub mod captured;
pub mod fim;
pub mod runs;
