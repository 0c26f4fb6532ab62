//! Problems, with the captured flows that cross their places.

use rocescope_analysis::mesh::affected::Flow;
use rocescope_diagnose::hostmesh::counted::Counted;
use rocescope_diagnose::hostmesh::{Problem, WindowDiagnosis};
use rocescope_diagnose::hostping::join::Insides;
use std::collections::BTreeSet;

/// A problem over one window or several.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    pub(super) problem: Problem,
    /// Captured flows that cross the place.
    pub(super) flows: BTreeSet<Flow>,
    /// What loopback tests show of the path behind the NIC at fault; none without such tests.
    pub(super) hostping: Option<String>,
    /// What the host of the NIC at fault counted meanwhile; none without its counters.
    pub(super) counters: Option<String>,
}

impl Finding {
    /// The NIC at fault, `host/nic`, if it is one.
    pub(super) fn nic(&self) -> Option<&str> {
        let worst = &self.problem.worst;
        worst.nic.as_deref().filter(|_| &*worst.place_kind == "nic")
    }
}

/// Joins verdicts on NICs with the loopback tests and the counters of their hosts.
pub(super) fn join(findings: &mut [Finding], insides: &Insides, counted: &Counted) {
    for finding in findings {
        let (from_ns, until_ns) = (finding.problem.worst.since_ns, finding.problem.until_ns);
        let Some(nic) = finding.nic() else { continue };
        (finding.hostping, finding.counters) = (insides.behind(nic), counted.behind(nic, from_ns, until_ns));
    }
}

/// Adds the verdicts of a window to the findings.
pub(super) fn add(findings: &mut Vec<Finding>, diagnosis: &WindowDiagnosis, flows: Vec<BTreeSet<Flow>>) {
    for (verdict, flows) in diagnosis.verdicts.iter().zip(flows) {
        let mut known = findings.iter_mut().rev();
        match known.find(|finding| finding.problem.continues_in(verdict)) {
            Some(finding) => {
                finding.problem.add(verdict);
                finding.flows.extend(flows);
            }
            None => findings.push(Finding {
                problem: Problem::new(verdict),
                flows,
                hostping: None,
                counters: None,
            }),
        }
    }
}
