//! Which packet delivery contexts of UET have problems?

use super::grid::Grid;
use super::section::{Finding, Section};
use crate::Report;
use crate::words::plural;
use rocescope_model::human::grouped;

const COLUMNS: [&str; 17] = [
    "src",
    "src_pdc",
    "dst",
    "dst_pdc",
    "mode",
    "job",
    "packets",
    "frame_bytes",
    "messages",
    "retransmitted_packets",
    "fabric_lost_upstream_packets",
    "fabric_lost_downstream_packets",
    "unanswered_packets",
    "trimmed_packets",
    "nack_packets",
    "ecn_echo_packets",
    "rtt_p50_ns",
];

/// The section; `None` without UET.
pub(super) fn section(report: &Report) -> Option<Section> {
    let pdcs = &report.pdcs;
    (pdcs.count > 0).then(|| Section {
        id: "pdcs",
        title: "UET packet delivery contexts",
        findings: findings(report),
        grids: vec![Grid::of("", &pdcs.rows, &COLUMNS)],
        ..Section::default()
    })
}

fn findings(report: &Report) -> Vec<Finding> {
    let (pdcs, sums) = (&report.pdcs, &report.pdcs.sums);
    let mut findings = vec![Finding::note(format!(
        "{} of packet delivery contexts sent {}, and got {}.",
        plural(pdcs.count, "direction"),
        plural(sums.packets, "packet"),
        plural(sums.ack_packets + sums.nack_packets, "answer"),
    ))];
    let lost = sums.fabric_lost_upstream_packets + sums.fabric_lost_downstream_packets;
    if lost > 0 {
        findings.push(Finding::bad(format!(
            "Fabric loss of {}: {} upstream of the tap, {} downstream.",
            plural(lost, "packet"),
            grouped(sums.fabric_lost_upstream_packets),
            grouped(sums.fabric_lost_downstream_packets)
        )));
    } else {
        findings.push(Finding::good("No fabric loss is proven."));
    }
    if sums.trimmed_packets > 0 {
        findings.push(Finding::bad(format!(
            "Switches upstream of the tap trimmed {}: their queues were full.",
            plural(sums.trimmed_packets, "packet")
        )));
    }
    if sums.unanswered_packets + sums.unknown_packets > 0 {
        findings.push(Finding::note(format!(
            "Whether {} were lost is unknown: {} were retransmitted without evidence, {} neither passed nor were \
             acknowledged.",
            plural(sums.unanswered_packets + sums.unknown_packets, "packet"),
            grouped(sums.unanswered_packets),
            grouped(sums.unknown_packets)
        )));
    }
    if sums.unseen_packets > 0 {
        findings.push(Finding::note(format!(
            "{} arrived without passing the tap: mirror loss, or another path.",
            plural(sums.unseen_packets, "packet")
        )));
    }
    if pdcs.unlisted > 0 {
        findings.push(Finding::note(format!(
            "{} of further directions count only in the sums.",
            plural(pdcs.unlisted, "row")
        )));
    }
    findings
}
