//! The diagnosis for programs.

use super::Diagnosis;
use rocescope_model::{Cells, Value, json};

pub(super) fn document(diagnosis: &Diagnosis) -> String {
    let mut out = json::Writer::pretty();
    out.begin_object();
    out.key("problems").begin_array();
    for finding in &diagnosis.findings {
        let problem = &finding.problem;
        out.begin_object();
        out.key("verdict")
            .row(&vec![problem.last.clone()], 0, |_| true);
        out.key("until_ns").integer(problem.until_ns);
        out.key("windows").integer(problem.windows);
        out.key("probes").integer(problem.probes);
        out.key("anomalous").integer(problem.anomalous);
        out.key("flows").begin_array();
        for flow in &finding.flows {
            out.string(flow);
        }
        out.end_array().end_object();
    }
    out.end_array();
    out.key("verdicts").begin_array();
    for row in 0..diagnosis.verdicts.rows() {
        out.row(&diagnosis.verdicts, row, |_| true);
    }
    out.end_array();
    out.key("sla").begin_array();
    for row in 0..diagnosis.windows.rows() {
        out.row(&diagnosis.windows, row, |_| true);
    }
    out.end_array();
    out.key("coverage").begin_object();
    out.key("links_learnt")
        .integer(diagnosis.links_learnt as u64);
    out.key("links_crossed")
        .integer(diagnosis.links_crossed as u64);
    out.key("asymmetric_ratio");
    match diagnosis.asymmetric_ratio {
        Some(ratio) => out.value(&Value::F64(ratio)),
        None => out.value(&Value::Null),
    };
    out.key("uncrossed").begin_array();
    for link in &diagnosis.uncrossed {
        out.string(link);
    }
    out.end_array().end_object();
    out.key("traces_cut_short")
        .integer(diagnosis.traces_cut_short);
    out.key("unusable_rows").integer(diagnosis.unreadable_rows);
    out.key("unreadable_files").begin_array();
    for file in &diagnosis.unreadable {
        out.string(file);
    }
    out.end_array();
    out.key("open_segments")
        .integer(diagnosis.open_segments as u64);
    out.end_object();
    let mut text = out.finish();
    text.push('\n');
    text
}
