//! The mesh of probes on the screen.
//!
//! | module | what it holds |
//! |---|---|
//! | [`plan`] | where matrix and story stand, and which rows and columns are seen |
//! | [`story`] | what is told beside the matrix: the verdicts, and the pair under the cursor |

pub mod plan;
pub mod story;
