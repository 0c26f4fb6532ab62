//! The diagnosis as JSON.

use super::Document;
use crate::hostmesh::Problem;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use rocescope_model::{SlaRow, VerdictRow, json};
use serde::Serialize;

#[derive(Serialize)]
struct Values<'a> {
    problems: Vec<ProblemWithFlows<'a>>,
    verdicts: &'a [VerdictRow],
    sla: &'a [SlaRow],
    coverage: Coverage<'a>,
    unprobed_classes: Option<&'a str>,
    traces_cut_short: u64,
    unusable_rows: u64,
    unreadable_files: &'a [String],
    open_segments: usize,
}

#[derive(Serialize)]
struct ProblemWithFlows<'a> {
    #[serde(flatten)]
    problem: &'a Problem,
    flows: &'a BTreeSet<String>,
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

pub(super) fn write(diagnosis: &Document) -> String {
    let problems = diagnosis.findings.iter().map(|finding| ProblemWithFlows {
        problem: &finding.problem,
        flows: &finding.flows,
        hostping: finding.hostping.as_deref(),
        counters: finding.counters.as_deref(),
    });
    json::pretty(&Values {
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
        unprobed_classes: diagnosis.unprobed_classes.as_deref(),
        traces_cut_short: diagnosis.traces_cut_short,
        unusable_rows: diagnosis.unreadable_rows,
        unreadable_files: &diagnosis.unreadable,
        open_segments: diagnosis.open_segments,
    }) + "\n"
}
