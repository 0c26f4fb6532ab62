//! What is wrong, where, since when, who suffers, and what to do?

use super::grid::{Cell, Grid, Head};
use super::section::{Finding, Section};
use crate::Report;
use crate::words::{capital, instant, plural};
use rocescope_diagnose::incidents::{Incident, Victim};
use rocescope_model::human::grouped;

/// Incidents in the findings; the table has the others.
const LISTED: usize = 5;
const SECOND_NS: i64 = 1_000_000_000;

pub(super) fn section(report: &Report) -> Option<Section> {
    let document = report.incidents.as_ref()?;
    let mut findings: Vec<Finding> = document.incidents.iter().take(LISTED).map(finding).collect();
    if document.incidents.len() > LISTED {
        let more = plural((document.incidents.len() - LISTED) as u64, "incident");
        findings.push(Finding::bad(format!("{more} more below.")));
    }
    if document.incidents.is_empty() && !document.judged.is_empty() {
        findings.push(Finding::good(format!(
            "No incidents in {}.",
            document.judged.join(", ")
        )));
    }
    let notes = document.notes.iter().filter(|note| !note.starts_with("unknown: "));
    findings.extend(notes.map(|note| Finding::note(format!("{}.", capital(note)))));
    let further: Vec<&Incident> = document.incidents.iter().skip(LISTED).collect();
    let shown = further.get(..report.scope.top).unwrap_or(further.as_slice());
    let grids = match shown.is_empty() {
        true => Vec::new(),
        false => vec![grid(shown, further.len())],
    };
    Some(Section {
        id: "incidents",
        title: "Incidents",
        findings,
        grids,
        ..Section::default()
    })
}

fn finding(incident: &Incident) -> Finding {
    Finding {
        filter: incident.victims.worst.first().map(packets_of),
        ..Finding::bad(sentences(incident))
    }
}

/// Selects both directions of a connection.
fn packets_of(victim: &Victim) -> String {
    let qpns = [victim.src_qpn, victim.dst_qpn].into_iter().flatten();
    let qpns: Vec<String> = qpns.map(|qpn| format!("qp {qpn}")).collect();
    let hosts = format!("host {} and host {}", victim.src, victim.dst);
    match qpns.is_empty() {
        true => hosts,
        false => format!("{hosts} and ({})", qpns.join(" or ")),
    }
}

/// The four sentences: what and where, since when, who suffers, what to do; and how sure that is.
pub(crate) fn sentences(incident: &Incident) -> String {
    let mut text = format!("{}: {}.", incident.class, incident.sentence());
    text += &format!(" Since {}, {}.", second(incident.since_ns), until(incident));
    let victims = &incident.victims;
    if victims.connections > 0 {
        let names: Vec<String> = victims.worst.iter().take(3).map(ToString::to_string).collect();
        let more = if victims.connections > 3 { ", and others" } else { "" };
        let all = plural(victims.connections, "connection");
        text += &format!(" {all} affected: {}{more}.", names.join(", "));
    }
    if let Some(owners) = victims.whose() {
        text += &format!(" Whose: {owners}.");
    }
    let certainty = capital(incident.certainty.name());
    let (sources, id) = (sources(incident), incident.id());
    text + &format!(" To do: {}. {certainty}, seen by {sources} [{id}].", incident.action)
}

fn sources(incident: &Incident) -> String {
    let names: Vec<&str> = incident.sources.iter().map(|source| source.name()).collect();
    names.join(", ")
}

fn second(ns: i64) -> String {
    instant(ns - ns.rem_euclid(SECOND_NS))
}

fn until(incident: &Incident) -> String {
    match incident.is_open {
        true => format!("last seen {}", second(incident.until_ns)),
        false => format!("until {}", second(incident.until_ns)),
    }
}

fn grid(incidents: &[&Incident], all: usize) -> Grid {
    let head = |title: &str, right, is_prose| Head {
        title: title.into(),
        help: String::new(),
        right,
        is_prose,
    };
    let number = |value: Option<u64>| match value {
        Some(value) => Cell::number(value as f64, grouped(value)),
        None => Cell::text("-"),
    };
    let rows = incidents.iter().map(|incident| {
        let also: Vec<String> = incident.explains.iter().map(|effect| effect.sentence.clone()).collect();
        let has_victims = incident.victims.connections > 0;
        vec![
            Cell::number(incident.since_ns as f64, second(incident.since_ns)),
            Cell::number(incident.until_ns as f64, until(incident)),
            Cell::text(incident.class.as_str()),
            Cell::text(incident.place.name.as_str()),
            Cell::text(incident.certainty.name()),
            Cell::text(sources(incident)),
            number(has_victims.then_some(incident.victims.connections)),
            number(incident.victims.lost_packets.filter(|_| has_victims)),
            Cell::text(also.join("; ")),
            Cell::text(incident.id()),
        ]
    });
    Grid {
        title: match incidents.len() < all {
            true => format!("The {} worst of {all} further incidents", incidents.len()),
            false => "Further incidents, the worst first".into(),
        },
        heads: vec![
            head("Since", false, false),
            head("Until", false, false),
            head("Class", false, false),
            head("Place", false, false),
            head("Certainty", false, false),
            head("Seen by", false, false),
            head("Connections", true, false),
            head("Lost", true, false),
            head("Explains", false, true),
            head("ID", false, false),
        ],
        rows: rows.collect(),
        is_drawn: false,
        ..Grid::default()
    }
}
