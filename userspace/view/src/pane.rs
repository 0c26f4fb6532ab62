//! A table on the screen: its columns with their priorities, its order and its selected row.

use crate::filter::Matcher;
use crate::format;
use crate::recent::Shown;
use crate::sort;
use rocescope_model::{
    Cells, EventRow, FlowRow, GroupRow, HostPortRow, IncidentRow, LoopbackRow, OWNED_CONNECTIONS, OpcodeRow, PairRow,
    Row, Table, Value, human,
};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pane {
    /// Top flows.
    Flows,
    /// Opcode mix.
    Opcodes,
    /// Each direction of each connection.
    Connections,
    /// Events, the latest first.
    Events,
    /// The mesh of probes, drawn as a matrix.
    Mesh,
    /// Traffic by source, destination, queue pair or opcode.
    Groups,
    /// Ports of hosts, from their counters.
    Hosts,
    /// Incidents: what is wrong, where, since when, and what to do.
    Incidents,
    /// Loopback tests inside hosts, drawn as a matrix.
    Inside,
}

/// What a column of the screen shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// A column of the table, by position.
    Column(usize),
    /// Marks of a flow: retransmissions, elephant, jitter, congestion, estimate; of a port: errors, pause, congestion.
    Flags,
    /// Rates of the latest windows.
    Spark,
    /// The row's share of all packets.
    Share,
}

/// Columns from left to right with their priorities when not all fit.
type Columns = &'static [(&'static str, u8)];

const FLAGS: &str = "(flags)";
const SPARK: &str = "(spark)";
const SHARE: &str = "(share)";

const FLOWS: Columns = &[
    ("rank", 12),
    ("src", 20),
    ("dst", 20),
    ("udp_src_port", 5),
    ("dst_qpn", 16),
    ("service", 4),
    (FLAGS, 14),
    ("packets", 8),
    ("frame_bytes", 9),
    ("retransmitted_packets", 7),
    ("error_frame_bytes", 6),
    ("messages", 4),
    ("ecn_ce_packets", 3),
    ("payload_bps", 2),
    ("frame_bps", 18),
    (SPARK, 10),
];
const OPCODES: Columns = &[
    ("opcode", 20),
    ("packets", 18),
    ("frame_bps", 10),
    ("rate_pps", 8),
    ("payload_bytes", 2),
    ("messages", 3),
    (SHARE, 19),
];
const CONNECTIONS: Columns = &[
    ("src", 20),
    ("src_qpn", 8),
    ("dst", 20),
    ("dst_qpn", 16),
    ("owners", 15),
    ("service", 2),
    ("state", 3),
    ("packets", 7),
    ("retransmitted_packets", 14),
    ("fabric_lost_upstream_packets", 12),
    ("fabric_lost_downstream_packets", 11),
    ("nak_psn_sequence", 6),
    ("rnr_nak", 6),
    ("timeouts", 4),
    ("cnp_received_packets", 5),
    ("out_of_order_packets", 1),
    ("rtt_p50_ns", 15),
    ("rtt_p99_ns", 13),
];
const EVENTS: Columns = &[
    ("time", 20),
    ("kind", 19),
    ("src", 10),
    ("dst", 10),
    ("dst_qpn", 9),
    ("count", 6),
    ("psn", 3),
    ("syndrome", 2),
    ("detail", 15),
];
const GROUPS: Columns = &[
    ("group", 20),
    ("flows", 8),
    ("packets", 9),
    ("frame_bytes", 12),
    ("error_frame_bytes", 7),
    ("messages", 4),
    ("ecn_ce_packets", 3),
    ("retransmitted_packets", 10),
    ("frame_bps", 18),
    (SHARE, 19),
];
const HOSTS: Columns = &[
    ("observer", 17),
    ("device", 20),
    ("port", 12),
    (FLAGS, 15),
    ("state", 19),
    ("sent_bps", 14),
    ("received_bps", 13),
    ("paused_ratio", 10),
    ("pausing_ratio", 9),
    ("cnp_sent_pps", 6),
    ("cnp_handled_pps", 8),
    ("ecn_marked_pps", 5),
    ("errors", 18),
    ("detail", 11),
];
const INCIDENTS: Columns = &[
    ("state", 12),
    ("class", 20),
    ("place", 19),
    ("since_ns", 18),
    ("certainty", 6),
    ("victims", 8),
    ("lost_packets", 9),
    ("sentence", 17),
];
/// What sorts the tests inside hosts; latency is shown if it sorts, else bandwidth.
const INSIDE: Columns = &[
    ("observer", 5),
    ("nic", 4),
    ("endpoint", 3),
    ("measured_bps", 2),
    ("latency_ns", 1),
];
/// The metrics of the matrix, one at a time.
const MESH: Columns = &[
    ("drop_ratio", 5),
    ("network_p50_ns", 4),
    ("network_p99_ns", 3),
    ("processing_p50_ns", 2),
    ("processing_p99_ns", 1),
];

