//! Whose fault is it: application, host, NIC, link or network?

use super::grid::{Cell, Grid, Head};
use super::section::{Finding, Section};
use crate::report::{HostFaults, Report};
use crate::words::{instant, list, plural};
use rocescope_diagnose::hosts::{Change, HostVerdict};

/// Maximum number of faults in the findings.
const LISTED: usize = 5;
/// Maximum number of places in a note.
const NAMED: usize = 4;

pub(super) fn section(report: &Report, faults: &HostFaults) -> Section {
    let mut findings = Vec::new();
    if faults.verdicts.is_empty() {
        findings.push(Finding::good("No faults found in counters and captured traffic."));
    }
    for verdict in faults.verdicts.iter().take(LISTED) {
        let sentence = verdict.sentence.trim_end_matches('.');
        findings.push(Finding::bad(format!("{}: {sentence}.", verdict.class.name())));
    }
    if faults.verdicts.len() > LISTED {
        let more = plural((faults.verdicts.len() - LISTED) as u64, "fault");
        findings.push(Finding::bad(format!("{more} more below.")));
    }
    for unknown in &faults.unknown {
        let places = match unknown.places.is_empty() {
            true => String::new(),
            false => format!(": {}", list(&unknown.places, NAMED)),
        };
        findings.push(Finding::note(format!(
            "Unknown, {}: {}{places}.",
            unknown.what, unknown.reason
        )));
    }
    let shown: Vec<&HostVerdict> = faults.verdicts.iter().take(report.scope.top).collect();
    let grids = match shown.is_empty() {
        true => Vec::new(),
        false => vec![grid(&shown, faults.verdicts.len())],
    };
    Section {
        id: "host_faults",
        title: "Faults of hosts and network",
        findings,
        grids,
        ..Section::default()
    }
}

fn grid(verdicts: &[&HostVerdict], all: usize) -> Grid {
    let head = |title: &str, is_prose| Head {
        title: title.into(),
        help: String::new(),
        right: false,
        is_prose,
    };
    let rows = verdicts.iter().map(|verdict| {
        let until = match verdict.state {
            Change::Ended => instant(verdict.until_ns),
            _ => "not over".into(),
        };
        vec![
            Cell::number(
                verdict.since_ns as f64,
                instant(verdict.since_ns - verdict.since_ns.rem_euclid(1_000_000_000)),
            ),
            Cell::number(verdict.until_ns as f64, until),
            Cell::text(verdict.class.name()),
            Cell::text(verdict.place.as_str()),
            Cell::text(verdict.confidence.as_str()),
            Cell::text(verdict.action.as_str()),
            Cell::text(verdict.evidence_text()),
        ]
    });
    let title = match verdicts.len() < all {
        true => format!("The first {} of {all} faults", verdicts.len()),
        false => "Faults, in the order in which they began".into(),
    };
    Grid {
        title,
        heads: vec![
            head("Since", false),
            head("Until", false),
            head("Class", false),
            head("Place", false),
            head("Confidence", true),
            head("What to do", true),
            head("Evidence", true),
        ],
        rows: rows.collect(),
        is_drawn: false,
        ..Grid::default()
    }
}
