//! Which connections have problems?

use super::grid::{Grid, filled};
use super::section::{Finding, Section};
use crate::Report;
use crate::chart::ranges::{Range, Ranges};
use crate::chart::{Chart, Plot};
use crate::collect::Connection;
use crate::words::{list, nanos, percent, plural, share};
use rocescope_model::ConnectionRow;
use rocescope_model::human::grouped;

const ALWAYS: [&str; 5] = ["src", "dst", "src_qpn", "dst_qpn", "packets"];
const SOMETIMES: [&str; 18] = [
    "retransmitted_packets",
    "fabric_lost_upstream_packets",
    "fabric_lost_downstream_packets",
    "unanswered_packets",
    "unfilled_gaps",
    "nak_psn_sequence",
    "rnr_nak",
    "nak_fatal",
    "timeouts",
    "rtt_p50_ns",
    "rtt_p99_ns",
    "ecn_ce_packets",
    "cnp_received_packets",
    "out_of_order_packets",
    "duplicate_packets",
    "response_p50_ns",
    "messages",
    "payload_bytes",
];
const LAST: [&str; 3] = ["service", "paired_by", "state"];

pub(super) fn section(report: &Report) -> Section {
    let connections = &report.connections;
    let mut section = Section {
        id: "connections",
        title: "Connections",
        findings: findings(report),
        ..Section::default()
    };
    if connections.count == 0 {
        return section;
    }
    section.facts = facts(report);
    let rows: Vec<ConnectionRow> = connections
        .worst
        .iter()
        .flat_map(Connection::directions)
        .cloned()
        .collect();
    let mut columns = ALWAYS.to_vec();
    columns.extend(filled(&rows, &SOMETIMES));
    columns.extend(LAST);
    let title = if (connections.worst.len() as u64) < connections.count {
        format!(
            "The {} connections with the most problems, one row per direction",
            connections.worst.len()
        )
    } else {
        "Connections, most problems first, one row per direction".into()
    };
    section.grids.push(Grid::of(title, &rows, &columns));
    section.charts.extend(chart(report));
    section
}

fn facts(report: &Report) -> Vec<(String, String)> {
    let connections = &report.connections;
    let sum = |column| grouped(connections.sum(column));
    let [cm, ack, none] = connections.paired.map(grouped);
    [
        (
            "Connections",
            format!(
                "{}: {cm} paired by CM, {ack} by ACKs, {none} not paired",
                grouped(connections.count)
            ),
        ),
        (
            "Fabric loss",
            format!(
                "{}: {} upstream of the tap, {} downstream of it; {} in {} gaps never filled, of unknown cause{}",
                plural(connections.fabric_lost_packets(), "packet"),
                sum("fabric_lost_upstream_packets"),
                grouped(connections.sum("fabric_lost_downstream_packets") + connections.sum("unanswered_packets")),
                sum("unfilled_gap_packets"),
                sum("unfilled_gaps"),
                match connections.sum("unresolved_packets") {
                    0 => String::new(),
                    packets => format!("; unknown of {} that nothing answered", plural(packets, "packet")),
                }
            ),
        ),
        (
            "Requests",
            format!(
                "{} retransmitted, {} out of order, {} duplicate, {} timeouts",
                sum("retransmitted_packets"),
                sum("out_of_order_packets"),
                sum("duplicate_packets"),
                sum("timeouts")
            ),
        ),
        (
            "Responses",
            format!(
                "{} PSN sequence error NAKs, {} RNR NAKs, {} fatal NAKs, {} CNPs",
                sum("nak_psn_sequence"),
                sum("rnr_nak"),
                sum("nak_fatal"),
                sum("cnp_sent_packets")
            ),
        ),
    ]
    .map(|(name, text)| (name.to_owned(), text))
    .to_vec()
}

