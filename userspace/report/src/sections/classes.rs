//! Do packets use the traffic classes they should?

use super::section::{Finding, Section};
use crate::Report;
use crate::collect::{ByDscp, Group};
use crate::words::plural;
use rocescope_model::human::grouped;

/// The section; `None` if no connection shows classes.
pub(super) fn section(report: &Report) -> Option<Section> {
    let classes = &report.connections.classes;
    let facts: Vec<(String, String)> = [
        ("Data", &classes.data),
        ("ACKs and NAKs", &classes.acknowledgements),
        ("CNPs", &classes.notifications),
    ]
    .into_iter()
    .filter_map(|(name, by)| Some((name.into(), fact(by)?)))
    .collect();
    (!facts.is_empty()).then(|| Section {
        id: "classes",
        title: "Traffic classes",
        findings: findings(report),
        facts,
        ..Section::default()
    })
}

fn fact(by: &ByDscp) -> Option<String> {
    let used: Vec<String> = by
        .used()
        .into_iter()
        .map(|(dscp, directions)| format!("DSCP {dscp} in {}", plural(directions, "direction")))
        .collect();
    (!used.is_empty()).then(|| used.join(", "))
}

fn findings(report: &Report) -> Vec<Finding> {
    let classes = &report.connections.classes;
    let named = |group: &Group| {
        let more = group.count.saturating_sub(group.named.len() as u64);
        let names = group.named.join(", ");
        match more {
            0 => names,
            more => format!("{names} and {} more", grouped(more)),
        }
    };
    let mut findings = Vec::new();
    if classes.notified_in_data.count > 0 {
        findings.push(Finding::note(format!(
            "{} {} CNPs with the DSCP of the data: they wait in the queue whose congestion they report. {}.",
            plural(classes.notified_in_data.count, "connection"),
            if classes.notified_in_data.count == 1 {
                "sends"
            } else {
                "send"
            },
            named(&classes.notified_in_data)
        )));
    }
    if let [(usual, most), others @ ..] = &*classes.notifications.used()
        && !others.is_empty()
    {
        let others: Vec<String> = others
            .iter()
            .map(|(dscp, directions)| format!("{dscp} ({})", plural(*directions, "direction")))
            .collect();
        findings.push(Finding::note(format!(
            "CNPs have several DSCPs: {usual} in {}, but also {}.",
            plural(*most, "direction"),
            others.join(", ")
        )));
    }
    if classes.mixed.count > 0 {
        findings.push(Finding::note(format!(
            "Data of {} have several DSCPs in one direction, so they may overtake each other: {}.",
            plural(classes.mixed.count, "connection"),
            named(&classes.mixed)
        )));
    }
    // Where no data are ECN-capable, ECN is probably not in use.
    if classes.not_ecn_capable.count > 0 && classes.ecn_capable > 0 {
        findings.push(Finding::note(format!(
            "Data of {} of {} are not ECN-capable: congested switches drop them instead of marking them. {}.",
            grouped(classes.not_ecn_capable.count),
            plural(classes.not_ecn_capable.count + classes.ecn_capable, "connection"),
            named(&classes.not_ecn_capable)
        )));
    } else if classes.not_ecn_capable.count > 0 {
        findings.push(Finding::note(
            "Every connection sends data without ECN capability: congested switches drop packets instead of marking them.",
        ));
    }
    if findings.is_empty() {
        findings.push(Finding::good(
            "Data, acknowledgements and CNPs each keep one DSCP, CNPs do not share that of the data, and all data are \
             ECN-capable.",
        ));
    }
    findings
}
