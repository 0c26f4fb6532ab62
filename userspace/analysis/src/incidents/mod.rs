//! Incidents of a dataset: all analyses that it has rows for, joined.
//!
//! | module | what it does |
//! |---|---|
//! | `background` | the same while the caller does something else |
//! | [`dataset`] | over a time of a dataset: every analysis that it has rows for |
//! | `findings` | problems of a mesh, from the verdicts on its windows |
//! | `gathered` | what to analyze, and what the analyses add up to |
//! | [`history`] | incidents that a dataset keeps, by place, and notes about them |
//! | [`judging`] | over a capture, while it runs |
//! | [`reporting`] | reports what opened, changed and closed |
//! | [`on_incident`] | where changes go: a command, a server, an Alertmanager |
//! | `mesh`, `hosts`, `loopback`, `collectives` | the faults of one analysis, as incidents |
//! | `switches` | what switches dropped while packets were lost |

mod background;
mod collectives;
pub mod dataset;
pub(crate) mod findings;
mod gathered;
pub mod history;
mod hosts;
pub mod judging;
mod loopback;
pub(crate) mod mesh;
pub mod on_incident;
pub mod reporting;
mod switches;

pub use background::Background;
pub use dataset::stated_sampling;
pub use gathered::Settings;
pub use judging::Judging;
pub use mesh::analyzer_of;
pub use on_incident::OnIncident;
pub use reporting::Reports;
