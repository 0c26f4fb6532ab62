//! Which packets of a capture are wanted.
//!
//! | module | what it holds |
//! |---|---|
//! | `run` | the whole filter, applied to runs and single packets |
//! | `packet` | the part of it that the kernel applies to every packet |

mod packet;
mod run;

pub use packet::words;
pub use run::{COLUMNS, RunFilter};
