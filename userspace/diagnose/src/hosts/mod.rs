//! Whose fault is it: application, host, NIC, link or switch. The wire and the counters of both its ends, joined.
//!
//! A capture sees losses, retransmissions, marks and CNPs of a connection; the hosts count what their NICs noticed. An
//! address of the wire finds its port by the metric `addresses` of `counters`. `docs/hosts-analysis-method.md`
//! describes each signature, its thresholds, and what looks alike.
//!
//! | module | what it does |
//! |---|---|
//! | [`settings`] | the length of a window; when a fault begins and ends |
//! | [`analyzer`] | [`Analyzer`]: rows in, one [`HostsWindow`] per window out |
//! | `watched` | the metrics that rules read |
//! | `ports` | the ports of hosts: names, addresses, last values |
//! | `wire` | what the tap saw of a direction |
//! | `window` | the rows of a window, added up |
//! | `round_trips` | the round trips that a row of `connections` adds |
//! | `view` | what rules see: the last windows |
//! | `signatures` | one file for each class of faults |
//! | `explain` | which findings are the effect of another |
//! | `finding` | class, place and evidence |
//! | `faults` | one fault is one verdict |
//! | [`verdict`] | the verdict, and its row |
//! | [`unknown`] | what is unknown, and why |
//! | [`document`] | the faults of a time as text and JSON |

pub mod analyzer;
pub mod document;
mod explain;
mod faults;
mod finding;
mod ports;
mod round_trips;
pub mod settings;
mod signatures;
pub mod unknown;
pub mod verdict;
mod view;
mod watched;
mod window;
mod wire;

pub use analyzer::{Analyzer, Counts, HostsWindow};
pub use document::Document;
pub use finding::{Class, Evidence};
pub use settings::{Settings, SettingsError};
pub use unknown::Unknown;
pub use verdict::{Change, HostVerdict};
pub use wire::is_judged;

/// Why a count of an end is unknown.
pub(crate) const NOT_COUNTED: &str = "its host or these counters are missing";
