//! Was there congestion?

use super::flows::{columns, name};
use super::grid::Grid;
use super::periods::{rate, sampled, span};
use super::section::{Finding, Section};
use crate::Report;
use crate::chart::lines::{Line, Lines};
use crate::chart::{Chart, Plot};
use crate::words::{bits, percent, plural, share};
use rocescope_model::Unit;
use rocescope_model::human::grouped;

/// Share of marked packets from which congestion is a problem.
const MARKED_SHARE: f64 = 0.01;
/// Relative change of rate below which a rate counts as unchanged.
const STEADY: f64 = 0.05;

pub(super) fn section(report: &Report) -> Section {
    let sums = &report.totals.sums;
    let mut section = Section {
        id: "congestion",
        title: "Congestion",
        findings: findings(report),
        ..Section::default()
    };
    if sums.ecn_ce_packets + sums.cnp_packets == 0 {
        return section;
    }
    section.facts = vec![
        (
            "ECN CE".into(),
            format!(
                "{} of {} packets ({})",
                grouped(sums.ecn_ce_packets),
                grouped(sums.roce_packets),
                percent(share(sums.ecn_ce_packets, sums.roce_packets))
            ),
        ),
        ("CNP".into(), plural(sums.cnp_packets, "packet")),
    ];
    let marked = &report.flows.marked;
    if !marked.is_empty() {
        let mut columns = columns(report, marked);
        // The subject of the table comes first.
        columns.retain(|name| !["rank", "ecn_ce_packets"].contains(name));
        columns.insert(0, "ecn_ce_packets");
        section
            .grids
            .push(Grid::of("Flows with the most ECN marks", marked, &columns));
    }
    let lines = [
        ("ECN CE", 0, rate(report, |period| period.sums.ecn_ce_packets)),
        ("CNP", 1, rate(report, |period| period.sums.cnp_packets)),
    ];
    let lines = lines.map(|(name, colour, steps)| Line { name, colour, steps });
    section.charts.push(Chart {
        title: "ECN marks and CNPs".into(),
        note: sampled(report),
        plot: Plot::Lines(Lines {
            unit: Unit::PacketsPerSecond,
            span: span(report),
            dashed: true,
            lines: lines.into(),
        }),
    });
    section
}

fn findings(report: &Report) -> Vec<Finding> {
    let sums = &report.totals.sums;
    let (marked, notified) = (sums.ecn_ce_packets, sums.cnp_packets);
    if marked + notified == 0 {
        return vec![Finding::good(
            "No congestion: no packet has an ECN mark, and no CNP was sent.",
        )];
    }
    let marked_share = share(marked, sums.roce_packets);
    let mut text = format!(
        "Congestion: {} with an ECN mark ({}) and {} to senders",
        plural(marked, "packet"),
        percent(marked_share),
        plural(notified, "CNP")
    );
    if let Some(first) = report.flows.marked.first() {
        text.push_str(&format!("; the flow with the most marks is {}", name(report, first)));
    }
    let mut findings = vec![if marked_share >= MARKED_SHARE {
        Finding::bad(text + ".")
    } else {
        Finding::note(text + ".")
    }];
    findings.extend(slowed(report));
    findings
}

/// Returns the reaction of the sender with the most measurements among the listed connections.
fn slowed(report: &Report) -> Option<Finding> {
    let connections = &report.connections;
    let listed = connections.worst.iter().chain(&connections.slowest);
    let row = listed
        .flat_map(crate::collect::Connection::directions)
        .filter(|row| row.cnp_rate_samples > 0)
        .max_by_key(|row| row.cnp_rate_samples)?;
    let (before, after) = (row.before_cnp_bps?, row.after_cnp_bps?);
    let reaction = if after < before * (1.0 - STEADY) {
        "slows down"
    } else if after > before * (1.0 + STEADY) {
        "speeds up"
    } else {
        "keeps its rate"
    };
    Some(Finding::note(format!(
        "{} → {} {reaction}: {} in the millisecond before a CNP, {} after it ({}).",
        row.src,
        row.dst,
        bits(before),
        bits(after),
        plural(row.cnp_rate_samples, "CNP")
    )))
}