impl Pane {
    /// Every pane, in order.
    pub const ALL: [Self; 9] = [
        Self::Flows,
        Self::Opcodes,
        Self::Connections,
        Self::Events,
        Self::Mesh,
        Self::Groups,
        Self::Hosts,
        Self::Incidents,
        Self::Inside,
    ];

    /// Its table.
    #[must_use]
    pub const fn table(self) -> &'static Table {
        match self {
            Self::Flows => FlowRow::TABLE,
            Self::Opcodes => OpcodeRow::TABLE,
            Self::Connections => &OWNED_CONNECTIONS,
            Self::Events => EventRow::TABLE,
            Self::Mesh => PairRow::TABLE,
            Self::Groups => GroupRow::TABLE,
            Self::Hosts => HostPortRow::TABLE,
            Self::Incidents => IncidentRow::TABLE,
            Self::Inside => LoopbackRow::TABLE,
        }
    }

    /// Its heading.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Flows => "Flows",
            Self::Opcodes => "Opcodes",
            Self::Connections => "Connections",
            Self::Events => "Events",
            Self::Mesh => "Mesh",
            Self::Groups => "By",
            Self::Hosts => "Hosts",
            Self::Incidents => "Incidents",
            Self::Inside => "Inside",
        }
    }

    /// Its rows.
    #[must_use]
    pub fn cells(self, shown: &Shown) -> &dyn Cells {
        match self {
            Self::Flows => &shown.rows.flows,
            Self::Opcodes => &shown.rows.opcodes,
            Self::Connections => &shown.connections,
            Self::Events => &shown.events,
            Self::Mesh => &shown.mesh.pairs,
            Self::Groups => &shown.groups,
            Self::Hosts => &*shown.host_ports,
            Self::Incidents => &shown.incidents,
            Self::Inside => &shown.inside.rows,
        }
    }

    const fn columns(self) -> Columns {
        match self {
            Self::Flows => FLOWS,
            Self::Opcodes => OPCODES,
            Self::Connections => CONNECTIONS,
            Self::Events => EVENTS,
            Self::Mesh => MESH,
            Self::Groups => GROUPS,
            Self::Hosts => HOSTS,
            Self::Incidents => INCIDENTS,
            Self::Inside => INSIDE,
        }
    }

    /// The default column to sort by, and whether the largest comes first.
    const fn sorted_by(self) -> (&'static str, bool) {
        match self {
            Self::Flows => ("frame_bps", true),
            Self::Opcodes => ("packets", true),
            Self::Connections => ("retransmitted_packets", true),
            Self::Events => ("time", true),
            Self::Mesh => ("drop_ratio", true),
            Self::Groups => ("frame_bps", true),
            Self::Hosts => ("errors", true),
            // Open ones first; those of one state in the order in which they came, the worst first.
            Self::Incidents => ("state", true),
            // As they were measured: NIC by NIC.
            Self::Inside => ("observer", false),
        }
    }

    /// The slots from left to right with their priorities.
    pub(crate) fn slots(self) -> impl Iterator<Item = (Slot, u8)> {
        self.columns().iter().filter_map(move |(name, priority)| {
            let slot = match *name {
                FLAGS => Slot::Flags,
                SPARK => Slot::Spark,
                SHARE => Slot::Share,
                name => Slot::Column(self.table().position(name)?),
            };
            Some((slot, *priority))
        })
    }
}

