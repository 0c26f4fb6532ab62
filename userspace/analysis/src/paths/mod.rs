//! The paths of captured flows, and how unevenly flows lie on links.
//!
//! | module | what it does |
//! |---|---|
//! | [`runs`] | the paths that runs stored |
//! | [`captured`] | what captured flows carried |

pub mod captured;
pub mod runs;
