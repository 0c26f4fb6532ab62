//! Connections as text: the worst first, then their events.

use super::{Connection, Report, owned};
use crate::document::color::Color;
use rocescope_diagnose::owners::Answer;
use rocescope_model::human::plural;
use rocescope_model::render::{self, Options};
use rocescope_model::{Cells, ConnectionRow, EventRow, Value};
use std::fmt::Write;

/// Blanks before the lines of a table.
const INDENT: usize = 2;

/// Columns that are always shown, and those shown if any row has a value.
const ALWAYS: [&str; 7] = [
    "service",
    "src",
    "src_qpn",
    "dst",
    "dst_qpn",
    "packets",
    "payload_bytes",
];
const SOMETIMES: [&str; 18] = [
    "owners",
    "messages",
    "retransmitted_packets",
    "timeouts",
    "out_of_order_packets",
    "duplicate_packets",
    "fabric_lost_upstream_packets",
    "fabric_lost_downstream_packets",
    "unanswered_packets",
    "unfilled_gaps",
    "nak_psn_sequence",
    "rnr_nak",
    "nak_fatal",
    "ecn_ce_packets",
    "cnp_received_packets",
    "rtt_p50_ns",
    "rtt_p99_ns",
    "response_p50_ns",
];
/// Columns that a narrow terminal does without, the first before the others.
const DROPPED_FIRST: [&str; 22] = [
    "state",
    "paired_by",
    "response_p50_ns",
    "messages",
    "service",
    "duplicate_packets",
    "payload_bytes",
    "rtt_p50_ns",
    "src_qpn",
    "cnp_received_packets",
    "out_of_order_packets",
    "unfilled_gaps",
    "rtt_p99_ns",
    "timeouts",
    "owners",
    "nak_psn_sequence",
    "unanswered_packets",
    "ecn_ce_packets",
    "rnr_nak",
    "nak_fatal",
    "packets",
    "fabric_lost_downstream_packets",
];
const EVENTS_DROPPED_FIRST: [&str; 3] = ["detail", "psn", "count"];
const EVENTS: [&str; 8] = ["time", "kind", "src", "dst", "dst_qpn", "psn", "count", "detail"];

/// Text: connections in two lines each, those with the most problems first, then their events.
#[must_use]
pub fn text(report: &Report<'_>, color: Color) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_text(&mut out, report, color);
    out
}

