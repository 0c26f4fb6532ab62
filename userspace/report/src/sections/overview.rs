//! What was captured, and when?

use super::section::{Finding, Level, Section};
use crate::Report;
use crate::words::{bits, count, instant, length, list, nanos, packets, percent, plural, share};
use rocescope_model::{PairRow, Unit, human};
use std::collections::BTreeSet;

/// Maximum number of unreadable segments that are listed.
const NAMED: usize = 5;

pub(super) fn section(report: &Report) -> Section {
    let (origin, totals) = (&report.origin, &report.totals);
    let mut facts = vec![("Dataset".into(), origin.dataset.clone())];
    let mut fact = |name: &str, text: String| {
        if !text.is_empty() {
            facts.push((name.to_owned(), text));
        }
    };
    fact("Observer", list(&report.observers, 8));
    fact("Source", names(&origin.sources));
    fact("Mode", names(&origin.modes));
    fact("Clock", names(&origin.clocks));
    fact("Resolution", origin.answered.join("; "));
    if let Some(filter) = &report.scope.filter {
        fact("Filter", filter.to_string());
    }
    match (report.scope.from, report.scope.to) {
        (None, None) => {}
        (from, to) => {
            let end =
                |time: Option<rocescope_model::Time>, open: &str| time.map_or(open.into(), |time| instant(time.0));
            fact(
                "Requested",
                format!("{} to {}", end(from, "the beginning"), end(to, "the end")),
            );
        }
    }
    if !report.is_empty() {
        fact(
            "Time",
            format!(
                "{} to {} ({})",
                instant(totals.start_ns),
                instant(totals.end_ns),
                length(totals.span_ns())
            ),
        );
        let (shortest, longest) = totals.window_ns;
        let of = if shortest == longest {
            length(shortest)
        } else {
            format!("{} to {}", length(shortest), length(longest))
        };
        let mut windows = format!("{} of {of}", plural(totals.windows, "window"));
        if totals.covered_ns < totals.span_ns() {
            let covered = totals.covered_ns as f64 / totals.span_ns() as f64;
            windows.push_str(&format!(
                ", {} of the time span; the rest has no frames",
                percent(covered)
            ));
        }
        fact("Windows", windows);
    }
    Section {
        id: "overview",
        title: "Overview",
        findings: findings(report),
        facts,
        ..Section::default()
    }
}

fn names(names: &BTreeSet<String>) -> String {
    list(&names.iter().cloned().collect::<Vec<_>>(), 8)
}

fn findings(report: &Report) -> Vec<Finding> {
    let mut findings = Vec::new();
    if report.is_empty() && report.mesh.is_none() && report.loopback.is_none() {
        let chosen = report.scope.from.is_some() || report.scope.to.is_some();
        findings.push(Finding::note(if chosen {
            "There are no windows in the requested time."
        } else {
            "There are no windows in this dataset."
        }));
    }
    let unreadable = &report.origin.unreadable;
    if !unreadable.is_empty() {
        findings.push(Finding::bad(format!(
            "{} rows are missing below.",
            match unreadable.len() {
                1 => "1 segment is unreadable: its".into(),
                more => format!("{more} segments are unreadable: their"),
            }
        )));
        for (path, reason) in unreadable.iter().take(NAMED) {
            findings.push(Finding::bad(format!("{path}: {reason}")));
        }
        if unreadable.len() > NAMED {
            findings.push(Finding::bad(format!(
                "{} more: `rocescope dataset repair` lists them all.",
                unreadable.len() - NAMED
            )));
        }
    }
    if report.not_stored.gaps > 0 {
        findings.push(Finding::bad(format!(
            "The disk was full or failed: the rows of {}, {} together, are not stored, and all figures lack them. The events \
             `not_stored` name each.",
            plural(report.not_stored.gaps, "gap"),
            nanos(report.not_stored.span_ns.unsigned_abs())
        )));
    }
    for why in &report.ended_early {
        findings.push(Finding::bad(format!(
            "An input was not read to its end ({why}): all figures lack the rest."
        )));
    }
    if report.untracked_packets > 0 {
        findings.push(Finding::bad(format!(
            "Connections with {} were not tracked, because they found no memory: their losses and retransmissions are \
             unknown, and no figure below has them (`--connection-memory`).",
            plural(report.untracked_packets, "packet")
        )));
    }
    if report.yielded_packets > 0 {
        findings.push(Finding::bad(format!(
            "The capture fell behind and left {} out of connections: fabric loss and retransmissions below are lower bounds.",
            plural(report.yielded_packets, "packet")
        )));
    }
    if report.origin.open_segments > 0 {
        findings.push(Finding::note(format!(
            "The dataset is being written, or needs `rocescope dataset repair` after a kill: {} not sealed yet, and not included.",
            match report.origin.open_segments {
                1 => "1 segment is".into(),
                more => format!("{more} segments are"),
            }
        )));
    }
    findings.extend(report.notes.iter().map(Finding::note));
    findings
}

