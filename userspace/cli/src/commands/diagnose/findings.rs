//! Problems, with the captured flows that cross their places.

use super::affected::Flow;
use rocescope_diagnose::hostmesh::{Problem, WindowDiagnosis};
use std::collections::BTreeSet;

/// A problem over one window or several.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    pub(super) problem: Problem,
    /// Captured flows that cross the place.
    pub(super) flows: BTreeSet<Flow>,
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
            }),
        }
    }
}