/// A table as it is shown.
#[derive(Debug)]
pub struct Listing {
    /// Which table.
    pub pane: Pane,
    /// Position of the column it is sorted by.
    pub sort: usize,
    /// Whether the largest comes first.
    pub descending: bool,
    /// The rows shown, in order.
    pub order: Vec<u32>,
    /// Width of the cells of each column.
    pub widths: Vec<usize>,
    /// Position of the selected row in the order.
    pub cursor: usize,
    /// Identity of the selected row, to find it when the order changes; `None` keeps the first row selected.
    pinned: Option<u64>,
}

impl Listing {
    pub(crate) fn new(pane: Pane) -> Self {
        let (column, descending) = pane.sorted_by();
        Self {
            pane,
            sort: pane.table().position(column).unwrap_or(0),
            descending,
            order: Vec::new(),
            widths: vec![0; pane.table().columns.len()],
            cursor: 0,
            pinned: None,
        }
    }

    /// Sorts by this column in its default direction.
    pub(crate) fn sort_by(&mut self, column: usize) {
        self.sort = column;
        self.descending = sort::is_descending(&self.pane.table().columns[column]);
    }

    /// Filters, sorts and measures the rows.
    pub(crate) fn arrange(&mut self, cells: &dyn Cells, matcher: Option<&Matcher>) {
        let rows = (0..cells.rows()).filter(|row| matcher.is_none_or(|matcher| matcher.matches(cells, *row)));
        self.order = sort::order(cells, rows, self.sort, self.descending);
        self.measure(cells);
        self.find_pinned(cells);
    }

    fn measure(&mut self, cells: &dyn Cells) {
        let columns = self.pane.table().columns.iter().enumerate();
        for (at, column) in columns {
            self.widths[at] = format::width(column).unwrap_or_else(|| {
                let wanted = self.pane.slots().any(|(slot, _)| slot == Slot::Column(at));
                if !wanted && at != self.sort {
                    return 0;
                }
                // The widths of the first thousand rows suffice: users rarely scroll further.
                let rows = self.order.iter().take(1_000);
                let width = |row: &u32| match cells.value(*row as usize, at) {
                    Value::Text(text) => text.chars().count(),
                    Value::I64(number) => decimal_width(number),
                    value => {
                        let unit = human::unit(cells, *row as usize, at);
                        human::readable(&value, unit).chars().count()
                    }
                };
                rows.map(width).max().unwrap_or(0)
            });
        }
    }

    fn find_pinned(&mut self, cells: &dyn Cells) {
        let found = self.pinned.and_then(|pinned| {
            let mut rows = self.order.iter();
            rows.position(|row| identity(self.pane, cells, *row as usize) == pinned)
        });
        self.cursor = match found {
            Some(at) => at,
            None => self.cursor.min(self.order.len().saturating_sub(1)),
        };
        if self.pinned.is_none() {
            self.cursor = 0;
        }
    }

    /// Selects the row at this position of the order.
    pub(crate) fn choose(&mut self, place: usize, cells: &dyn Cells) {
        self.cursor = place.min(self.order.len().saturating_sub(1));
        self.pinned = match self.order.get(self.cursor) {
            Some(row) if self.cursor > 0 => Some(identity(self.pane, cells, *row as usize)),
            _ => None,
        };
    }

    /// Pins the selected row, also if it is the first.
    pub(crate) fn pin(&mut self, cells: &dyn Cells) {
        let row = self.order.get(self.cursor);
        self.pinned = row.map(|row| identity(self.pane, cells, *row as usize));
    }

