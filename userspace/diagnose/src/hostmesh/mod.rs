//! Hostmesh: which NIC, link or switch fails, from probes between the NICs of hosts and their paths.
//!
//! "Hostmesh: Monitor and Diagnose Networks in Rail-optimized RoCE Clusters" (Liu and others, `APNet` 2024),
//! sections 3.4 and 4. What it prescribes is done to the letter (`paper`) and gives the table `sla`; what it
//! leaves open, and where its rules mislead, is in `docs/hostmesh.md`.
//!
//! | module | what it does |
//! |---|---|
//! | [`settings`] | lengths of time and thresholds |
//! | [`analyzer`] | [`Analyzer`]: rows in, a [`WindowDiagnosis`] a window out |
//! | `record` | a probe in 16 bytes |
//! | `names`, `tuples` | numbers for NICs, switches, links and 5-tuples; paths with their times |
//! | `cells` | the probes of a window by 5-tuple and path |
//! | `paper` | anomalous NICs, sticky for a minute; Algorithm 1; 007's weights |
//! | `count`, `suspects` | the places that explain the drops, the likeliest first |
//! | `untraced` | NICs and pairs that no trace has ever reached |
//! | `usual`, `latency` | what is late |
//! | `shape`, `class` | what a suspect looks like in time, and which problem that is |
//! | `history` | since when a problem lasts |
//! | `sla`, `verdict`, `coverage` | the rows |
//! | [`flows`] | which captured flows cross a place |
//! | [`problem`] | [`Problem`]: the verdicts of many windows as one |
//!
//! A window is analysed when the caller's watermark passes its end; rows that come later are counted. Nothing
//! is said of a window with few probes, and the row of `sla` says why.

pub mod analyzer;
mod cells;
mod class;
mod count;
mod coverage;
pub mod flows;
mod history;
mod latency;
mod names;
mod paper;
pub mod problem;
mod record;
pub mod settings;
mod shape;
mod sla;
mod suspects;
mod tuples;
mod untraced;
mod usual;
mod verdict;

pub use analyzer::{Analyzer, WindowDiagnosis};
pub use coverage::Coverage;
pub use flows::Where;
pub use problem::Problem;
pub use settings::{Settings, SettingsError};
pub(crate) use sla::ratio;
