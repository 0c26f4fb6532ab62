//! The diagnosis of a mesh over a time, as text and as JSON.
//!
//! | module | what it does |
//! |---|---|
//! | `few` | probes that were lost without a verdict |
//! | `findings` | merges verdicts of many windows into problems |
//! | `text`, `json` | the output |

mod few;
mod findings;
mod json;
mod text;

pub use few::FewDrops;
pub use findings::Finding;

use super::counted::Counted;
use super::{Analyzer, WindowDiagnosis};
use crate::hostping::join::Insides;
use crate::incidents::convert::Addresses;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use rocescope_model::{LinkRow, SlaRow, VerdictRow};

/// The content of the output.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// The windows.
    pub windows: Vec<SlaRow>,
    /// The verdicts of all windows.
    pub verdicts: Vec<VerdictRow>,
    /// The problems that they form.
    pub findings: Vec<Finding>,
    /// Links that paths crossed.
    pub links_learnt: usize,
    /// Those that probes of the last window crossed.
    pub links_crossed: usize,
    /// Links that no probe of the last window crossed, as `from>to`.
    pub uncrossed: Vec<String>,
    /// Links of the topology file that no probe of the last window crossed; none without such a file.
    pub unprobed: Option<Vec<String>>,
    /// Rows of `paths`.
    pub paths: u64,
    /// Traces that ended before their destination.
    pub traces_cut_short: u64,
    /// Rows that cannot be used.
    pub unreadable_rows: u64,
    /// In the last window: share of 5-tuples without a return path over the same links.
    pub asymmetric_ratio: Option<f64>,
    /// Unreadable files, with the reason.
    pub unreadable: Vec<String>,
    /// Journals that are not sealed.
    pub open_segments: usize,
    /// Classes of the captured traffic that no probe has.
    pub unprobed_classes: Option<String>,
    /// Whether the dataset has captured flows.
    pub has_flows: bool,
    /// The addresses of NICs, by `host/nic`.
    pub addresses: Addresses,
}

impl Document {
    /// Adds a window, with its rows of `links` and the captured flows that cross the place of each of its verdicts.
    pub fn add(&mut self, window: WindowDiagnosis, links: &[LinkRow], flows: Vec<BTreeSet<String>>) {
        self.asymmetric_ratio = window.sla.asymmetric_ratio;
        self.links_learnt = links.len();
        self.links_crossed = links.iter().filter(|link| link.probes > 0).count();
        let uncrossed = links.iter().filter(|link| link.probes == 0);
        self.uncrossed = uncrossed.map(|link| format!("{}>{}", link.from, link.to)).collect();
        findings::add(&mut self.findings, &window, flows);
        self.verdicts.extend(window.verdicts);
        self.windows.push(window.sla);
    }

    /// Adds what the analyzer counted.
    pub fn count(&mut self, analyzer: &Analyzer) {
        self.addresses = analyzer.addresses();
        self.traces_cut_short = analyzer.traces_cut_short();
        self.unreadable_rows = analyzer.unreadable();
    }

    /// Joins verdicts on NICs with the loopback tests and the counters of their hosts.
    pub fn join(&mut self, insides: &Insides, counted: &Counted) {
        for finding in &mut self.findings {
            let (from_ns, until_ns) = (finding.problem.worst.since_ns, finding.problem.until_ns);
            let Some(nic) = finding.nic() else { continue };
            (finding.hostping, finding.counters) = (insides.behind(nic), counted.behind(nic, from_ns, until_ns));
        }
    }

    /// As text: the problems first, then the state of the mesh.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = text::write(&mut out, self);
        out
    }

    /// As JSON.
    #[must_use]
    pub fn json(&self) -> String {
        json::write(self)
    }
}