fn write_text(out: &mut String, report: &Report<'_>, color: Color) -> std::fmt::Result {
    let all = report.connections;
    writeln!(out, "{}\n", report.source)?;
    let paired = |by: &str| {
        let is = |c: &&Connection| c.either().is_some_and(|row| &*row.paired_by == by);
        all.iter().filter(is).count()
    };
    writeln!(
        out,
        "Connections  {}: {} paired by CM, {} by ACKs, {} not paired",
        all.len(),
        paired("cm"),
        paired("ack"),
        paired("none")
    )?;
    let sum = |of: fn(&ConnectionRow) -> u64| -> u64 { all.iter().flat_map(Connection::directions).map(of).sum() };
    let lost = sum(ConnectionRow::fabric_lost_packets);
    let gaps = sum(|row| row.unfilled_gaps);
    let unresolved = sum(|row| row.unresolved_packets.unwrap_or(0));
    let unknown = match unresolved {
        0 => String::new(),
        _ => format!("; unknown of {} that nothing answered", plural(unresolved, "packet")),
    };
    let of_all = format!(
        "Fabric loss  {}: {} upstream of the tap, {} downstream; {} in {} gaps never filled, of unknown cause{unknown}",
        plural(lost, "packet"),
        sum(|row| row.fabric_lost_upstream_packets),
        sum(|row| row.fabric_lost_downstream_packets + row.unanswered_packets),
        sum(|row| row.unfilled_gap_packets),
        gaps
    );
    let text = match report.sampled_one_of {
        None => of_all,
        Some(one_of) => format!(
            "Fabric loss  unknown: the mirror samples about 1 of {one_of} packets; so are retransmissions, gaps and round trips"
        ),
    };
    let is_trouble = report.sampled_one_of.is_none() && lost + gaps + unresolved > 0;
    writeln!(out, "{}", color.trouble(is_trouble, &text))?;
    writeln!(
        out,
        "Requests     {} retransmitted, {} out of order, {} duplicate",
        sum(|row| row.retransmitted_packets),
        sum(|row| row.out_of_order_packets),
        sum(|row| row.duplicate_packets)
    )?;
    writeln!(
        out,
        "Responses    {} PSN sequence error NAKs, {} RNR NAKs, {} fatal NAKs, {} CNPs",
        sum(|row| row.nak_psn_sequence),
        sum(|row| row.rnr_nak),
        sum(|row| row.nak_fatal),
        sum(|row| row.cnp_sent_packets)
    )?;
    if let Some(summary) = report.summary.filter(|summary| summary.tcp_handshakes > 0) {
        writeln!(
            out,
            "TCP          {}, ambiguous for {}",
            plural(summary.tcp_handshakes, "handshake"),
            plural(summary.tcp_ambiguous, "connection")
        )?;
    }
    if let Some(summary) = report.summary.filter(|summary| summary.delivery.untracked_packets > 0) {
        writeln!(
            out,
            "Untracked    {} packets of directions that found no room; {} idle ones gave way (--connection-memory)",
            summary.delivery.untracked_packets, summary.evicted
        )?;
    }
    write_owners(out, all)?;
    let shown = &all[..all.len().min(report.max_rows)];
    if shown.len() < all.len() {
        writeln!(
            out,
            "\nThe {} worst of {} connections, by fatal NAKs, then loss and retransmissions, then waits and marks (--top, or -o \
             json for all)",
            shown.len(),
            all.len()
        )?;
    } else {
        writeln!(out)?;
    }
    let rows = owned(shown);
    if rows.rows() > 0 {
        let mut columns = ALWAYS.to_vec();
        columns.extend(SOMETIMES.iter().filter(|name| has_any(&rows, name)));
        columns.extend(["paired_by", "state"]);
        out.push_str(&table(&rows, &columns, &DROPPED_FIRST, report));
    }
    if !report.events.is_empty() {
        let mut worst: Vec<&EventRow> = report.events.iter().collect();
        worst.sort_by_key(|event| (EventRow::gravity(&event.kind), event.time_ns));
        worst.truncate(report.max_rows);
        writeln!(
            out,
            "\nEvents  {} of {}, the most severe first",
            worst.len(),
            report.events.len()
        )?;
        let worst: Vec<EventRow> = worst.into_iter().cloned().collect();
        out.push_str(&table(&worst, &EVENTS, &EVENTS_DROPPED_FIRST, report));
    }
    Ok(())
}

/// How many ends have an owner; nothing where nothing is known of any.
fn write_owners(out: &mut String, all: &[Connection]) -> std::fmt::Result {
    let count = |is: fn(&Answer) -> bool| all.iter().flat_map(|c| &c.owners).filter(|end| is(end)).count();
    let known = count(|end| end.owner().is_some());
    let ambiguous = count(|end| *end == Answer::Ambiguous);
    let of = match (known, ambiguous) {
        (0, 0) => return Ok(()),
        (_, 0) => String::new(),
        (_, ambiguous) => format!("; {ambiguous} ambiguous: several processes may have had the number at that time"),
    };
    writeln!(out, "Owners       of {known} of {} ends{of}", 2 * all.len())
}

fn has_any(rows: &dyn Cells, name: &str) -> bool {
    let Some(column) = rows.table().position(name) else {
        return false;
    };
    (0..rows.rows()).any(|row| !matches!(rows.value(row, column), Value::Null | Value::I64(0)))
}

fn table(cells: &dyn Cells, columns: &[&str], dropped_first: &[&str], report: &Report<'_>) -> String {
    let options = Options {
        columns: Some(columns),
        human: true,
        hosts: Some(report.hosts),
        ..Options::default()
    };
    let text = match report.width {
        Some(width) => render::fitted(cells, options, width.saturating_sub(INDENT), dropped_first),
        None => render::table(cells, options),
    };
    text.lines().map(|line| format!("  {line}\n")).collect()
}
