//! The figures of each table, side by side.

use super::connections::{Suffered, columns};
use super::{Change, Side};
use crate::Report;
use rocescope_model::{EventRow, FlowRow, Row, Rule, Unit, Value, WindowRow};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn tables(a: &Side, b: &Side) -> Vec<(&'static str, Vec<Change>)> {
    vec![
        ("windows", windows(&a.report, &b.report)),
        ("flows", flows(&a.report, &b.report)),
        ("opcodes", opcodes(&a.report, &b.report)),
        ("connections", connections(a, b)),
        ("connections, each", each_connection(a, b)),
        ("events", events(a, b)),
        ("pairs", pairs(&a.report, &b.report)),
    ]
}

/// A count for each second that the windows cover; `None` without windows.
fn rate(report: &Report, count: f64) -> Option<f64> {
    let covered = report.totals.covered_ns as f64 / 1e9;
    (covered > 0.0).then(|| count / covered)
}

/// Sums as rates, and ratios as they are.
fn windows(a: &Report, b: &Report) -> Vec<Change> {
    let mut changes = Vec::new();
    for (at, column) in WindowRow::TABLE.columns.iter().enumerate() {
        let is_sum = column.aggregate.time.is_sum();
        if !column.kind.is_number() || !(is_sum || matches!(column.aggregate.time, Rule::Ratio { .. })) {
            continue;
        }
        // Bytes for each second are a rate in bits.
        let is_bytes = column.unit == Unit::Bytes;
        let value = |report: &Report| {
            let value = number(&report.totals.sums.value(at)).filter(|_| !report.is_empty())?;
            match is_sum {
                true => rate(report, if is_bytes { value * 8.0 } else { value }),
                false => Some(value),
            }
        };
        let unit = if is_bytes { Unit::BitsPerSecond } else { column.unit };
        changes.push(Change::new(column.name, unit, is_sum && !is_bytes, value(a), value(b)));
    }
    changes
}

fn number(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::I64(number) => Some(*number as f64),
        Value::F64(number) => Some(*number),
        _ => None,
    }
}

/// The frame rate of each flow. Observers are compared by name if both sides have the same ones.
fn flows(a: &Report, b: &Report) -> Vec<Change> {
    let is_same = a.observers == b.observers && a.observers.len() > 1;
    let rates = |report: &Report| {
        let mut rates: BTreeMap<String, f64> = BTreeMap::new();
        for row in &report.flows.rows {
            let rate = rates.entry(name(row, is_same)).or_default();
            // Of several observers, the one that saw most of the flow.
            *rate = rate.max(row.frame_bps);
        }
        rates
    };
    let (in_a, in_b) = (rates(a), rates(b));
    let names: BTreeSet<&String> = in_a.keys().chain(in_b.keys()).collect();
    let value = |report: &Report, rates: &BTreeMap<String, f64>, name: &str| match rates.get(name) {
        Some(rate) => Some(*rate),
        None => (!report.is_empty() && report.flows.distinct_exact).then_some(0.0),
    };
    let change = |name: &String| {
        let (a, b) = (value(a, &in_a, name), value(b, &in_b, name));
        Change::new(name, Unit::BitsPerSecond, false, a, b)
    };
    names.into_iter().map(change).collect()
}

fn name(row: &FlowRow, with_observer: bool) -> String {
    let mut name = format!("{} → {} QP {}", row.src, row.dst, row.dst_qpn);
    for (what, number) in [
        ("port", row.udp_src_port.map(u32::from)),
        ("VLAN", row.vlan.map(u32::from)),
        ("inner VLAN", row.inner_vlan.map(u32::from)),
        ("VNI", row.vni),
    ] {
        if let Some(number) = number {
            name += &format!(" {what} {number}");
        }
    }
    if with_observer {
        name += &format!(" at {}", row.observer);
    }
    name
}

fn opcodes(a: &Report, b: &Report) -> Vec<Change> {
    let packets = |report: &Report| {
        let rows = report.opcodes.rows.iter();
        rows.map(|row| (row.opcode.to_string(), row.packets as f64))
            .collect::<BTreeMap<_, _>>()
    };
    counts((a, &packets(a)), (b, &packets(b)), Unit::Packets)
}

/// Counts by name for each second; a name that a side does not have is 0 there.
fn counts(
    (a, in_a): (&Report, &BTreeMap<String, f64>),
    (b, in_b): (&Report, &BTreeMap<String, f64>),
    unit: Unit,
) -> Vec<Change> {
    let names: BTreeSet<&String> = in_a.keys().chain(in_b.keys()).collect();
    let of =
        |report, counts: &BTreeMap<String, f64>, name: &String| rate(report, counts.get(name).copied().unwrap_or(0.0));
    let names = names.into_iter();
    names
        .map(|name| Change::new(name, unit, true, of(a, in_a, name), of(b, in_b, name)))
        .collect()
}

