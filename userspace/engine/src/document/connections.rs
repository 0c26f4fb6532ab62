//! Connections, from a capture or a dataset, as text and as JSON.
//!
//! Both are made from rows of `connections`, so a dataset prints what the capture printed.

mod text;

pub use text::text;

use rocescope_diagnose::owners::{Answer, Owner, Owners, ends};
use rocescope_model::filter::RowFilter;
use rocescope_model::hosts::Hosts;
use rocescope_model::json::{self, Object, Row, Rows};
use rocescope_model::{Column, ConnectionOwnersRow, ConnectionRow, EventRow, OwnedConnections};
use rocescope_pipeline::connections::ConnectionSummary;
use rocescope_store::TimeRange;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The two directions of a connection.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    /// What `a` sent.
    pub a_to_b: Option<ConnectionRow>,
    /// What `b` sent.
    pub b_to_a: Option<ConnectionRow>,
    /// Whose `a` and `b` are.
    owners: [Answer; 2],
}

impl Connection {
    /// The directions that were seen.
    pub fn directions(&self) -> impl Iterator<Item = &ConnectionRow> {
        self.a_to_b.iter().chain(&self.b_to_a)
    }

    /// Whether a direction matches the filter.
    #[must_use]
    pub fn matches(&self, filter: &RowFilter) -> bool {
        self.owned_directions().any(|(row, owners)| {
            let cells = OwnedConnections {
                rows: std::slice::from_ref(row),
                owners: [owners],
            };
            filter.matches(&cells, 0)
        })
    }

    /// The directions that were seen, each with its owners.
    fn owned_directions(&self) -> impl Iterator<Item = (&ConnectionRow, ConnectionOwnersRow)> {
        let [a, b] = &self.owners;
        let there = self.a_to_b.iter().map(|row| (row, [a.clone(), b.clone()]));
        let back = self.b_to_a.iter().map(|row| (row, [b.clone(), a.clone()]));
        there.chain(back).map(|(row, ends)| (row, ends::row_of(row, &ends)))
    }

    /// Any direction, for the columns that both share.
    fn either(&self) -> Option<&ConnectionRow> {
        self.directions().next()
    }

    fn first_ns(&self) -> i64 {
        let begun = |row: &ConnectionRow| row.first_ns.unwrap_or(row.last_ns);
        self.directions().map(begun).min().unwrap_or(0)
    }

    fn trouble(&self) -> [u64; 5] {
        ConnectionRow::trouble(self.directions())
    }
}

/// Names the owners of connections.
pub fn name(connections: &mut [Connection], owners: &Owners) {
    for connection in connections {
        connection.owners = owners.both(connection.a_to_b.as_ref(), connection.b_to_a.as_ref());
    }
}

/// Whether anything is known of the owners of these connections.
#[must_use]
pub fn has_owners(connections: &[Connection]) -> bool {
    let mut ends = connections.iter().flat_map(|connection| &connection.owners);
    ends.any(|end| *end != Answer::Unknown)
}

/// The directions of these connections with their owners.
#[must_use]
pub fn owned(connections: &[Connection]) -> OwnedConnections {
    let directions = connections.iter().flat_map(Connection::owned_directions);
    let (rows, owners) = directions.map(|(row, owners)| (row.clone(), owners)).unzip();
    OwnedConnections { rows, owners }
}

/// Groups rows by connection, with the latest row of each direction, the worst first.
#[must_use]
pub fn gather(rows: Vec<ConnectionRow>) -> Vec<Connection> {
    let mut gathered = Gathered::default();
    rows.into_iter().for_each(|row| gathered.add(row));
    gathered.finish()
}

/// Groups rows by connection, with one row of each direction: rows are cumulative.
#[derive(Debug, Default)]
pub struct Gathered {
    found: BTreeMap<(String, i64), Connection>,
    /// The requested time.
    time: TimeRange,
}

impl Gathered {
    /// Connections that are alive in this time. Each has the latest row in it, else the first one after it.
    #[must_use]
    pub fn within(time: TimeRange) -> Self {
        Self {
            time,
            ..Self::default()
        }
    }

    /// Adds a row.
    pub fn add(&mut self, row: ConnectionRow) {
        let key = (row.observer.to_string(), row.connection);
        let connection = self.found.entry(key).or_default();
        let slot = if &*row.role == "b_to_a" {
            &mut connection.b_to_a
        } else {
            &mut connection.a_to_b
        };
        let late = |row: &ConnectionRow| self.time.to.is_some_and(|to| row.time_ns >= to.0);
        let replaces = slot.as_ref().is_none_or(|known| match late(&row) {
            false => late(known) || known.time_ns <= row.time_ns,
            true => late(known) && row.time_ns < known.time_ns,
        });
        if replaces {
            *slot = Some(row);
        }
    }

    /// The connections, the worst first: see [`ConnectionRow::trouble`].
    #[must_use]
    pub fn finish(self) -> Vec<Connection> {
        let from = self.time.from.map_or(i64::MIN, |from| from.0);
        let to = self.time.to.map_or(i64::MAX, |to| to.0);
        let lived = |row: &ConnectionRow| row.last_ns >= from && row.first_ns.unwrap_or(row.last_ns) < to;
        let connections = self.found.into_values();
        let mut connections: Vec<Connection> = connections
            .filter(|connection| connection.directions().any(lived))
            .collect();
        connections.sort_by_key(|connection| (Reverse(connection.trouble()), connection.first_ns()));
        connections
    }
}

