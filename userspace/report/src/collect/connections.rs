//! Connections: the live ones, sums of the ended ones, and the worst.
//!
//! Rows of a direction are cumulative and written once a minute, those of rollups once a window, so the latest row is
//! valid. A connection is kept until it ends: its rows have the state `gone`, or two in turn are missing. Then it is added
//! to the sums and removed, unless it is among the worst. Memory is therefore bounded by the connections that a capture
//! follows at once, not by their number in a week.

use super::classes::Classes;
use super::connection::{Connection, silence_ns};
use super::owners::{OwnedBy, OwnerFigures, Owners};
use super::scope::Scope;
use super::top::Top;
use rocescope_diagnose::owners::Owners as Known;
use rocescope_model::filter::RowFilter;
use rocescope_model::{ConnectionRow, Over, QueuePairRow, Row, Value};
use std::collections::BTreeMap;

/// Number of connections at which the first search for ended ones starts.
const FIRST_LOOK: usize = 4_096;
/// Share of retransmitted packets from which a connection is named in a finding.
pub(crate) const RESENT_SHARE: f64 = 0.01;

/// Maximum number of connections that a finding names.
const NAMED: usize = 3;

/// Sums over the selected connections.
#[derive(Debug, Clone, Default)]
pub struct ConnectionFigures {
    /// Number of connections.
    pub count: u64,
    /// Number paired by CM, paired by ACKs, and not paired.
    pub paired: [u64; 3],
    /// Connections that retransmitted 1 % of their packets or more.
    pub resending: u64,
    /// Connections with any retransmission, loss or NAK.
    pub troubled: u64,
    /// Connections with round trips, and those whose p99 is at least ten times the median.
    pub timed: u64,
    /// See `timed`.
    pub uneven: u64,
    /// Traffic classes of all directions.
    pub classes: Classes,
    /// All directions merged into one row.
    sums: Option<ConnectionRow>,
    /// The few with the largest share of retransmissions, and the few with the most fatal NAKs, to name in findings.
    pub resent: Vec<Connection>,
    /// See `resent`.
    pub ended: Vec<Connection>,
    /// Those with the most problems, the worst first.
    pub worst: Vec<Connection>,
    /// Those with the longest round trips, the longest first.
    pub slowest: Vec<Connection>,
}

impl ConnectionFigures {
    /// Returns the sum of a column over all directions; 0 for a column that is not a sum.
    #[must_use]
    pub fn sum(&self, column: &str) -> u64 {
        let mut sums = self.sums();
        sums.find(|(name, _)| *name == column).map_or(0, |(_, sum)| sum)
    }

    /// Returns every sum with the name of its column.
    pub fn sums(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let columns = ConnectionRow::TABLE.columns.iter().enumerate();
        let summed = columns.filter(|(_, column)| column.aggregate.observers.is_sum());
        summed.map(move |(at, column)| match self.sums.as_ref().map(|row| row.value(at)) {
            Some(Value::I64(sum)) => (column.name, sum.unsigned_abs()),
            _ => (column.name, 0),
        })
    }

    /// Returns the fabric loss of all directions, in packets.
    #[must_use]
    pub fn fabric_lost_packets(&self) -> u64 {
        self.sums.as_ref().map_or(0, ConnectionRow::fabric_lost_packets)
    }

    fn add(&mut self, connection: &Connection) {
        self.count += 1;
        self.classes.add(connection);
        for row in connection.directions() {
            match &mut self.sums {
                Some(sums) => sums.merge(row, Over::Observers),
                None => self.sums = Some(row.without_sketches()),
            }
        }
        let by = connection.directions().next().map_or("", |row| &row.paired_by);
        let [cm, ack, none] = &mut self.paired;
        *match by {
            "cm" => cm,
            "ack" => ack,
            _ => none,
        } += 1;
        let [fatal, lost, ..] = connection.trouble();
        self.troubled += u64::from(fatal + lost > 0);
        self.resending += u64::from(connection.resent_share() >= RESENT_SHARE);
        self.timed += u64::from(connection.rtt_p99_ns().is_some());
        let uneven = |row: &ConnectionRow| match (row.rtt_p50_ns, row.rtt_p99_ns) {
            (Some(p50), Some(p99)) => p99 >= p50.saturating_mul(10),
            _ => false,
        };
        self.uneven += u64::from(connection.directions().any(uneven));
    }
}

/// Connections of one observer that may be live.
#[derive(Debug)]
struct Living {
    connections: BTreeMap<i64, Connection>,
    latest_ns: i64,
    look_at: usize,
}

