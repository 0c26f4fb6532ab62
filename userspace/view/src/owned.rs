//! Connections with the owners of their ends.

use rocescope_diagnose::owners::{Owners, ends};
use rocescope_model::filter::RowFilter;
use rocescope_model::{ConnectionOwnersRow, ConnectionRow, OWNED_CONNECTIONS, OwnedConnections};

/// The owners of these directions, one row each; none if no agent reported a queue pair.
pub(crate) fn owners(rows: &[ConnectionRow], known: &Owners) -> Vec<ConnectionOwnersRow> {
    match known.is_empty() {
        true => Vec::new(),
        false => rows.iter().map(|row| ends::row_of(row, &known.ends(row))).collect(),
    }
}

/// Drops the directions that do not match `filter`, if it is for them, and their owners.
pub(crate) fn keep(connections: &mut OwnedConnections, filter: &RowFilter) {
    if *filter.table() != OWNED_CONNECTIONS {
        return;
    }
    let all = 0..connections.rows.len();
    let wanted: Vec<bool> = all.map(|row| filter.matches(&*connections, row)).collect();
    retain(&mut connections.rows, &wanted);
    retain(&mut connections.owners, &wanted);
}

fn retain<R>(rows: &mut Vec<R>, wanted: &[bool]) {
    let mut wanted = wanted.iter();
    rows.retain(|_| wanted.next() != Some(&false));
}
