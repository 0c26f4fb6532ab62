//! Verdicts of many windows as problems: what, where, from when until when.

use super::affected::Flow;
use rocescope_diagnose::hostmesh::WindowDiagnosis;
use rocescope_model::VerdictRow;
use std::collections::BTreeSet;

/// A problem over one window or several.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    /// The verdict of the last window, with its `since_ns`.
    pub(super) last: VerdictRow,
    /// End of that window.
    pub(super) until_ns: i64,
    /// Windows that it was seen in.
    pub(super) windows: u64,
    /// Probes and sufferers of all of them.
    pub(super) probes: u64,
    pub(super) anomalous: u64,
    /// Highest score of a window.
    pub(super) score: f64,
    /// Captured flows that cross the place.
    pub(super) flows: BTreeSet<Flow>,
}

/// Adds the verdicts of a window to the findings.
pub(super) fn add(
    findings: &mut Vec<Finding>,
    diagnosis: &WindowDiagnosis,
    flows: Vec<BTreeSet<Flow>>,
) {
    let until_ns = diagnosis.start_ns + diagnosis.sla.window_ns;
    for (verdict, flows) in diagnosis.verdicts.iter().zip(flows) {
        // The same problem has the same beginning; what it is taken for may change as it goes on.
        let known = findings.iter_mut().rev().find(|finding| {
            let last = &finding.last;
            (&last.symptom, &last.place, last.since_ns)
                == (&verdict.symptom, &verdict.place, verdict.since_ns)
        });
        let finding = match known {
            Some(finding) => finding,
            None => {
                findings.push(Finding {
                    last: verdict.clone(),
                    until_ns,
                    windows: 0,
                    probes: 0,
                    anomalous: 0,
                    score: 0.0,
                    flows: BTreeSet::new(),
                });
                let Some(finding) = findings.last_mut() else {
                    continue;
                };
                finding
            }
        };
        finding.last.clone_from(verdict);
        finding.until_ns = until_ns;
        finding.windows += 1;
        finding.probes += verdict.probes;
        finding.anomalous += verdict.anomalous;
        finding.score = finding.score.max(verdict.score);
        finding.flows.extend(flows);
    }
}
