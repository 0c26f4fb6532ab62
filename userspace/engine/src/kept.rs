//! Rows of connections and events that stay in memory until the end of a capture.

use rocescope_model::{ConnectionRow, EventRow, WindowRows};
use std::collections::HashMap;

/// Directions and events kept at most: about 150 MiB and 50 MiB. More of them are counted.
const MAX_DIRECTIONS: usize = 131_072;
const MAX_EVENTS: usize = 131_072;

/// The latest row of each direction, and the events.
///
/// The rows of a direction are cumulative, so a later one replaces an earlier one: memory grows with the number of
/// connections, not with time.
#[derive(Debug, Default)]
pub struct Kept {
    /// One row for each direction, in the order of their first rows.
    pub connections: Vec<ConnectionRow>,
    /// The first events.
    pub events: Vec<EventRow>,
    /// Rows of directions that found no room.
    pub refused_directions: u64,
    /// Events that found no room.
    pub refused_events: u64,
    /// The position of the row of a direction.
    positions: HashMap<(i64, bool), usize>,
}

impl Kept {
    /// Takes the rows of connections and events.
    pub(crate) fn take(&mut self, rows: &mut WindowRows) {
        for row in rows.connections.drain(..) {
            let direction = (row.connection, &*row.role == "b_to_a");
            let known = self.positions.get(&direction).copied();
            if let Some(known) = known.and_then(|at| self.connections.get_mut(at)) {
                *known = row;
            } else if self.connections.len() < MAX_DIRECTIONS {
                self.positions.insert(direction, self.connections.len());
                self.connections.push(row);
            } else {
                self.refused_directions += 1;
            }
        }
        let room = MAX_EVENTS.saturating_sub(self.events.len());
        self.refused_events += rows.events.len().saturating_sub(room) as u64;
        self.events.extend(rows.events.drain(..).take(room));
        rows.events.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::{Kept, MAX_DIRECTIONS, MAX_EVENTS};
    use rocescope_model::{ConnectionRow, EventRow, WindowRows};

    /// A row a minute for each of 1,000 queue pairs was a row a minute in memory.
    #[test]
    fn memory_grows_with_connections_and_not_with_time() {
        let row = |connection, role: &'static str, packets| ConnectionRow {
            connection,
            role: role.into(),
            packets,
            ..ConnectionRow::default()
        };
        let mut kept = Kept::default();
        for minute in 1..=60 {
            let connections = (0..1_000).flat_map(|c| [row(c, "a_to_b", minute), row(c, "b_to_a", 2 * minute)]);
            let mut rows = WindowRows {
                connections: connections.collect(),
                ..WindowRows::default()
            };
            kept.take(&mut rows);
            assert!(rows.connections.is_empty());
        }
        assert_eq!(kept.connections.len(), 2_000);
        assert!(
            kept.connections
                .chunks(2)
                .all(|two| (two[0].packets, two[1].packets) == (60, 120))
        );
        assert_eq!((kept.refused_directions, kept.refused_events), (0, 0));
    }

    #[test]
    fn what_finds_no_room_is_counted() {
        let mut kept = Kept::default();
        let connections = (0..MAX_DIRECTIONS as i64 + 7).map(|connection| ConnectionRow {
            connection,
            ..ConnectionRow::default()
        });
        let mut rows = WindowRows {
            connections: connections.collect(),
            events: vec![EventRow::default(); MAX_EVENTS + 3],
            ..WindowRows::default()
        };
        kept.take(&mut rows);
        assert_eq!((kept.refused_directions, kept.refused_events), (7, 3));
        assert_eq!(
            (kept.connections.len(), kept.events.len()),
            (MAX_DIRECTIONS, MAX_EVENTS)
        );
    }
}
