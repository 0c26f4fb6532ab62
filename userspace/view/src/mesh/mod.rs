//! The probe mesh on the screen.
//!
//! | module | what it holds |
//! |---|---|
//! | [`plan`] | areas of matrix and verdict text, visible rows and columns |
//! | [`verdict_text`] | text beside the matrix: the verdicts, and the pair under the cursor |

pub mod plan;
pub mod verdict_text;
