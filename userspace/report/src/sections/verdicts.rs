//! What fails in the mesh, and where?

use super::grid::{Cell, Grid, Head};
use super::section::{Finding, Section};
use crate::Report;
use crate::collect::MeshFigures;
use crate::words::{instant, percent, plural, share};
use rocescope_diagnose::hostmesh::Problem;
use rocescope_diagnose::hostmesh::problem::evidence;
use rocescope_model::human::grouped;

/// Maximum number of problems in the findings.
const LISTED: usize = 5;

pub(super) fn section(report: &Report, mesh: &MeshFigures) -> Section {
    let mut problems: Vec<&Problem> = mesh.problems.iter().collect();
    problems.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut section = Section {
        id: "verdicts",
        title: "Verdicts",
        ..Section::default()
    };
    if problems.is_empty() {
        section.findings.push(Finding::good("No failures found."));
        return section;
    }
    let listed = problems.iter().take(LISTED);
    section.findings.extend(listed.map(|problem| {
        let worst = &problem.worst;
        Finding::bad(format!("{}: {}.", worst.class, worst.sentence.trim_end_matches('.')))
    }));
    if problems.len() > LISTED {
        let more = plural((problems.len() - LISTED) as u64, "problem");
        section.findings.push(Finding::bad(format!("{more} more below.")));
    }
    if mesh.more_verdicts > 0 {
        let more = plural(mesh.more_verdicts, "verdict");
        section.findings.push(Finding::bad(format!(
            "{more} of more problems are not listed: `rocescope diagnose mesh` lists all of them."
        )));
    }
    problems.truncate(report.scope.top);
    section.grids.push(grid(&problems, mesh.problems.len()));
    section
}

fn grid(problems: &[&Problem], all: usize) -> Grid {
    let head = |title: &str, help: &str, right| Head {
        title: title.into(),
        help: help.into(),
        right,
        is_prose: false,
    };
    let prose = |title: &str| Head {
        is_prose: true,
        ..head(title, "", false)
    };
    let rows = problems.iter().map(|problem| {
        let worst = &problem.worst;
        let part = share(problem.anomalous, problem.probes);
        vec![
            Cell::number(
                worst.since_ns as f64,
                instant(worst.since_ns - worst.since_ns % 1_000_000_000),
            ),
            Cell::number(problem.until_ns as f64, instant(problem.until_ns)),
            Cell::text(worst.class.as_str()),
            Cell::text(worst.place.as_str()),
            Cell::number(problem.anomalous as f64, grouped(problem.anomalous)),
            Cell::number(part, percent(part)),
            Cell::text(worst.action.as_str()),
            Cell::text(evidence(worst, problem.score)),
        ]
    });
    let title = match problems.len() < all {
        true => format!("The {} most likely of {all} problems", problems.len()),
        false => "Problems, most likely first".into(),
    };
    Grid {
        title,
        heads: vec![
            head("Since", "", false),
            head("Until", "End of the last window in which it was seen.", false),
            head("Class", "", false),
            head("Place", "", false),
            head("Probes", "Affected probes in all windows.", true),
            head("Share", "Share of the probes that crossed the place.", true),
            prose("What to do"),
            prose("Evidence"),
        ],
        rows: rows.collect(),
        is_drawn: false,
        ..Grid::default()
    }
}
