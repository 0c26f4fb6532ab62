//! What did the hosts count?

use super::grid::Grid;
use super::section::{Finding, Section};
use crate::Report;
use crate::collect::CounterFigures;
use crate::words::{list, plural};
use rocescope_model::human::grouped;

/// Maximum number of names in a sentence.
const NAMED: usize = 5;
const COLUMNS: [&str; 10] = [
    "observer", "device", "port", "metric", "name", "increase", "unit", "rate", "side", "priority",
];

pub(super) fn section(report: &Report, counters: &CounterFigures) -> Section {
    let mut findings = Vec::new();
    if counters.grown.is_empty() {
        findings.push(Finding::good("No counter of errors, discards or congestion grew."));
    } else {
        let names = counters.grown.iter().map(|row| {
            let metric = row.metric.as_deref().unwrap_or(&row.name);
            format!("{metric} of {} {}", row.observer, row.device)
        });
        let names: Vec<String> = names.collect();
        findings.push(Finding::note(format!(
            "{} of errors, discards or congestion grew: {}.",
            plural(names.len() as u64, "counter"),
            list(&names, NAMED)
        )));
    }
    if !counters.vanished.is_empty() {
        let names: Vec<String> = counters.vanished.iter().cloned().collect();
        findings.push(Finding::bad(format!(
            "{} vanished: {}.",
            plural(names.len() as u64, "device"),
            list(&names, NAMED)
        )));
    }
    if counters.resets > 0 {
        findings.push(Finding::note(format!(
            "{} of counters: what they counted in between is unknown.",
            plural(counters.resets, "reset")
        )));
    }
    if counters.unfollowed > 0 {
        findings.push(Finding::bad(format!(
            "{} of more counters than the report follows are missing here.",
            plural(counters.unfollowed, "row")
        )));
    }
    let of = counters.grown.len();
    let listed: Vec<_> = counters.grown.iter().take(report.scope.top).cloned().collect();
    let grids = match listed.is_empty() {
        true => Vec::new(),
        false => vec![Grid::of(
            format!(
                "{} of {of} counters that grew, largest increase first; the rate is the largest for each second",
                listed.len()
            ),
            &listed,
            &COLUMNS,
        )],
    };
    Section {
        id: "counters",
        title: "Host counters",
        findings,
        facts: vec![
            ("Hosts".into(), grouped(counters.hosts.len() as u64)),
            ("Ports".into(), grouped(counters.ports as u64)),
            ("Counters".into(), grouped(counters.counters as u64)),
        ],
        grids,
        ..Section::default()
    }
}
