//! Whose traffic is it?

use super::grid::{Cell, Grid, Head};
use super::section::{Finding, Section};
use crate::Report;
use crate::collect::{OwnerFigures, OwnerSums};
use crate::words::{bytes, nanos, percent, plural, share};
use rocescope_model::human::grouped;

/// Owners that a finding names.
const NAMED: usize = 3;

pub(super) fn section(report: &Report, owners: &OwnerFigures) -> Section {
    let shown = owners.rows.len().min(report.scope.top);
    let by = owners.by;
    let title = match shown < owners.rows.len() {
        true => format!("The {shown} largest of {} by {by}", owners.rows.len()),
        false => format!("What each {by} sends"),
    };
    Section {
        id: "owners",
        title: "Owners",
        findings: findings(owners),
        grids: vec![grid(title, owners.rows.get(..shown).unwrap_or_default())],
        ..Section::default()
    }
}

fn findings(owners: &OwnerFigures) -> Vec<Finding> {
    let mut findings = Vec::new();
    let all: u64 = owners.rows.iter().map(|row| row.payload_bytes).sum();
    let known = owners.rows.iter().filter(|row| row.is_known());
    let of_known: u64 = known.clone().map(|row| row.payload_bytes).sum();
    if all > 0 {
        findings.push(Finding::note(format!(
            "The owners of {} of the payload are known, from the queue pairs that agents reported.",
            percent(share(of_known, all))
        )));
    }
    let mut losing: Vec<&OwnerSums> = known.filter(|row| row.fabric_lost_packets > 0).collect();
    losing.sort_by_key(|row| std::cmp::Reverse(row.fabric_lost_packets));
    for row in losing.iter().take(NAMED) {
        findings.push(Finding::bad(format!(
            "{} lost {} in the fabric, {} of its packets.",
            row.name,
            plural(row.fabric_lost_packets, "packet"),
            percent(share(row.fabric_lost_packets, row.packets))
        )));
    }
    if owners.crowded_out > 0 {
        findings.push(Finding::note(format!(
            "There are too many queue pairs: {} that ended early are forgotten, and their traffic is unknown.",
            grouped(owners.crowded_out)
        )));
    }
    findings
}

fn grid(title: String, rows: &[OwnerSums]) -> Grid {
    let head = |title: &str, help: &str, right| Head {
        title: title.into(),
        help: help.into(),
        right,
        is_prose: false,
    };
    let number = |number: u64| Cell::number(number as f64, grouped(number));
    let row = |row: &OwnerSums| {
        vec![
            Cell::text(row.name.as_str()),
            number(row.directions),
            Cell::number(row.payload_bytes as f64, bytes(row.payload_bytes)),
            number(row.packets),
            number(row.fabric_lost_packets),
            number(row.retransmitted_packets),
            number(row.timeouts),
            match row.rtt_p99_ns {
                Some(p99) => Cell::number(p99 as f64, nanos(p99)),
                None => Cell::text("-"),
            },
            number(row.hosts),
            number(row.ranks),
        ]
    };
    Grid {
        title,
        heads: vec![
            head("Owner", "The job, pod, unit or process that has the queue pairs", false),
            head("Directions", "Directions of connections that it sends", true),
            head("Payload", "", true),
            head("Packets", "", true),
            head("Lost", "Packets that the fabric lost", true),
            head("Retransmitted", "", true),
            head("Timeouts", "", true),
            head("RTT p99", "The highest of its directions", true),
            head("Hosts", "", true),
            head("Ranks", "Ranks that the environment of a process names", true),
        ],
        rows: rows.iter().map(row).collect(),
        is_drawn: false,
        ..Grid::default()
    }
}
