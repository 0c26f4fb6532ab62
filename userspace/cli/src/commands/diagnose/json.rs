//! The diagnosis as JSON.

use super::Diagnosis;
use rocescope_analysis::mesh::affected::Flow;
use rocescope_diagnose::hostmesh::Problem;
use rocescope_model::{SlaRow, VerdictRow, json};
use serde::Serialize;
use std::collections::BTreeSet;

#[derive(Serialize)]
struct Document<'a> {
    problems: Vec<ProblemWithFlows<'a>>,
    verdicts: &'a [VerdictRow],
    sla: &'a [SlaRow],
    coverage: Coverage<'a>,
    traces_cut_short: u64,
    unusable_rows: u64,
    unreadable_files: &'a [String],
    open_segments: usize,
}

#[derive(Serialize)]
struct ProblemWithFlows<'a> {
    #[serde(flatten)]
    problem: &'a Problem,
    flows: &'a BTreeSet<Flow>,
    hostping: Option<&'a str>,
    counters: Option<&'a str>,
}

#[derive(Serialize)]
struct Coverage<'a> {
    links_learnt: usize,
    links_crossed: usize,
    #[serde(serialize_with = "json::float")]
    asymmetric_ratio: Option<f64>,
    uncrossed: &'a [String],
    unprobed: Option<&'a [String]>,
}

pub(super) fn document(diagnosis: &Diagnosis) -> String {
    let problems = diagnosis.findings.iter().map(|finding| ProblemWithFlows {
        problem: &finding.problem,
        flows: &finding.flows,
        hostping: finding.hostping.as_deref(),
        counters: finding.counters.as_deref(),
    });
    json::pretty(&Document {
        problems: problems.collect(),
        verdicts: &diagnosis.verdicts,
        sla: &diagnosis.windows,
        coverage: Coverage {
            links_learnt: diagnosis.links_learnt,
            links_crossed: diagnosis.links_crossed,
            asymmetric_ratio: diagnosis.asymmetric_ratio,
            uncrossed: &diagnosis.uncrossed,
            unprobed: diagnosis.unprobed.as_deref(),
        },
        traces_cut_short: diagnosis.traces_cut_short,
        unusable_rows: diagnosis.unreadable_rows,
        unreadable_files: &diagnosis.unreadable,
        open_segments: diagnosis.open_segments,
    }) + "\n"
}
