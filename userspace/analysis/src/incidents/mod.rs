//! Incidents of a dataset: all analyses that it has rows for, joined.
//!
//! | module | what it does |
//! |---|---|
//! | `background` | the same while the caller does something else |
//! | [`dataset`] | over a time of a dataset: every analysis that it has rows for |
//! | `gathered` | what to analyze, and what the analyses add up to |
//! | `mesh`, `hosts`, `loopback`, `collectives` | the faults of one analysis, as incidents |

mod background;
mod collectives;
pub mod dataset;
mod gathered;
mod hosts;
mod loopback;
mod mesh;

pub use background::Background;
pub use gathered::Settings;
pub use mesh::analyzer_of;
