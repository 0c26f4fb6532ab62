//! Which links did probes cross?

use super::grid::Grid;
use super::section::{Finding, Section};
use crate::Report;
use crate::collect::MeshFigures;
use crate::words::{list, plural};
use rocescope_model::LinkRow;
use rocescope_model::human::grouped;

/// Maximum number of links that a sentence names.
const NAMED: usize = 8;
const COLUMNS: [&str; 7] = ["from", "to", "drops", "probes", "votes", "tuples", "address"];

pub(super) fn section(report: &Report, mesh: &MeshFigures) -> Section {
    let uncrossed = mesh.links.iter().filter(|link| link.probes == 0);
    let uncrossed: Vec<String> = uncrossed.map(name).collect();
    let all = mesh.links.len();
    let crossed = all - uncrossed.len();
    let (last_crossed, last_learnt) = mesh.last_links;
    let mut findings = vec![if uncrossed.is_empty() {
        Finding::good(format!(
            "Probes crossed every link: {} found by traces.",
            plural(all as u64, "link")
        ))
    } else {
        Finding::note(format!(
            "No probe crossed {}: {}.",
            plural(uncrossed.len() as u64, "link"),
            list(&uncrossed, NAMED)
        ))
    }];
    if mesh.more_links > 0 {
        let rows = plural(mesh.more_links, "row");
        findings.push(Finding::bad(format!(
            "{rows} of more links than the report follows are missing here."
        )));
    }
    let mut lossy: Vec<LinkRow> = mesh.links.iter().filter(|link| link.drops > 0).cloned().collect();
    lossy.sort_by_key(|link| std::cmp::Reverse((link.votes, link.drops)));
    let of = lossy.len();
    lossy.truncate(report.scope.top);
    let grids = match lossy.is_empty() {
        true => Vec::new(),
        false => vec![Grid::of(
            format!(
                "{} of {of} links on paths with lost probes, most votes first",
                lossy.len()
            ),
            &lossy,
            &COLUMNS,
        )],
    };
    Section {
        id: "coverage",
        title: "Link coverage",
        findings,
        facts: vec![
            (
                "Crossed".into(),
                format!("{} of {} links", grouped(crossed as u64), grouped(all as u64)),
            ),
            (
                "Last window".into(),
                format!("{} of {}", grouped(last_crossed), grouped(last_learnt)),
            ),
        ],
        grids,
        ..Section::default()
    }
}

fn name(link: &LinkRow) -> String {
    format!("{}>{}", link.from, link.to)
}
