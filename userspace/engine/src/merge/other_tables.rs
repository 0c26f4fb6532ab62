//! The tables whose rows a merge copies: each row is of its own host, agent or box, and keeps that name. Counters,
//! probes and paths are such, and connections, whose numbers are unique for each observer. What several boxes saw of a
//! packet delivery context are parts that overlap, so that sums would count packets twice.

use super::Error;
use rocescope_model::{Cells, EventRow, FlowRow, OpcodeRow, Row, SpreadRow, TABLES, Table, Time, Value, WindowRow};
use rocescope_store::{Query, Scan, TimeRange, Writer};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Tables whose rows a merge changes.
const CHANGED: [&str; 5] = [
    WindowRow::TABLE.name,
    FlowRow::TABLE.name,
    OpcodeRow::TABLE.name,
    SpreadRow::TABLE.name,
    EventRow::TABLE.name,
];

fn tables() -> impl Iterator<Item = &'static Table> {
    let all = TABLES.iter().copied();
    all.filter(|table| !CHANGED.contains(&table.name))
}

/// Copies the rows; returns the tables that had some, with their number.
///
/// These tables come before `windows`: the store guarantees that a window there is complete in every table.
///
/// # Errors
/// A segment cannot be read or written.
pub fn copy(scans: &[Scan], writer: &mut Writer) -> Result<Vec<(&'static str, u64)>, Error> {
    let mut copied = Vec::new();
    for table in tables() {
        let mut rows = 0;
        for cells in scans.iter().flat_map(|scan| scan.cells(table)) {
            let cells = cells?;
            rows += cells.rows() as u64;
            writer.append_cells(&cells, Instant::now())?;
        }
        if rows > 0 {
            copied.push((table.name, rows));
        }
    }
    Ok(copied)
}

/// Whether any dataset has rows to copy.
///
/// # Errors
/// A segment cannot be read or written.
pub fn has_rows(scans: &[Scan]) -> Result<bool, Error> {
    for table in tables() {
        for scan in scans {
            if first_row(scan, table)?.is_some() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Refuses rows that would be stored twice: those of two copies of a dataset, and those that an earlier merge stored
/// in `out`.
///
/// A copy, whole or in part, and a merge that was killed have the first row of a dataset.
///
/// # Errors
/// There are such rows, or a segment cannot be read.
pub fn refuse_repeated(roots: &[PathBuf], scans: &[Scan], out: &Path) -> Result<(), Error> {
    for table in tables() {
        let name = table.name;
        for (at, (root, scan)) in roots.iter().zip(scans).enumerate() {
            let Some(first) = first_row(scan, table)? else {
                continue;
            };
            for (other, _) in roots.iter().enumerate().filter(|(other, _)| *other != at) {
                if holds(&roots[other], table, &first)? {
                    return Err(Error::Repeated {
                        root: root.clone(),
                        other: roots[other].clone(),
                        table: name,
                    });
                }
            }
            if holds(out, table, &first)? {
                return Err(Error::Copied {
                    out: out.to_owned(),
                    root: root.clone(),
                    table: name,
                });
            }
        }
    }
    Ok(())
}

/// A row as text, and its time.
struct FirstRow {
    time_ns: i64,
    cells: String,
}

fn first_row(scan: &Scan, table: &'static Table) -> Result<Option<FirstRow>, Error> {
    for cells in scan.cells(table) {
        let cells = cells?;
        if cells.rows() > 0 {
            return Ok(row(&cells, 0));
        }
    }
    Ok(None)
}

fn row(cells: &dyn Cells, row: usize) -> Option<FirstRow> {
    let table = cells.table();
    let Value::I64(time_ns) = cells.value(row, table.partition_column()? + 1) else {
        return None;
    };
    let columns = (0..table.columns.len()).map(|column| format!("{:?}", cells.value(row, column)));
    Some(FirstRow {
        time_ns,
        cells: columns.collect::<Vec<_>>().join("\n"),
    })
}

/// Whether a dataset, if there is one, has this row.
fn holds(root: &Path, table: &'static Table, wanted: &FirstRow) -> Result<bool, Error> {
    if !root.exists() {
        return Ok(false);
    }
    let time = TimeRange {
        from: Some(Time(wanted.time_ns)),
        to: Some(Time(wanted.time_ns.saturating_add(1))),
    };
    let found = Query::default().tables(&[table]).within(time).scan(root)?;
    for cells in found.cells(table) {
        let cells = cells?;
        let mut rows = (0..cells.rows()).filter_map(|at| row(&cells, at));
        if rows.any(|row| row.cells == wanted.cells) {
            return Ok(true);
        }
    }
    Ok(false)
}
