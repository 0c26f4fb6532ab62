//! Splits rows into batches of one partition and bounded size.

use crate::name::Partition;
use rocescope_model::{Cells, Time, Type, Value};

/// Maximum sketch bytes in a batch, packed. Arrow counts the bytes of a column in 31 bits; this also bounds the memory for
/// sealing.
const BATCH_BYTES: usize = 16 << 20;
/// Maximum rows in a batch.
pub(crate) const BATCH_ROWS: usize = 1 << 16;

/// The rows of one batch.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) partition: Partition,
    /// Time of the first row.
    pub(crate) start: Time,
    pub(crate) rows: Vec<usize>,
}

/// Splits the rows into parts, in order of their partitions; rows keep their order within a partition.
pub(crate) fn split(cells: &dyn Cells) -> Vec<Part> {
    let table = cells.table();
    let time = table.partition_column().unwrap_or(usize::MAX);
    let time = |row| match cells.value(row, time) {
        Value::Time(time) => time,
        _ => Time::default(),
    };
    let sketches: Vec<usize> = (0..table.columns.len())
        .filter(|&i| table.columns[i].kind == Type::Bytes)
        .collect();
    let bytes = |row| -> usize {
        let sizes = sketches.iter().map(|&column| match cells.value(row, column) {
            Value::Bytes(bytes) => bytes.len(),
            Value::Sparse(bytes) => bytes.packed().len(),
            _ => 0,
        });
        sizes.sum()
    };
    let mut rows: Vec<usize> = (0..cells.rows()).collect();
    rows.sort_by_key(|&row| Partition::of(time(row)));
    let mut parts: Vec<Part> = Vec::new();
    let mut held = 0;
    for row in rows {
        let (start, size) = (time(row), bytes(row));
        let partition = Partition::of(start);
        match parts.last_mut() {
            Some(part) if part.partition == partition && part.rows.len() < BATCH_ROWS && held + size <= BATCH_BYTES => {
                part.rows.push(row);
                held += size;
            }
            _ => {
                parts.push(Part {
                    partition,
                    start,
                    rows: vec![row],
                });
                held = size;
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::{BATCH_BYTES, Part, split};
    use rocescope_model::time::HOUR_NS;
    use rocescope_model::{Time, WindowRow};

    fn window(start: i64, sketch: usize) -> WindowRow {
        WindowRow {
            window_start: Time(start),
            count_min_packets: Some(vec![1; sketch].into()),
            ..WindowRow::default()
        }
    }

    fn rows(parts: Vec<Part>) -> Vec<Vec<usize>> {
        parts.into_iter().map(|part| part.rows).collect()
    }

    #[test]
    fn one_part_per_partition_in_order() {
        let cells = vec![window(HOUR_NS, 1), window(0, 1), window(HOUR_NS + 1, 1)];
        assert_eq!(rows(split(&cells)), [vec![1], vec![0, 2]]);
    }

    #[test]
    fn large_sketches_make_small_parts() {
        let cells = vec![
            window(0, BATCH_BYTES / 2 - 16),
            window(0, BATCH_BYTES / 2 - 16),
            window(0, 64),
        ];
        assert_eq!(rows(split(&cells)), [vec![0, 1], vec![2]]);
    }

    #[test]
    fn no_rows_make_no_parts() {
        assert_eq!(split(&Vec::<WindowRow>::new()), []);
    }
}