impl Default for Living {
    fn default() -> Self {
        Self {
            connections: BTreeMap::new(),
            latest_ns: i64::MIN,
            look_at: FIRST_LOOK,
        }
    }
}

/// Connections so far.
#[derive(Debug)]
pub(super) struct Connections {
    /// By observer, because connection numbers are unique only within one.
    living: BTreeMap<String, Living>,
    /// How long a live direction has no row.
    silence_ns: i64,
    ended: Ended,
}

/// Sums of ended connections.
#[derive(Debug)]
struct Ended {
    figures: ConnectionFigures,
    resent: Top<u64, Connection>,
    ended: Top<u64, Connection>,
    worst: Top<[u64; 5], Connection>,
    slowest: Top<u64, Connection>,
    owners: Owners,
}

impl Ended {
    fn add(&mut self, connection: &Connection, scope: &Scope, filter: Option<&RowFilter>) {
        if !connection.is_wanted(scope, filter) {
            return;
        }
        self.figures.add(connection);
        self.owners.add(connection);
        let share = connection.resent_share();
        if share >= RESENT_SHARE {
            // Parts per million: ranks must be integers.
            self.resent.offer((share * 1e6) as u64, || connection.clone());
        }
        let trouble = connection.trouble();
        if trouble[0] > 0 {
            self.ended.offer(trouble[0], || connection.clone());
        }
        self.worst.offer(trouble, || connection.clone());
        if let Some(p99_ns) = connection.rtt_p99_ns() {
            self.slowest.offer(p99_ns, || connection.clone());
        }
    }
}

impl Connections {
    pub(super) fn new(top: usize, owned_by: OwnedBy) -> Self {
        Self {
            living: BTreeMap::new(),
            silence_ns: silence_ns(0),
            ended: Ended {
                figures: ConnectionFigures::default(),
                resent: Top::new(NAMED),
                ended: Top::new(NAMED),
                worst: Top::new(top),
                slowest: Top::new(top),
                owners: Owners::new(owned_by),
            },
        }
    }

    /// Sets the length of the longest window, before the connections.
    pub(super) const fn set_window(&mut self, window_ns: i64) {
        self.silence_ns = silence_ns(window_ns);
    }

    /// Whose queue pairs are.
    pub(super) const fn owners(&self) -> &Known {
        self.ended.owners.known()
    }

    /// Adds a queue pair, before the connections.
    pub(super) fn queue_pair(&mut self, row: &QueuePairRow) {
        self.ended.owners.queue_pair(row);
    }

    pub(super) fn add(&mut self, row: ConnectionRow, scope: &Scope, filter: Option<&RowFilter>) {
        if !self.living.contains_key(&*row.observer) {
            self.living.insert(row.observer.to_string(), Living::default());
        }
        let Some(living) = self.living.get_mut(&*row.observer) else {
            return;
        };
        living.latest_ns = living.latest_ns.max(row.time_ns);
        let connection = living.connections.entry(row.connection).or_default();
        let place = if &*row.role == "b_to_a" {
            &mut connection.b_to_a
        } else {
            &mut connection.a_to_b
        };
        // The latest row in the requested time, else the first one after it.
        let late = |row: &ConnectionRow| scope.to.is_some_and(|to| row.time_ns >= to.0);
        let later = place.as_ref().is_none_or(|known| {
            let in_time = !late(&row) && known.time_ns <= row.time_ns;
            in_time || (late(known) && row.time_ns < known.time_ns)
        });
        if later {
            *place = Some(row);
        }
        if living.connections.len() > living.look_at {
            let (latest_ns, silence_ns) = (living.latest_ns, self.silence_ns);
            let over = living
                .connections
                .extract_if(.., |_, connection| connection.is_over(latest_ns, silence_ns));
            over.for_each(|(_, connection)| self.ended.add(&connection, scope, filter));
            // Doubling keeps the cost of searches proportional to the number of rows.
            living.look_at = (living.connections.len() * 2).max(FIRST_LOOK);
        }
    }

    pub(super) fn finish(
        mut self,
        scope: &Scope,
        filter: Option<&RowFilter>,
    ) -> (ConnectionFigures, Option<OwnerFigures>) {
        let living = self.living.into_values().flat_map(|l| l.connections);
        for (_, connection) in living {
            self.ended.add(&connection, scope, filter);
        }
        let Ended { figures, owners, .. } = self.ended;
        let figures = ConnectionFigures {
            resent: self.ended.resent.into_sorted(),
            ended: self.ended.ended.into_sorted(),
            worst: named(self.ended.worst.into_sorted(), &owners),
            slowest: named(self.ended.slowest.into_sorted(), &owners),
            ..figures
        };
        (figures, owners.finish())
    }
}

