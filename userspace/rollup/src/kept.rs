//! Copies the rows of tables that rollups keep.

use rocescope_model::{Rollup, TABLES, Table};
use rocescope_store::Error;
use rocescope_store::rollup::{Sink, Unit};

/// The tables.
fn tables() -> impl Iterator<Item = &'static Table> {
    TABLES.iter().copied().filter(|table| table.rollup == Rollup::Kept)
}

/// Adds the rows of a unit: those of the rollup, then the new ones.
pub(crate) fn make(unit: &Unit<'_>, sink: &mut Sink) -> Result<(), Error> {
    for table in tables() {
        for rows in unit.old.cells(table).chain(unit.new.cells(table)) {
            sink.push(&rows?)?;
        }
    }
    Ok(())
}
