//! The fast path: in-order runs of a direction touch two cache lines.
//!
//! | module | what it does |
//! |---|---|
//! | `state` | the part of a direction that in-order runs need and change |
//! | `path` | processes such a run |
//! | `exchange` | what it takes from the direction, and gives back |

pub(crate) mod exchange;
pub(crate) mod path;
pub(crate) mod state;
