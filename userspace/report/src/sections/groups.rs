//! Who sends, who receives, and what?

use super::grid::{Grid, filled};
use super::section::{Finding, Section};
use crate::Report;
use crate::collect::GroupFigures;
use crate::words::percent;
use rocescope_model::group::NOT_LISTED;

const ALWAYS: [&str; 5] = ["group", "frame_ratio", "frame_bytes", "packets", "frame_bps"];
const SOMETIMES: [&str; 5] = [
    "flows",
    "messages",
    "retransmitted_packets",
    "ecn_ce_packets",
    "error_frame_bytes",
];

pub(super) fn section(report: &Report, groups: &GroupFigures) -> Section {
    let listed = groups.rows.iter().filter(|row| &*row.group != NOT_LISTED).count();
    let shown = listed.min(report.scope.top);
    let mut rows = groups.rows.get(..shown).unwrap_or_default().to_vec();
    rows.extend(groups.rows.iter().filter(|row| &*row.group == NOT_LISTED).cloned());
    let mut columns = ALWAYS.to_vec();
    columns.extend(filled(&rows, &SOMETIMES));
    let by = groups.by;
    let title = match shown < listed {
        true => format!("The {shown} largest of {listed} groups by {by}"),
        false => format!("Traffic by {by}"),
    };
    let largest = groups.rows.iter().find(|row| &*row.group != NOT_LISTED);
    let findings = largest.map(|row| {
        let share = percent(row.frame_ratio.unwrap_or(0.0));
        Finding::note(format!(
            "The largest {by}, {}, has {share} of the frame bytes.",
            row.group
        ))
    });
    Section {
        id: "groups",
        title: "Groups",
        findings: findings.into_iter().collect(),
        grids: vec![Grid::of(title, &rows, &columns)],
        ..Section::default()
    }
}