/// The connections with the owners of their ends.
fn named(mut connections: Vec<Connection>, owners: &Owners) -> Vec<Connection> {
    connections.iter_mut().for_each(|connection| owners.name(connection));
    connections
}

#[cfg(test)]
mod tests {
    use super::{Connections, FIRST_LOOK, OwnedBy};
    use crate::collect::Scope;
    use rocescope_model::{ConnectionRow, Time};

    fn row(connection: i64, role: &'static str, time_ns: i64, packets: u64) -> ConnectionRow {
        ConnectionRow {
            connection,
            role: role.into(),
            time_ns,
            time: Time(time_ns),
            first_ns: Some(connection),
            last_ns: time_ns,
            packets,
            retransmitted_packets: packets / 10,
            ..ConnectionRow::default()
        }
    }

    #[test]
    fn of_rows_of_a_direction_the_latest_holds() {
        let mut connections = Connections::new(5, OwnedBy::Job);
        let scope = Scope::default();
        for (time_ns, packets) in [(10, 1), (30, 90), (20, 50)] {
            connections.add(row(1, "a_to_b", time_ns, packets), &scope, None);
        }
        connections.add(row(1, "b_to_a", 30, 10), &scope, None);
        let (figures, _) = connections.finish(&scope, None);
        assert_eq!((figures.count, figures.sum("packets")), (1, 100));
        assert_eq!(figures.sum("retransmitted_packets"), 10);
    }

    #[test]
    fn those_that_are_over_are_counted_once_and_not_kept() {
        let mut connections = Connections::new(3, OwnedBy::Job);
        let scope = Scope::default();
        let many = 5 * FIRST_LOOK as i64;
        for at in 0..many {
            for role in ["a_to_b", "b_to_a"] {
                let gone = ConnectionRow {
                    state: "gone".into(),
                    ..row(at, role, at, 10)
                };
                connections.add(gone, &scope, None);
            }
            assert!(connections.living[""].connections.len() <= FIRST_LOOK + 1);
        }
        let (figures, _) = connections.finish(&scope, None);
        assert_eq!(figures.count, many.unsigned_abs());
        assert_eq!(figures.sum("packets"), 20 * many.unsigned_abs());
        assert_eq!(figures.worst.len(), 3);
        assert!(figures.worst.iter().all(|c| c.directions().count() == 2));
    }

    /// Their number grows from hour to hour, so that those that are over are searched in the middle of an hour, before the
    /// rows of all others.
    #[test]
    fn rows_of_hours_are_of_the_same_connections() {
        const HOUR_NS: i64 = 3_600_000_000_000;
        let mut connections = Connections::new(3, OwnedBy::Job);
        connections.set_window(HOUR_NS);
        let scope = Scope::default();
        let first = FIRST_LOOK as i64;
        let of_hours = [first, 3 * first, 9 * first];
        for (hour, many) in of_hours.into_iter().enumerate() {
            let end_ns = (hour as i64 + 1) * HOUR_NS - 1;
            // New ones first.
            (1..=many)
                .rev()
                .for_each(|at| connections.add(row(at, "a_to_b", end_ns, 10), &scope, None));
        }
        let (figures, _) = connections.finish(&scope, None);
        assert_eq!(figures.count, of_hours[2].unsigned_abs());
        assert_eq!(figures.sum("packets"), 10 * of_hours[2].unsigned_abs());
    }

    #[test]
    fn a_time_chooses_connections_that_lived_and_their_rows_of_then() {
        let mut connections = Connections::new(5, OwnedBy::Job);
        let scope = Scope {
            from: Some(Time(100)),
            to: Some(Time(200)),
            ..Scope::default()
        };
        // One before, one that continues, one that is written only later, one after.
        for (connection, time_ns, packets) in [
            (1, 50, 1),
            (60, 150, 10),
            (60, 250, 999),
            (150, 300, 100),
            (150, 400, 999),
            (250, 300, 5),
        ] {
            connections.add(row(connection, "a_to_b", time_ns, packets), &scope, None);
        }
        let (figures, _) = connections.finish(&scope, None);
        assert_eq!((figures.count, figures.sum("packets")), (2, 110));
    }
}