/// A key metric for the head of a document.
#[derive(Debug)]
pub struct Figure {
    /// Name of the metric.
    pub name: &'static str,
    /// The formatted value.
    pub value: String,
    /// A value to compare with.
    pub beside: String,
    /// Whether it is good news.
    pub level: Level,
}

/// Returns the key metrics.
#[must_use]
pub fn headline(report: &Report) -> Vec<Figure> {
    let totals = &report.totals;
    let sums = &totals.sums;
    let lost = sums.capture_lost_packets + sums.capture_dropped_frames.unwrap_or(0);
    let figure = |name, value: String, beside: String, level| Figure {
        name,
        value,
        beside,
        level,
    };
    let captured = [
        figure(
            "Mean rate",
            bits(totals.mean_bps()),
            format!("peak window {}", bits(totals.peak_bps.rate)),
            Level::Note,
        ),
        figure(
            "Packets",
            count(sums.roce_packets, Unit::Packets),
            format!("mean {}", packets(totals.mean_pps())),
            Level::Note,
        ),
        figure(
            "Flows",
            if report.flows.distinct_exact {
                human::grouped(report.flows.distinct)
            } else {
                format!("≥ {}", human::grouped(report.flows.distinct))
            },
            format!("{} reached the elephant rate", report.flows.elephants),
            Level::Note,
        ),
        figure(
            "Capture loss",
            percent(share(lost, lost + sums.roce_packets)),
            if report.is_complete() {
                "all frames accounted for".into()
            } else {
                "see Loss".into()
            },
            if report.is_complete() { Level::Good } else { Level::Bad },
        ),
    ];
    let mut figures = Vec::new();
    if !report.is_empty() {
        figures.extend(captured);
    }
    let connections = &report.connections;
    if connections.count > 0 {
        let resent = connections.sum("retransmitted_packets");
        figures.push(figure(
            "Retransmitted",
            percent(share(resent, connections.sum("packets"))),
            format!(
                "{} of {} with problems",
                human::grouped(connections.troubled),
                plural(connections.count, "connection")
            ),
            match (connections.resending, connections.troubled) {
                (0, 0) => Level::Good,
                (0, _) => Level::Note,
                _ => Level::Bad,
            },
        ));
    }
    let unresolved = connections.sum("unresolved_packets");
    if let Some(lost) = report.fabric_lost_packets() {
        figures.push(figure(
            "Fabric loss",
            plural(lost, "packet"),
            match (lost, unresolved) {
                (0, 0) => "of tracked connections".into(),
                (_, 0) => "see Loss".into(),
                _ => format!("unknown of {}", plural(unresolved, "packet")),
            },
            match (lost, unresolved) {
                (0, 0) => Level::Good,
                _ => Level::Bad,
            },
        ));
    }
    if let Some(slowest) = connections.slowest.first() {
        let p99_ns = slowest.rtt_p99_ns().unwrap_or(0);
        figures.push(figure("Highest RTT p99", nanos(p99_ns), slowest.name(), Level::Note));
    }
    if let Some(mesh) = &report.mesh {
        let sum = |of: fn(&PairRow) -> u64| mesh.pairs.iter().map(of).sum::<u64>();
        let (probes, drops) = (sum(|pair| pair.probes), sum(|pair| pair.timeouts + pair.corrupt));
        figures.push(figure(
            "Probes dropped",
            percent(share(drops, probes)),
            format!("{} of {}", human::grouped(drops), human::grouped(probes)),
            if drops == 0 { Level::Good } else { Level::Note },
        ));
        if mesh.total.windows > 0 {
            let problems = mesh.problems.len() as u64;
            figures.push(figure(
                "Failures in the mesh",
                human::grouped(problems),
                format!("in {}", plural(mesh.total.windows, "window")),
                if problems == 0 { Level::Good } else { Level::Bad },
            ));
        }
    }
    // Trouble comes first.
    figures.sort_by_key(|figure| figure.level != Level::Bad);
    figures
}
