//! Rows that a sender may retransmit: each batch has a number, and each number is stored only once.

use super::{Open, Writer};
use crate::name::Partition;
use crate::split::{BATCH_ROWS, split};
use crate::{Error, encode};
use arrow_schema::ArrowError;
use rocescope_model::{Cells, Table, Time, Value};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

/// Rows of one table and one hour, with the number that the sender gave them.
///
/// A sender increments the number within an epoch and sends in that order; it need not fill gaps.
#[derive(Clone, Copy)]
pub struct Numbered<'a> {
    sender: &'a str,
    epoch: i64,
    sequence: i64,
    cells: &'a dyn Cells,
    partition: Partition,
    start: Time,
}

impl<'a> Numbered<'a> {
    /// # Errors
    /// Returns a message if there are no rows, rows of several hours or more than 65,536, or if the sender's name is
    /// empty, longer than 255 bytes or contains blanks.
    pub fn new(sender: &'a str, epoch: i64, sequence: i64, cells: &'a dyn Cells) -> Result<Self, &'static str> {
        if sender.is_empty() || sender.len() > 255 {
            return Err("the sender's name must have 1 to 255 bytes");
        }
        if sender.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err("the sender's name must not contain blanks");
        }
        let parts = split(cells);
        let [part] = parts.as_slice() else {
            return Err("a batch must have 1 to 65,536 rows of one hour");
        };
        Ok(Self {
            sender,
            epoch,
            sequence,
            cells,
            partition: part.partition,
            start: part.start,
        })
    }
}

impl std::fmt::Debug for Numbered<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Numbered")
            .field("sender", &self.sender)
            .field("epoch", &self.epoch)
            .field("sequence", &self.sequence)
            .field("rows", &self.cells.rows())
            .finish_non_exhaustive()
    }
}

impl Writer {
    /// Appends the batches whose numbers are not stored yet. Returns for each whether it was new.
    ///
    /// Each table has its own numbers; a sender may number several tables in one sequence. A batch and its number reach
    /// the kernel in one write, so a kill leaves both or neither, and a retransmitted batch is recognised. Call
    /// [`sync`](Self::sync) before you acknowledge to the sender.
    ///
    /// # Errors
    /// Same as [`append`](Self::append). Some of the batches may be stored: retransmit all, and nothing of the same
    /// senders before them, since a stored number covers all earlier ones.
    pub fn append_numbered(&mut self, batches: &[Numbered<'_>], now: Instant) -> Result<Vec<bool>, Error> {
        self.refuse_if_stopped()?;
        let mut new = Vec::with_capacity(batches.len());
        let mut met = HashSet::new();
        for b in batches {
            let index = self.open(b.cells.table(), true)?;
            let known = self.tables[index].marks.has(b.sender, b.epoch, b.sequence);
            let key = (b.cells.table().name, b.sender, b.epoch, b.sequence);
            new.push(!known && met.insert(key));
        }
        let fresh = batches.iter().zip(&new).filter(|(_, new)| **new);
        for group in groups(fresh.map(|(batch, _)| *batch)) {
            let appended = self.append_group(&group, now);
            self.stop_if_failed(appended)?;
        }
        Ok(new)
    }

    /// Syncs all appended rows, so that they survive a power failure.
    ///
    /// # Errors
    /// The disk failed: rows appended since the last call may be lost.
    pub fn sync(&mut self) -> Result<(), Error> {
        let root = &self.root;
        let open = self.tables.iter_mut().filter_map(|o| o.segment.as_mut());
        let synced = open.map(|segment| segment.journal.sync(root)).fold(Ok(()), Result::and);
        self.stop_if_failed(synced)
    }

    fn append_group(&mut self, group: &Group<'_>, now: Instant) -> Result<(), Error> {
        let index = self.open(group.table, true)?;
        self.seal_where(|segment, options| {
            let ends = segment.partition != group.partition || segment.is_due(options, now);
            segment.table == group.table && ends
        })?;
        let batch = group
            .encode(&self.tables[index])
            .map_err(|error| Error::content("encode rows for", &self.root, &error))?;
        self.append_batch(index, &batch, (group.partition, group.start), now)?;
        self.last = self.last.max(Some(group.start));
        let marks = &mut self.tables[index].marks;
        for member in &group.members {
            marks.note(member.sender, member.epoch, member.sequence);
        }
        Ok(())
    }
}

/// Batches in one write: a kill leaves all of them or none.
struct Group<'a> {
    table: &'static Table,
    partition: Partition,
    start: Time,
    rows: usize,
    members: Vec<Numbered<'a>>,
}