fn findings(report: &Report) -> Vec<Finding> {
    let connections = &report.connections;
    if connections.count == 0 {
        let text = if report.scope.filter.is_some() {
            "No connection matches the filter."
        } else {
            "No connections: the capture had `--no-connections`, or saw none."
        };
        return vec![Finding::note(text)];
    }
    let mut findings = Vec::new();
    let fatal = connections.sum("nak_fatal");
    if fatal > 0 {
        let ended = connections.ended.iter().map(Connection::name);
        findings.push(Finding::bad(format!(
            "{} ended connections: {}.",
            plural(fatal, "fatal NAK"),
            list(&ended.collect::<Vec<_>>(), usize::MAX)
        )));
    }
    findings.push(resent(report));
    let not_ready = connections.sum("rnr_nak");
    if not_ready > 0 {
        findings.push(Finding::bad(format!(
            "Receivers were not ready {} times (RNR NAKs): they post too few receive requests.",
            grouped(not_ready)
        )));
    }
    findings.extend(round_trips(report));
    findings
}

fn resent(report: &Report) -> Finding {
    let connections = &report.connections;
    let resent = connections.sum("retransmitted_packets");
    let resent_share = percent(share(resent, connections.sum("packets")));
    let all = plural(connections.count, "connection");
    match (connections.resending, connections.troubled) {
        (0, 0) => Finding::good(format!("No fabric loss and no retransmission on {all}.")),
        (0, troubled) => Finding::note(format!(
            "{} of {all} have fabric loss or retransmissions, each less than {}; {resent_share} of all packets are retransmissions.",
            grouped(troubled),
            percent(crate::collect::RESENT_SHARE),
        )),
        (resending, _) => {
            let named = connections.resent.iter().map(|connection| {
                let share = percent(connection.resent_share());
                format!("{} ({share})", connection.name())
            });
            let named: Vec<String> = named.collect();
            let more = match resending.saturating_sub(named.len() as u64) {
                0 => String::new(),
                more => format!(" and {} more", grouped(more)),
            };
            Finding::bad(format!(
                "{} of {all} retransmitted {} of their packets or more: {}{more}.",
                grouped(resending),
                percent(crate::collect::RESENT_SHARE),
                named.join(", ")
            ))
        }
    }
}

fn round_trips(report: &Report) -> Option<Finding> {
    let connections = &report.connections;
    let slowest = connections.slowest.first()?;
    let p99_ns = slowest.rtt_p99_ns()?;
    let mut text = format!(
        "Round trips were measured on {}; the highest p99 is {}, on {}",
        plural(connections.timed, "connection"),
        nanos(p99_ns),
        slowest.name()
    );
    if connections.uneven == 0 {
        return Some(Finding::note(text + "."));
    }
    text.push_str(&format!(
        ". On {} the p99 is at least ten times the median.",
        grouped(connections.uneven)
    ));
    Some(Finding::bad(text))
}

/// Chart of the round trips of the slowest connections.
fn chart(report: &Report) -> Option<Chart> {
    let directions = report.connections.slowest.iter().flat_map(Connection::directions);
    let rows = directions.filter_map(|row| {
        let (p50_ns, p99_ns) = (row.rtt_p50_ns?, row.rtt_p99_ns?);
        let qpn = |qpn: Option<u32>| qpn.map_or("?".into(), |qpn| qpn.to_string());
        Some(Range {
            name: format!("{} → {} QP {}", row.src, row.dst, qpn(row.dst_qpn)),
            words: format!(
                "p50 {}, p99 {} of {}",
                nanos(p50_ns),
                nanos(p99_ns),
                plural(row.rtt_samples, "sample")
            ),
            p50_ns,
            p99_ns,
        })
    });
    let mut rows: Vec<Range> = rows.collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.p99_ns));
    rows.truncate(report.scope.top);
    (!rows.is_empty()).then(|| Chart {
        title: "Round trip downstream of the tap".into(),
        note: (rows.len() > 1).then(|| "longest first".into()),
        plot: Plot::Ranges(Ranges { rows }),
    })
}
