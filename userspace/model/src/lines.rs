//! Windows as JSON lines: one object of tables for each window, each table with its rows, without sketches.

use crate::json::{self, Object, Rows};
use crate::{Cells, GroupRow, MeshRows, WindowRows};
use alloc::string::String;
use alloc::vec::Vec;

/// The line of a window, with a newline at its end.
#[must_use]
pub fn window(
    rows: &WindowRows,
    mesh: Option<&MeshRows>,
    hosts: &[&dyn Cells],
    groups: Option<&Vec<GroupRow>>,
) -> String {
    let mut tables = rows.tables();
    // The totals first, for readability.
    tables.rotate_right(1);
    let of_mesh = mesh.iter().flat_map(|mesh| mesh.tables());
    let groups = groups.map(|groups| groups as &dyn Cells);
    let tables = tables
        .into_iter()
        .chain(of_mesh)
        .chain(hosts.iter().copied())
        .chain(groups);
    let tables = tables.map(|cells| (cells.table().name, Rows(cells, json::no_sketch)));
    json::compact(&tables.collect::<Object<_, _>>()) + "\n"
}