/// Builds as few groups as possible. Batches of one sender are always written in order: a stored number implies that
/// all earlier ones are stored.
fn groups<'a>(batches: impl Iterator<Item = Numbered<'a>>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut last: HashMap<(&str, &str), usize> = HashMap::new();
    for batch in batches {
        let (table, rows) = (batch.cells.table(), batch.cells.rows());
        let earliest = last.entry((table.name, batch.sender)).or_default();
        let found = groups.iter().rposition(|group| {
            let alike = group.table == table && group.partition == batch.partition;
            alike && group.rows + rows <= BATCH_ROWS
        });
        let at = found.filter(|at| at >= earliest).unwrap_or(groups.len());
        if at == groups.len() {
            groups.push(Group {
                table,
                partition: batch.partition,
                start: batch.start,
                rows: 0,
                members: Vec::new(),
            });
        }
        *earliest = at;
        groups[at].rows += rows;
        groups[at].members.push(batch);
    }
    groups
}

impl Group<'_> {
    fn encode(&self, open: &Open) -> Result<arrow_array::RecordBatch, ArrowError> {
        let joined = Joined::new(self);
        let rows: Vec<usize> = (0..self.rows).collect();
        let members = self.members.iter();
        let numbers = members.flat_map(|m| std::iter::repeat_n((m.sender, m.epoch, m.sequence), m.cells.rows()));
        encode::numbered_batch(&joined, &rows, numbers, &Arc::clone(&open.schema))
    }
}

/// The rows of a group's members in sequence.
struct Joined<'a> {
    table: &'static Table,
    /// Member and its row.
    rows: Vec<(&'a dyn Cells, usize)>,
}

impl<'a> Joined<'a> {
    fn new(group: &Group<'a>) -> Self {
        let members = group.members.iter();
        let rows = members.flat_map(|m| (0..m.cells.rows()).map(|row| (m.cells, row)));
        Self {
            table: group.table,
            rows: rows.collect(),
        }
    }
}

impl Cells for Joined<'_> {
    fn table(&self) -> &'static Table {
        self.table
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        self.rows
            .get(row)
            .map_or(Value::Null, |(cells, row)| cells.value(*row, column))
    }
}

#[cfg(test)]
mod tests {
    use super::{Numbered, groups};
    use rocescope_model::time::HOUR_NS;
    use rocescope_model::{PathRow, ProbeRow, Time};

    fn probes(time: i64) -> Vec<ProbeRow> {
        let row = ProbeRow {
            time: Time(time),
            ..ProbeRow::default()
        };
        vec![row; 2]
    }

    #[test]
    fn batches_of_one_hour_are_written_together() {
        let (one, two, paths) = (probes(0), probes(HOUR_NS), vec![PathRow::default()]);
        let batch = |sender, sequence, cells| Numbered::new(sender, 1, sequence, cells).unwrap();
        let batches = [
            batch("h0", 1, &one),
            batch("h1", 1, &two),
            batch("h0", 2, &paths),
            batch("h0", 3, &two),
            batch("h1", 2, &two),
        ];
        let groups = groups(batches.into_iter());
        let sequences = |at: usize| -> Vec<(&str, i64)> {
            let members = groups[at].members.iter();
            members.map(|m| (m.sender, m.sequence)).collect()
        };
        assert_eq!(groups.len(), 3);
        assert_eq!(sequences(0), [("h0", 1)]);
        assert_eq!(sequences(1), [("h1", 1), ("h0", 3), ("h1", 2)]);
        assert_eq!(sequences(2), [("h0", 2)]);
    }

    #[test]
    fn order_is_kept_if_the_clock_of_a_sender_goes_back() {
        let (early, late) = (probes(0), probes(HOUR_NS));
        let cells = [&early, &late, &early];
        let batches = cells.iter().zip(1..);
        let batches = batches.map(|(cells, n)| Numbered::new("h0", 1, n, *cells).unwrap());
        assert_eq!(groups(batches).len(), 3);
    }

    #[test]
    fn invalid_batches_are_rejected() {
        let none: Vec<ProbeRow> = Vec::new();
        assert!(Numbered::new("h0", 1, 1, &none).is_err());
        let mut two = probes(0);
        two.extend(probes(HOUR_NS));
        assert!(Numbered::new("h0", 1, 1, &two).is_err());
        let rows = probes(0);
        for sender in ["", "h 0", "h\n0"] {
            assert!(Numbered::new(sender, 1, 1, &rows).is_err(), "{sender:?}");
        }
    }
}
