//! How evenly do senders spray packets over their ports?

use super::flows::name;
use super::grid::Grid;
use super::section::{Finding, Section};
use crate::Report;
use crate::words::{percent, plural};
use rocescope_model::human::grouped;

const COLUMNS: [&str; 8] = [
    "src",
    "dst",
    "dst_qpn",
    "udp_src_ports",
    "port_imbalance_ratio",
    "packets",
    "ecn_ce_packets",
    "frame_bytes",
];

/// The section; `None` if no direction is sprayed.
pub(super) fn section(report: &Report) -> Option<Section> {
    let flows = &report.flows;
    let worst = flows.sprayed.first()?;
    let text = format!(
        "{} over several UDP source ports. The most uneven, {}, deviates in a window by {} from {} ports with equal packets.",
        match flows.spraying {
            1 => "One direction sprays packets".into(),
            count => format!("{} spray packets", plural(count, "direction")),
        },
        name(report, worst),
        percent(worst.port_imbalance_ratio.unwrap_or(0.0)),
        grouped(worst.udp_src_ports.unwrap_or(0))
    );
    let title = if (flows.sprayed.len() as u64) < flows.spraying {
        format!("The {} most uneven directions", flows.sprayed.len())
    } else {
        String::new()
    };
    Some(Section {
        id: "spread",
        title: "Spraying",
        findings: vec![Finding::note(text)],
        grids: vec![Grid::of(title, &flows.sprayed, &COLUMNS)],
        ..Section::default()
    })
}
