//! Selects the packets of a capture.
//!
//! | module | what it holds |
//! |---|---|
//! | `run` | the full filter, applied to runs and single packets |
//! | `packet` | the part of it that the kernel applies to every packet |

mod packet;
mod run;

pub use packet::words;
pub use run::{COLUMNS, RunFilter};
