//! The probe mesh on the screen.
//!
//! | module | what it holds |
//! |---|---|
//! | [`plan`] | areas of matrix and story, visible rows and columns |
//! | [`story`] | text beside the matrix: the verdicts, and the pair under the cursor |

pub mod plan;
pub mod story;
