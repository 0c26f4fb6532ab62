//! Problems, with the captured flows that cross their places.

use crate::hostmesh::{Problem, WindowDiagnosis};
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

/// A problem over one window or several.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The problem.
    pub problem: Problem,
    /// Captured flows that cross the place, `source>destination:port`.
    pub flows: BTreeSet<String>,
    /// What loopback tests show of the path behind the NIC at fault; none without such tests.
    pub hostping: Option<String>,
    /// What the host of the NIC at fault counted meanwhile; none without its counters.
    pub counters: Option<String>,
}

impl Finding {
    /// The NIC at fault, `host/nic`, if it is one.
    #[must_use]
    pub fn nic(&self) -> Option<&str> {
        let worst = &self.problem.worst;
        worst.nic.as_deref().filter(|_| &*worst.place_kind == "nic")
    }
}

impl From<Problem> for Finding {
    /// Without captured flows, loopback tests and counters.
    fn from(problem: Problem) -> Self {
        Self {
            problem,
            flows: BTreeSet::new(),
            hostping: None,
            counters: None,
        }
    }
}

/// Adds the verdicts of a window to the findings.
pub(super) fn add(findings: &mut Vec<Finding>, diagnosis: &WindowDiagnosis, flows: Vec<BTreeSet<String>>) {
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