/// The content of the output.
#[derive(Debug)]
pub struct Report<'a> {
    /// Name of the file or dataset.
    pub source: &'a str,
    /// The connections.
    pub connections: &'a [Connection],
    /// Their events.
    pub events: &'a [EventRow],
    /// Counters of the connection state, if it was built by this process.
    pub summary: Option<ConnectionSummary>,
    /// The number of packets for each that the tap has, if its mirror samples: then no loss is known.
    pub sampled_one_of: Option<u64>,
    /// Maximum number of connections and events in text.
    pub max_rows: usize,
    /// Names of addresses.
    pub hosts: &'a Hosts,
    /// Columns of the terminal, if the text is for one.
    pub width: Option<usize>,
}

/// Columns in the JSON object of the connection instead of each direction.
const SHARED: [&str; 17] = [
    "observer",
    "time",
    "time_ns",
    "connection",
    "role",
    "state",
    "service",
    "paired_by",
    "vlan",
    "inner_vlan",
    "vni",
    "path_mtu_bytes",
    "clock_error_ns",
    "tcp_rtt_ns",
    "tcp_candidates",
    "request_to_reply_ns",
    "reply_to_ready_ns",
];
/// Columns in the objects `a` and `b`.
const ENDS: [&str; 6] = ["src", "dst", "src_qpn", "dst_qpn", "udp_src_port", "start_psn"];

#[derive(Serialize)]
struct Document<'a> {
    source: &'a str,
    connections: Vec<ConnectionDocument<'a>>,
    events: Rows<'a, [EventRow], Wanted>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sampled_one_of: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<Object<&'static str, u64>>,
}

#[derive(Serialize)]
struct ConnectionDocument<'a> {
    a: End,
    b: End,
    #[serde(flatten)]
    shared: Row<'a, ConnectionRow, Wanted>,
    a_to_b: Row<'a, ConnectionRow, Wanted>,
    b_to_a: Row<'a, ConnectionRow, Wanted>,
}

#[derive(Serialize)]
struct End {
    ip: Option<IpAddr>,
    qpn: Option<u32>,
    udp_src_port: Option<u16>,
    start_psn: Option<u32>,
    /// Absent if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<Owner>,
    /// Present if several queue pairs may be meant.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    owner_ambiguous: bool,
}

type Wanted = fn(&Column) -> bool;

/// One JSON object.
#[must_use]
pub fn json(report: &Report<'_>) -> String {
    let none = ConnectionRow::default();
    let connections = report.connections.iter();
    json::pretty(&Document {
        source: report.source,
        connections: connections
            .filter_map(|connection| ConnectionDocument::of(connection, &none))
            .collect(),
        events: Rows(report.events, |column| column.name != "observer"),
        sampled_one_of: report.sampled_one_of,
        summary: report.summary.as_ref().map(|summary| Object(counts(summary))),
    }) + "\n"
}

fn counts(summary: &ConnectionSummary) -> Vec<(&'static str, u64)> {
    vec![
        ("connections", summary.connections),
        ("evicted", summary.evicted),
        ("untracked_packets", summary.delivery.untracked_packets),
        ("unpaired", summary.unpaired),
        ("management_packets", summary.management_packets),
        ("tcp_handshakes", summary.tcp_handshakes),
        ("tcp_ambiguous", summary.tcp_ambiguous),
        ("hurried_runs", summary.hurried_runs),
        ("events_dropped", summary.events_dropped),
    ]
}

impl<'a> ConnectionDocument<'a> {
    /// `None` without a direction; `none` is the row of a missing direction.
    fn of(connection: &'a Connection, none: &'a ConnectionRow) -> Option<Self> {
        let either = connection.either()?;
        let (a, b) = (connection.a_to_b.as_ref(), connection.b_to_a.as_ref());
        let direction = |row: Option<&'a ConnectionRow>| {
            let wanted: Wanted = |column| !SHARED.contains(&column.name) && !ENDS.contains(&column.name);
            Row(row.unwrap_or(none), wanted)
        };
        Some(Self {
            a: End::of(a, b, &connection.owners[0]),
            b: End::of(b, a, &connection.owners[1]),
            shared: Row(either, |column| SHARED.contains(&column.name) && column.name != "role"),
            a_to_b: direction(a),
            b_to_a: direction(b),
        })
    }
}

impl End {
    fn of(sent: Option<&ConnectionRow>, received: Option<&ConnectionRow>, owner: &Answer) -> Self {
        let (ip, qpn) = match (sent, received) {
            (Some(row), _) => (Some(row.src), row.src_qpn),
            (None, Some(row)) => (Some(row.dst), row.dst_qpn),
            (None, None) => (None, None),
        };
        Self {
            ip,
            qpn,
            udp_src_port: sent.and_then(|row| row.udp_src_port),
            start_psn: sent.and_then(|row| row.start_psn),
            owner: owner.owner().cloned(),
            owner_ambiguous: *owner == Answer::Ambiguous,
        }
    }
}
