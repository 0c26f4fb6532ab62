//! The rows of a table of a window.

use super::Printed;
use rocescope_model::{Cells, GroupRow, MeshRows, Table, Value};

/// The rows of this table; the totals if the window has none.
#[expect(clippy::ptr_arg, reason = "a vector is `Cells`, a slice has no size")]
pub(super) fn cells<'a>(window: &'a Printed, groups: &'a Vec<GroupRow>, table: &Table) -> &'a dyn Cells {
    static NONE: MeshRows = MeshRows {
        start_ns: 0,
        window_ns: 0,
        pairs: Vec::new(),
        sla: Vec::new(),
        verdicts: Vec::new(),
        links: Vec::new(),
    };
    let (rows, mesh) = (&window.rows, window.mesh.as_ref().unwrap_or(&NONE));
    let all: [&dyn Cells; 14] = [
        &rows.flows,
        &rows.opcodes,
        &window.connections,
        &window.connections.rows,
        &rows.pdcs,
        &rows.events,
        groups,
        &window.host_ports,
        &window.incidents,
        &mesh.pairs,
        &mesh.sla,
        &mesh.verdicts,
        &mesh.links,
        &rows.windows,
    ];
    let requested = all.into_iter().find(|cells| cells.table() == table);
    requested.unwrap_or(&rows.windows)
}

/// The first rows.
pub(super) struct Top<'a> {
    pub(super) cells: &'a dyn Cells,
    pub(super) max_rows: usize,
}

impl Cells for Top<'_> {
    fn table(&self) -> &'static Table {
        self.cells.table()
    }

    fn rows(&self) -> usize {
        self.cells.rows().min(self.max_rows)
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        self.cells.value(row, column)
    }
}
