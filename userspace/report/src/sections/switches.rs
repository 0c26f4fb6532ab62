//! What did the switches count?

use super::grid::{Grid, filled};
use super::section::{Finding, Section};
use crate::Report;
use crate::collect::{SwitchFigures, SwitchPort, frames};
use crate::words::{list, nanos, plural};
use rocescope_model::SwitchPortRow;
use rocescope_model::human::grouped;

/// Maximum number of names in a sentence.
const NAMED: usize = 5;
const COLUMNS: [&str; 19] = [
    "switch",
    "port_name",
    "queue",
    "priority",
    "in_dropped_frames",
    "out_dropped_frames",
    "received_pause_frames",
    "sent_pause_frames",
    "paused_ns",
    "pausing_ns",
    "watchdog_storms",
    "ecn_marked_frames",
    "queue_max_bytes",
    "in_errors",
    "fcs_errors",
    "fec_uncorrected",
    "out_errors",
    "dark_lanes",
    "source",
];
const DROPS: [&str; 11] = [
    "switch",
    "in_port",
    "out_port",
    "queue",
    "reason",
    "src",
    "dst",
    "dst_qpn",
    "dropped_frames",
    "estimated_frames",
    "time",
];

pub(super) fn section(report: &Report, switches: &SwitchFigures) -> Section {
    let top = report.scope.top;
    let rows = switches.rows();
    let ports: Vec<SwitchPortRow> = rows.iter().take(top).cloned().collect();
    let drops: Vec<_> = switches.drops.iter().take(top).cloned().collect();
    let mut grids = Vec::new();
    if !ports.is_empty() {
        let title = format!(
            "{} of {} ports, queues and priorities with drops, pauses, marks or errors, most drops first; what a queue or \
             priority counts, its port counts too",
            ports.len(),
            grouped(rows.len() as u64)
        );
        grids.push(Grid::of(title, &ports, &filled(&ports, &COLUMNS)));
    }
    if !drops.is_empty() {
        let title = format!(
            "{} of {} flows and reasons that switches reported drops of, most frames first",
            drops.len(),
            grouped(switches.drops.len() as u64)
        );
        grids.push(Grid::of(title, &drops, &filled(&drops, &DROPS)));
    }
    Section {
        id: "switches",
        title: "Switches",
        findings: findings(switches),
        facts: vec![
            ("Switches".into(), grouped(switches.switches.len() as u64)),
            ("Ports".into(), grouped(switches.ports as u64)),
        ],
        grids,
        ..Section::default()
    }
}

fn findings(switches: &SwitchFigures) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (dropping, frames) = named(switches, SwitchPort::dropped_frames);
    if !dropping.is_empty() {
        findings.push(Finding::bad(format!(
            "{} dropped {}: {}.",
            plural(dropping.len() as u64, "port"),
            plural(frames, "frame"),
            list(&dropping, NAMED)
        )));
    } else if switches.drops.is_empty() && switches.unfollowed == 0 {
        findings.push(match switches.counts_drops {
            true => Finding::good("No port that counts drops dropped a frame."),
            false => Finding::note("Drops are unknown: no two readings of a port have counters of them."),
        });
    }
    findings.extend(reported(switches));
    let (storms, _) = named(switches, SwitchPort::storms);
    if !storms.is_empty() {
        findings.push(Finding::bad(format!(
            "The PFC watchdog found storms at {}.",
            list(&storms, NAMED)
        )));
    }
    let (pausing, frames) = named(switches, SwitchPort::pause_frames);
    if !pausing.is_empty() {
        let longest = switches.troubled.iter().max_by_key(|port| port.paused_ns());
        let longest = match longest.filter(|port| port.paused_ns() > 0) {
            None => String::new(),
            Some(port) => format!(
                " {} of {} was paused longest: {} in all.",
                port.name,
                port.switch,
                nanos(port.paused_ns().unsigned_abs())
            ),
        };
        findings.push(Finding::note(format!(
            "{} sent or received {}: {}.{longest}",
            plural(pausing.len() as u64, "port"),
            plural(frames, "PFC frame"),
            list(&pausing, NAMED)
        )));
    }
    let (failing, _) = named(switches, SwitchPort::errors);
    if !failing.is_empty() {
        findings.push(Finding::bad(format!(
            "{} counted errors of frames: {}.",
            plural(failing.len() as u64, "port"),
            list(&failing, NAMED)
        )));
    }
    if switches.resets > 0 {
        findings.push(Finding::note(format!(
            "{} of counters: what they counted in between is unknown.",
            plural(switches.resets, "reset")
        )));
    }
    if switches.unfollowed > 0 {
        findings.push(Finding::bad(format!(
            "{} of more ports and flows than the report follows are missing here.",
            plural(switches.unfollowed, "row")
        )));
    }
    findings
}

/// The drops that switches reported one by one, by reason.
fn reported(switches: &SwitchFigures) -> Option<Finding> {
    let mut reasons: Vec<(&str, u64)> = Vec::new();
    for row in &switches.drops {
        match reasons.iter_mut().find(|(reason, _)| *reason == &*row.reason) {
            Some((_, sum)) => *sum += frames(row),
            None => reasons.push((&row.reason, frames(row))),
        }
    }
    reasons.sort_by_key(|(_, frames)| std::cmp::Reverse(*frames));
    let names: Vec<String> = reasons
        .iter()
        .map(|(reason, frames)| format!("{reason} ({})", grouped(*frames)))
        .collect();
    (!names.is_empty()).then(|| {
        Finding::bad(format!(
            "Switches reported drops, a part of all, by reason: {}.",
            list(&names, NAMED)
        ))
    })
}

/// Ports with a figure, largest first and each with it, and the sum.
fn named(switches: &SwitchFigures, figure: fn(&SwitchPort) -> u64) -> (Vec<String>, u64) {
    let ports = switches.troubled.iter().map(|port| (port, figure(port)));
    let mut ports: Vec<(&SwitchPort, u64)> = ports.filter(|(_, number)| *number > 0).collect();
    ports.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    let sum = ports.iter().map(|(_, number)| number).sum();
    let name = |(port, number): &(&SwitchPort, u64)| format!("{} of {} ({})", port.name, port.switch, grouped(*number));
    (ports.iter().map(name).collect(), sum)
}