    /// The selected row.
    #[must_use]
    pub fn chosen(&self) -> Option<usize> {
        self.order.get(self.cursor).map(|row| *row as usize)
    }

    /// The first visible position on a screen of `height` rows.
    #[must_use]
    pub fn first(&self, height: usize) -> usize {
        // The selected row stays a few rows from the edge when the list scrolls.
        let margin = (height / 4).min(3);
        let last = self.order.len().saturating_sub(height);
        (self.cursor + margin + 1).saturating_sub(height).min(last)
    }
}

fn decimal_width(number: i64) -> usize {
    let digits = number.unsigned_abs().checked_ilog10().unwrap_or(0) as usize + 1;
    digits + usize::from(number < 0)
}

/// A hash of the columns that identify a row from window to window.
fn identity(pane: Pane, cells: &dyn Cells, row: usize) -> u64 {
    let columns: &[&str] = match pane {
        Pane::Flows => &["observer", "flow_hash"],
        Pane::Opcodes => &["opcode_number"],
        Pane::Connections => &["observer", "connection", "role"],
        Pane::Events => &["time_ns", "kind", "src", "dst", "dst_qpn", "psn"],
        Pane::Mesh => &["src", "dst"],
        Pane::Groups => &["group"],
        Pane::Hosts => &["observer", "device", "port"],
        Pane::Incidents => &["class", "place", "since_ns"],
        Pane::Inside => &["observer", "nic", "endpoint"],
    };
    let mut hasher = DefaultHasher::new();
    for column in columns.iter().filter_map(|name| pane.table().position(name)) {
        match cells.value(row, column) {
            Value::I64(number) => number.hash(&mut hasher),
            Value::Text(text) => text.hash(&mut hasher),
            _ => 0_u8.hash(&mut hasher),
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(flow_hash: i64, src: &str, frame_bps: f64) -> FlowRow {
        FlowRow {
            flow_hash,
            src: src.parse().unwrap(),
            frame_bps,
            ..FlowRow::default()
        }
    }

    #[test]
    fn every_column_of_a_pane_is_in_the_registry() {
        for pane in Pane::ALL {
            assert_eq!(pane.slots().count(), pane.columns().len(), "{pane:?}");
            assert!(pane.table().position(pane.sorted_by().0).is_some());
        }
    }

    #[test]
    fn addresses_sort_as_numbers_and_nulls_come_last() {
        let rows = vec![
            flow(1, "10.0.0.10", 1.0),
            flow(2, "10.0.0.9", 3.0),
            flow(3, "fd00::1", 2.0),
        ];
        let mut listing = Listing::new(Pane::Flows);
        listing.arrange(&rows, None);
        assert_eq!(listing.order, [1, 2, 0], "by rate, the largest first");
        listing.sort_by(FlowRow::TABLE.position("src").unwrap());
        listing.arrange(&rows, None);
        assert_eq!(listing.order, [1, 0, 2]);
        listing.sort_by(FlowRow::TABLE.position("vlan").unwrap());
        let mut tagged = rows;
        tagged[2].vlan = Some(7);
        for descending in [true, false] {
            listing.descending = descending;
            listing.arrange(&tagged, None);
            assert_eq!(listing.order, [2, 0, 1]);
        }
    }

    #[test]
    fn the_selected_row_is_found_again_and_the_first_stays_the_first() {
        let mut rows = vec![flow(1, "10.0.0.1", 3.0), flow(2, "10.0.0.2", 2.0)];
        let mut listing = Listing::new(Pane::Flows);
        listing.arrange(&rows, None);
        listing.choose(1, &rows);
        rows[1].frame_bps = 9.0;
        listing.arrange(&rows, None);
        assert_eq!((listing.cursor, listing.chosen()), (0, Some(1)));
        listing.choose(0, &rows);
        rows[0].frame_bps = 99.0;
        listing.arrange(&rows, None);
        assert_eq!((listing.cursor, listing.chosen()), (0, Some(0)));
    }
}
