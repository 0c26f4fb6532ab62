//! Hostmesh: which NIC, link or switch fails, from probes between the NICs of hosts and their paths.
//!
//! "Hostmesh: Monitor and Diagnose Networks in Rail-optimized RoCE Clusters" (Liu and others, `APNet` 2024), sections
//! 3.4 and 4. `paper` implements its rules to the letter and fills the table `sla`; `docs/hostmesh-analysis-method.md`
//! describes what the paper leaves open and where its rules mislead.
//!
//! | module | what it does |
//! |---|---|
//! | [`settings`] | durations and thresholds |
//! | [`analyzer`] | [`Analyzer`]: rows in, one [`WindowDiagnosis`] per window out |
//! | `diagnosis` | the results of a window |
//! | `reanalysis` | a window that is analyzed again because rows came late |
//! | `window` | the analysis of one window, step by step |
//! | `record` | a probe in 16 bytes |
//! | `names`, `tuples` | numbers for NICs, switches, links and 5-tuples; paths and since when they hold |
//! | `onward` | paths that no trace has followed to their ends |
//! | `cells`, `by_key` | the probes of a window by 5-tuple and path; values by a key |
//! | `paper` | anomalous NICs, sticky for a minute; Algorithm 1; 007's weights |
//! | `place` | places that may be at fault, and which of them a probe crosses |
//! | `count`, `tally`, `suspects` | the places that explain the drops, most likely first |
//! | `untraced` | faults of NICs and pairs that no trace has reached |
//! | `lasting` | loss that goes on where it was |
//! | `unlocated` | loss that no place explains |
//! | `unsent` | which probes that could not be sent are evidence, and about which NIC |
//! | `unanswered` | which other hosts answered nothing |
//! | `baseline`, `latency` | baselines, and which probes and hosts exceed them |
//! | `asymmetry` | latency compared with the reverse direction |
//! | `silence` | hosts whose probes have stopped |
//! | `shape`, `class` | how the drops of a suspect spread over time, and which problem that is |
//! | `history` | when a problem began |
//! | `evidence`, `naming`, `verdict` | the evidence about a suspect, the name of its place, its row |
//! | `alone` | a route that one 5-tuple alone crosses |
//! | `switch_links` | the links of a switch that may lose packets in its stead |
//! | `sla`, `coverage` | rows of `sla` and `links` |
//! | [`flows`] | which captured flows cross a place |
//! | [`counted`] | what a host counts about a NIC at fault: PCIe link, pause frames, drops, link errors |
//! | [`traffic_class`] | whether probes have the class of the traffic |
//! | [`problem`] | [`Problem`]: the verdicts of many windows about one fault |
//! | [`document`] | the problems of a time as text and JSON |
//! | `quantiles`, `cores` | quantiles and ratios; two tasks in parallel |
//!
//! The analyzer closes a window when the caller's watermark passes its end, and counts the rows that arrive later; the
//! caller may then analyze that window again, with another analyzer ([`PreviousAnalysis`]). A window with few probes gets no verdict, and its row of `sla` states the reason.

mod alone;
pub mod analyzer;
mod asymmetry;
mod baseline;
mod by_key;
mod cells;
mod class;
mod cores;
mod count;
pub mod counted;
mod coverage;
mod diagnosis;
pub mod document;
mod evidence;
mod faint;
pub mod flows;
mod history;
mod joint;
mod lasting;
mod latency;
mod names;
mod naming;
mod noisy_or;
mod onward;
mod paper;
mod place;
mod ports;
pub mod problem;
mod quantiles;
mod reanalysis;
mod record;
pub mod settings;
mod shape;
mod shared;
mod silence;
mod sla;
mod suspects;
mod switch_links;
mod tally;
pub mod traffic_class;
mod tuples;
mod unanswered;
mod uncertain;
mod unlocated;
mod unsent;
mod untraced;
mod verdict;
mod window;

pub use analyzer::Analyzer;
pub use cores::Both;
pub use diagnosis::{Coverage, Where, WindowDiagnosis};
pub use document::Document;
pub use problem::Problem;
pub(crate) use quantiles::ratio;
pub use reanalysis::{Changes, PreviousAnalysis};
pub use settings::{Settings, SettingsError};
