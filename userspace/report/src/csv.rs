//! One table as CSV.

use crate::Report;
use crate::collect::{Connection, MeshFigures};
use rocescope_model::{Cells, ConnectionRow, Row, Time, WindowRow, csv};

/// The tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// The top flows, summed over the windows.
    Flows,
    /// The connections with most trouble, a row a direction.
    Connections,
    /// All opcodes, summed over the windows.
    Opcodes,
    /// The most telling events.
    Events,
    /// Windows, or as many neighbours together as `window_ns` says.
    Windows,
    /// The pairs of NICs of the mesh of probes.
    Pairs,
    /// How well the mesh did: its windows, or as many neighbours together as `window_ns` says.
    Sla,
    /// What fails in it: the last verdict of each problem.
    Verdicts,
    /// Sums of its links.
    Links,
}

/// The table with the columns of the registry; sketches and lists are left out, and times of sums
/// are those of the whole.
#[must_use]
pub fn table(report: &Report, table: Table) -> String {
    match table {
        Table::Flows => rows(&report.flows.rows),
        Table::Opcodes => rows(&report.opcodes.rows),
        Table::Events => rows(&report.events.telling(usize::MAX)),
        Table::Connections => {
            let worst = report.connections.worst.iter();
            let directions = worst.flat_map(Connection::directions);
            rows(&directions.cloned().collect::<Vec<ConnectionRow>>())
        }
        Table::Windows => rows(&windows(report)),
        Table::Pairs => of_mesh(report, |mesh| mesh.pairs.clone()),
        Table::Sla => of_mesh(report, MeshFigures::sla),
        Table::Verdicts => of_mesh(report, |mesh| {
            let problems = mesh.problems.iter();
            problems.map(|problem| problem.last.clone()).collect()
        }),
        Table::Links => of_mesh(report, |mesh| mesh.links.clone()),
    }
}

/// Periods as windows of their length.
pub(crate) fn windows(report: &Report) -> Vec<WindowRow> {
    let length = report.series.period_ns();
    let periods = report.series.iter().map(|(start_ns, period)| WindowRow {
        window_start: Time(start_ns),
        window_start_ns: start_ns,
        window_ns: length,
        ..period.sums.clone()
    });
    periods.collect()
}

fn of_mesh<R: Row>(report: &Report, list: impl FnOnce(&MeshFigures) -> Vec<R>) -> String {
    rows(&report.mesh.as_ref().map(list).unwrap_or_default())
}

fn rows(cells: &dyn Cells) -> String {
    csv::heading(cells.table()) + &csv::rows(cells)
}
