//! `connection_owners`: whose both ends of a connection are. Joined from `queue_pairs` when it is read; not stored.

use crate::row::table;
use crate::{Cells, Column, ConnectionRow, Rollup, Row, Table, Text, Value};

table! {
    /// One row for each direction of a connection of which an agent reported an end: job, rank and process of both, from
    /// `queue_pairs`. Columns of an end are null if no agent reported it, and if several queue pairs may be meant.
    ConnectionOwnersRow = "connection_owners" [derived] {
        /// Name of the capture box that wrote the row of the connection.
        observer: Text, None, [same], hide "Observer";
        /// Number of the connection.
        connection: i64, None, [same], hide "Connection";
        /// `a_to_b` or `b_to_a`.
        role: Text, None, [same], show "Role";
        /// Both ends in short, the sender first: `4711/3 > 4711/7` are ranks of jobs; without a job the pod, the container, the
        /// unit or the process. `?`: no agent reported the end; `ambiguous`: it may be one of several.
        owners: Option<Text>, None, [last], show "Owners";
        /// Host of the source.
        src_host: Option<Text>, None, [last], hide "Host from";
        /// Its process; null for the kernel too.
        src_pid: Option<u32>, None, [last], hide "PID from";
        /// Name of that process, or of the kernel module.
        src_process: Option<Text>, None, [last], hide "Process from";
        /// User of that process.
        src_user: Option<Text>, None, [last], hide "User from";
        /// Its unit of systemd.
        src_unit: Option<Text>, None, [last], hide "Unit from";
        /// Its container.
        src_container: Option<Text>, None, [last], hide "Container from";
        /// Its pod.
        src_pod: Option<Text>, None, [last], hide "Pod from";
        /// The namespace of that pod.
        src_namespace: Option<Text>, None, [last], hide "Namespace from";
        /// Its job.
        src_job_id: Option<Text>, None, [last], hide "Job from";
        /// The step of that job.
        src_job_step: Option<Text>, None, [last], hide "Step from";
        /// Its rank.
        src_rank: Option<u32>, None, [last], hide "Rank from";
        /// Host of the destination.
        dst_host: Option<Text>, None, [last], hide "Host to";
        /// Its process; null for the kernel too.
        dst_pid: Option<u32>, None, [last], hide "PID to";
        /// Name of that process, or of the kernel module.
        dst_process: Option<Text>, None, [last], hide "Process to";
        /// User of that process.
        dst_user: Option<Text>, None, [last], hide "User to";
        /// Its unit of systemd.
        dst_unit: Option<Text>, None, [last], hide "Unit to";
        /// Its container.
        dst_container: Option<Text>, None, [last], hide "Container to";
        /// Its pod.
        dst_pod: Option<Text>, None, [last], hide "Pod to";
        /// The namespace of that pod.
        dst_namespace: Option<Text>, None, [last], hide "Namespace to";
        /// Its job.
        dst_job_id: Option<Text>, None, [last], hide "Job to";
        /// The step of that job.
        dst_job_step: Option<Text>, None, [last], hide "Step to";
        /// Its rank.
        dst_rank: Option<u32>, None, [last], hide "Rank to";
    }
}

/// The columns that name the connection: `connections` has them too.
const KEYS: usize = 3;
const OWN: usize = ConnectionRow::TABLE.columns.len();
const ALL: usize = OWN + ConnectionOwnersRow::TABLE.columns.len() - KEYS;

static COLUMNS: [Column; ALL] = {
    let (own, of_owners) = (ConnectionRow::TABLE.columns, ConnectionOwnersRow::TABLE.columns);
    let mut columns = [own[0]; ALL];
    let mut at = 0;
    while at < ALL {
        columns[at] = if at < OWN { own[at] } else { of_owners[at - OWN + KEYS] };
        at += 1;
    }
    columns
};

/// The columns of `connections`, and then those of `connection_owners`.
pub static OWNED_CONNECTIONS: Table = Table {
    rollup: Rollup::Derived,
    name: ConnectionRow::TABLE.name,
    help: ConnectionRow::TABLE.help,
    columns: &COLUMNS,
};

/// Rows of connections, each beside the row of its owners; rows without one have nulls there.
#[derive(Debug, Clone, Default)]
pub struct OwnedConnections<R = alloc::vec::Vec<ConnectionRow>, O = alloc::vec::Vec<ConnectionOwnersRow>> {
    /// The connections.
    pub rows: R,
    /// Their owners, in the same order.
    pub owners: O,
}

impl<R: AsRef<[ConnectionRow]>, O: AsRef<[ConnectionOwnersRow]>> Cells for OwnedConnections<R, O> {
    fn table(&self) -> &'static Table {
        &OWNED_CONNECTIONS
    }

    fn rows(&self) -> usize {
        self.rows.as_ref().len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        match column.checked_sub(OWN) {
            None => self.rows.as_ref().value(row, column),
            Some(of_owners) if row < self.rows() => self.owners.as_ref().value(row, of_owners + KEYS),
            Some(_) => Value::Null,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    #[test]
    fn owners_stand_behind_the_columns_of_their_connection() {
        let cells = OwnedConnections {
            rows: vec![ConnectionRow::default(), ConnectionRow::default()],
            owners: vec![ConnectionOwnersRow {
                dst_rank: Some(7),
                ..ConnectionOwnersRow::default()
            }],
        };
        let rank = OWNED_CONNECTIONS.position("dst_rank").unwrap();
        assert_eq!(rank, COLUMNS.len() - 1);
        assert_eq!(
            [0, 1, 2].map(|row| cells.value(row, rank)),
            [Value::I64(7), Value::Null, Value::Null]
        );
        let packets = ConnectionRow::TABLE.position("packets").unwrap();
        assert_eq!(OWNED_CONNECTIONS.position("packets"), Some(packets));
        assert_eq!(cells.value(1, packets), Value::I64(0));
        assert_eq!(cells.value(0, COLUMNS.len()), Value::Null);
        // Each column once.
        for (at, column) in COLUMNS.iter().enumerate() {
            assert_eq!(OWNED_CONNECTIONS.position(column.name), Some(at), "{}", column.name);
        }
    }
}