fn connections(a: &Side, b: &Side) -> Vec<Change> {
    let mut changes = Vec::new();
    let sums = |side: &Side| side.connections.is_tracked().then(|| side.connections.counts());
    let (of_a, of_b) = (sums(a), sums(b));
    for (place, (_, column)) in columns().enumerate() {
        let value = |side: &Side, sums: &Option<Vec<i64>>| {
            let sum = *sums.as_ref()?.get(place)? as f64;
            let is_bytes = column.unit == Unit::Bytes;
            rate(&side.report, if is_bytes { sum * 8.0 } else { sum })
        };
        let (unit, per_second) = match column.unit {
            Unit::Bytes => (Unit::BitsPerSecond, false),
            unit => (unit, true),
        };
        changes.push(Change::new(
            column.name,
            unit,
            per_second,
            value(a, &of_a),
            value(b, &of_b),
        ));
    }
    // What is lost of what was sent does not depend on the load.
    let ratio = |sums: &Option<Vec<i64>>, of: &[&str]| {
        let sums = sums.as_ref()?;
        let at = |name: &str| {
            let place = columns().position(|(_, column)| column.name == name)?;
            sums.get(place).map(|sum| *sum as f64)
        };
        let packets = at("packets").filter(|packets| *packets > 0.0)?;
        Some(of.iter().filter_map(|name| at(name)).sum::<f64>() / packets)
    };
    for (figure, of) in [
        ("retransmission ratio", &["retransmitted_packets"][..]),
        (
            "fabric loss ratio",
            &["fabric_lost_upstream_packets", "fabric_lost_downstream_packets"],
        ),
    ] {
        changes.push(Change::new(
            figure,
            Unit::Ratio,
            false,
            ratio(&of_a, of),
            ratio(&of_b, of),
        ));
    }
    for (figure, share) in [("RTT p50", 0.5), ("RTT p99", 0.99), ("RTT max", 1.0)] {
        let value = |side: &Side| side.connections.round_trip_ns(share).map(|ns| ns as f64);
        changes.push(Change::new(figure, Unit::Nanoseconds, false, value(a), value(b)));
    }
    changes
}

type CountOf = fn(&Suffered) -> i64;

/// What each direction of a connection lost and retransmitted: which connection became worse?
fn each_connection(a: &Side, b: &Side) -> Vec<Change> {
    let (in_a, in_b) = (a.connections.suffered(), b.connections.suffered());
    let names: BTreeSet<&String> = in_a.keys().chain(in_b.keys()).collect();
    let figures: [(&str, CountOf); 2] = [
        ("lost packets", |suffered| suffered.lost_packets),
        ("retransmitted packets", |suffered| suffered.retransmitted_packets),
    ];
    let value = |side: &Side, all: &BTreeMap<String, Suffered>, name: &str, of: CountOf| {
        // A connection that is not there has lost nothing there, if connections were followed at all.
        let is_tracked = side.connections.is_tracked();
        let count = is_tracked.then(|| all.get(name).map_or(0, of))?;
        rate(&side.report, count as f64)
    };
    let changes = names.into_iter().flat_map(|name| {
        let value = &value;
        let (in_a, in_b) = (&in_a, &in_b);
        figures.map(|(figure, of)| {
            let (a, b) = (value(a, in_a, name, of), value(b, in_b, name, of));
            Change::new(format!("{name}: {figure}"), Unit::Packets, true, a, b)
        })
    });
    // Most connections suffer nothing.
    changes
        .filter(|change| change.a.unwrap_or(0.0) > 0.0 || change.b.unwrap_or(0.0) > 0.0)
        .collect()
}

fn events(a: &Side, b: &Side) -> Vec<Change> {
    let of = |side: &Side| {
        let kinds = side.report.events.kinds.iter();
        kinds
            .map(|kind| (kind.kind.clone(), kind.count as f64))
            .collect::<BTreeMap<_, _>>()
    };
    let (in_a, in_b) = (of(a), of(b));
    let mut changes = counts((&a.report, &in_a), (&b.report, &in_b), Unit::Events);
    for change in &mut changes {
        // Without connections these were not looked for.
        let is_known = |side: &Side, counts: &BTreeMap<String, f64>| {
            !EventRow::OF_CONNECTIONS.contains(&change.figure.as_str())
                || side.connections.is_tracked()
                || counts.contains_key(&change.figure)
        };
        let (known_a, known_b) = (is_known(a, &in_a), is_known(b, &in_b));
        *change = Change::new(
            change.figure.clone(),
            change.unit,
            change.per_second,
            change.a.filter(|_| known_a),
            change.b.filter(|_| known_b),
        );
    }
    changes
}

/// Probes between pairs of NICs: losses and latency.
fn pairs(a: &Report, b: &Report) -> Vec<Change> {
    type Figures = BTreeMap<(String, &'static str), (Unit, Option<f64>)>;
    let of = |report: &Report| {
        let mut figures = Figures::new();
        for row in report.mesh.iter().flat_map(|mesh| &mesh.pairs) {
            let name = format!("{} {} → {}", row.observer, row.src_nic, row.dst_nic);
            figures.insert((name.clone(), "drop ratio"), (Unit::Ratio, row.drop_ratio));
            let p99 = row.network_p99_ns.map(|ns| ns as f64);
            figures.insert((name, "network p99"), (Unit::Nanoseconds, p99));
        }
        figures
    };
    let (in_a, in_b) = (of(a), of(b));
    let keys: BTreeSet<_> = in_a.keys().chain(in_b.keys()).collect();
    let change = |key: &(String, &'static str)| {
        let (name, what) = key;
        let (a, b) = (in_a.get(key), in_b.get(key));
        let unit = a.or(b).map_or(Unit::None, |(unit, _)| *unit);
        let value = |found: Option<&(Unit, Option<f64>)>| found.and_then(|(_, value)| *value);
        Change::new(format!("{name}: {what}"), unit, false, value(a), value(b))
    };
    keys.into_iter().map(change).collect()
}
