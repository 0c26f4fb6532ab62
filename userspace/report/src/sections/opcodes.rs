//! Which operations make up the traffic?

use super::grid::{Cell, Grid, Head};
use super::section::{Finding, Section};
use crate::Report;
use crate::chart::bars::{Bars, Item};
use crate::chart::{Chart, Plot};
use crate::words::{bytes, percent, plural, share};
use rocescope_model::Unit;
use rocescope_model::human::grouped;

const COLUMNS: [&str; 5] = ["opcode", "packets", "frame_bytes", "payload_bytes", "messages"];

pub(super) fn section(report: &Report) -> Section {
    let rows = &report.opcodes.rows;
    let sums = &report.totals.sums;
    let mut grid = Grid::of("", rows, &COLUMNS);
    grid.heads.insert(
        1,
        Head {
            title: "Share".into(),
            help: "Share of the frame bytes.".into(),
            right: true,
            is_prose: false,
        },
    );
    for (cells, row) in grid.rows.iter_mut().zip(rows) {
        let share = share(row.frame_bytes, sums.frame_bytes);
        cells.insert(1, Cell::number(share, percent(share)));
    }
    let shown = rows.iter().take(report.scope.top);
    let items = shown.map(|row| {
        let of_bytes = share(row.frame_bytes, sums.frame_bytes);
        let of_packets = share(row.packets, sums.roce_packets);
        Item {
            name: row.opcode.to_string(),
            words: format!(
                "{} in {} packets: {} of the bytes, {} of the packets",
                bytes(row.frame_bytes),
                grouped(row.packets),
                percent(of_bytes),
                percent(of_packets)
            ),
            bounds: vec![(of_bytes, of_bytes), (of_packets, of_packets)],
        }
    });
    let items: Vec<Item> = items.collect();
    let charts = (!items.is_empty()).then(|| Chart {
        title: "Opcode mix".into(),
        note: None,
        plot: Plot::Bars(Bars {
            unit: Unit::Ratio,
            names: vec!["of frame bytes", "of packets"],
            items,
        }),
    });
    Section {
        id: "opcodes",
        title: "Opcodes",
        findings: findings(report),
        grids: vec![grid],
        charts: charts.into_iter().collect(),
        ..Section::default()
    }
}

fn findings(report: &Report) -> Vec<Finding> {
    let sums = &report.totals.sums;
    let mut findings = Vec::new();
    if let Some(first) = report.opcodes.rows.first() {
        let mut text = format!(
            "{} carries {} of the frame bytes",
            first.opcode,
            percent(share(first.frame_bytes, sums.frame_bytes))
        );
        if let Some(average) = sums.payload_bytes.checked_div(sums.messages) {
            let average = bytes(average);
            text.push_str(&format!("; the mean payload of a message is {average}"));
        }
        findings.push(Finding::note(text + "."));
    }
    if sums.unknown_opcode_packets > 0 {
        findings.push(Finding::bad(format!(
            "{} an opcode that the specification does not name.",
            match sums.unknown_opcode_packets {
                1 => "1 packet has".into(),
                more => format!("{} have", plural(more, "packet")),
            }
        )));
    }
    findings
}
