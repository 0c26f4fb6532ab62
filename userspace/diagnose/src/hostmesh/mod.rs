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
//! | `diagnosis` | what a window showed |
//! | `window` | the analysis of one of them, step by step |
//! | `record` | a probe in 16 bytes |
//! | `names`, `tuples` | numbers for NICs, switches, links and 5-tuples; paths with their times |
//! | `cells`, `by_key` | the probes of a window by 5-tuple and path; values by a key |
//! | `paper` | anomalous NICs, sticky for a minute; Algorithm 1; 007's weights |
//! | `place` | places that may be at fault, and which of them a probe crosses |
//! | `count`, `tally`, `suspects` | the places that explain the drops, the likeliest first |
//! | `untraced` | NICs and pairs that no trace has ever reached |
//! | `usual`, `latency` | what is late |
//! | `asymmetry` | the way there and the way back |
//! | `shape`, `class` | what a suspect looks like in time, and which problem that is |
//! | `history` | since when a problem lasts |
//! | `look`, `naming`, `verdict` | what a suspect is called, what its probes tell, its row |
//! | `sla`, `coverage` | the other rows |
//! | [`flows`] | which captured flows cross a place |
//! | [`problem`] | [`Problem`]: the verdicts of many windows as one |
//! | `quantiles`, `cores` | quantiles and shares; two pieces of work at once |
//!
//! A window is analysed when the caller's watermark passes its end; rows that come later are counted. Nothing
//! is said of a window with few probes, and the row of `sla` says why.

pub mod analyzer;
mod asymmetry;
mod by_key;
mod cells;
mod class;
mod cores;
mod count;
mod coverage;
mod diagnosis;
pub mod flows;
mod history;
mod latency;
mod look;
mod names;
mod naming;
mod paper;
mod place;
pub mod problem;
mod quantiles;
mod record;
pub mod settings;
mod shape;
mod sla;
mod suspects;
mod tally;
mod tuples;
mod untraced;
mod usual;
mod verdict;
mod window;

pub use analyzer::Analyzer;
pub use cores::Both;
pub use diagnosis::{Coverage, Where, WindowDiagnosis};
pub use problem::Problem;
pub(crate) use quantiles::ratio;
pub use settings::{Settings, SettingsError};
