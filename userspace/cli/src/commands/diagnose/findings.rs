//! Problems, with the captured flows that cross their places.

use super::affected::Flow;
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
}

/// Joins verdicts on NICs with the loopback tests of their hosts.
pub(super) fn join(findings: &mut [Finding], insides: &Insides) {
    for finding in findings {
        let verdict = &finding.problem.worst;
        if &*verdict.place_kind == "nic" {
            finding.hostping = verdict.nic.as_deref().and_then(|nic| insides.behind(nic));
        }
    }
}

/// Adds the verdicts of a window to the findings.
pub(super) fn add(findings: &mut Vec<Finding>, diagnosis: &WindowDiagnosis, flows: Vec<BTreeSet<Flow>>) {
    for (verdict, flows) in diagnosis.verdicts.iter().zip(flows) {
        let mut known = findings.iter_mut().rev();
        match known.find(|finding| finding.problem.goes_on_in(verdict)) {
            Some(finding) => {
                finding.problem.add(verdict);
                finding.flows.extend(flows);
            }
            None => findings.push(Finding {
                problem: Problem::new(verdict),
                flows,
                hostping: None,
            }),
        }
    }
}
