//! The rows of one table.

use crate::Report;
use crate::collect::{Connection, MeshFigures, SwitchFigures};
use rocescope_model::{Cells, ConnectionRow, Row, Time, WindowRow};

/// The tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// The top flows, summed over the windows.
    Flows,
    /// Traffic by source, destination, queue pair or opcode.
    Groups,
    /// The connections with the most problems, one row per direction.
    Connections,
    /// Directions of UET's packet delivery contexts, the worst first.
    Pdcs,
    /// All opcodes, summed over the windows.
    Opcodes,
    /// The most important events.
    Events,
    /// Windows, or several neighbours merged up to `window_ns`.
    Windows,
    /// The pairs of NICs of the mesh of probes.
    Pairs,
    /// Service level of the mesh: windows, or several neighbours merged up to `window_ns`.
    Sla,
    /// The last verdict of each problem of the mesh.
    Verdicts,
    /// Sums of the links of the mesh.
    Links,
    /// Ports of switches with drops, pauses, marks or errors, and their queues and priorities that have some.
    SwitchPorts,
    /// Drops that switches reported.
    SwitchDrops,
}

impl Table {
    /// All of them, by name.
    pub const ALL: [(&str, Self); 13] = [
        ("flows", Self::Flows),
        ("groups", Self::Groups),
        ("connections", Self::Connections),
        ("pdcs", Self::Pdcs),
        ("opcodes", Self::Opcodes),
        ("events", Self::Events),
        ("windows", Self::Windows),
        ("pairs", Self::Pairs),
        ("sla", Self::Sla),
        ("verdicts", Self::Verdicts),
        ("links", Self::Links),
        ("switch_ports", Self::SwitchPorts),
        ("switch_drops", Self::SwitchDrops),
    ];

    /// What its rows are.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Flows => "The top flows, summed over the windows",
            Self::Groups => "Traffic by what it is grouped by",
            Self::Connections => "The connections with the most problems, one row for each direction",
            Self::Pdcs => "Packet delivery contexts of UET, those with the most losses first",
            Self::Opcodes => "All opcodes",
            Self::Events => "The most significant events of each kind",
            Self::Windows => "Windows, at most 1,000; neighbours are merged if there are more",
            Self::Pairs => "Pairs of NICs that probed each other",
            Self::Sla => "Service level of the probe mesh over time",
            Self::Verdicts => "The last verdict of each problem in the mesh",
            Self::Links => "Links of the mesh, summed over time",
            Self::SwitchPorts => {
                "Ports of switches with drops, pauses, marks or errors, and their queues and priorities"
            }
            Self::SwitchDrops => "Drops that switches reported, by reason and flow",
        }
    }
}

/// Passes the rows of the table to `print`; times of sums are those of the whole span.
#[must_use]
pub fn table(report: &Report, table: Table, print: impl Fn(&dyn Cells) -> String) -> String {
    match table {
        Table::Flows => print(&report.flows.rows),
        Table::Groups => print(
            &report
                .groups
                .as_ref()
                .map_or_else(Vec::new, |groups| groups.rows.clone()),
        ),
        Table::Pdcs => print(&report.pdcs.rows),
        Table::Opcodes => print(&report.opcodes.rows),
        Table::Events => print(&report.events.important(usize::MAX)),
        Table::Connections => {
            let worst = report.connections.worst.iter();
            let directions = worst.flat_map(Connection::directions);
            print(&directions.cloned().collect::<Vec<ConnectionRow>>())
        }
        Table::Windows => print(&windows(report)),
        Table::Pairs => of_mesh(report, print, |mesh| mesh.pairs.clone()),
        Table::Sla => of_mesh(report, print, MeshFigures::sla),
        Table::Verdicts => of_mesh(report, print, |mesh| {
            let problems = mesh.problems.iter();
            problems.map(|problem| problem.worst.clone()).collect()
        }),
        Table::Links => of_mesh(report, print, |mesh| mesh.links.clone()),
        Table::SwitchPorts => print(&report.switches.as_ref().map_or_else(Vec::new, SwitchFigures::rows)),
        Table::SwitchDrops => print(
            &report
                .switches
                .as_ref()
                .map_or_else(Vec::new, |switches| switches.drops.clone()),
        ),
    }
}

/// Returns the periods as windows of their length.
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

fn of_mesh<R: Row>(
    report: &Report,
    print: impl Fn(&dyn Cells) -> String,
    list: impl FnOnce(&MeshFigures) -> Vec<R>,
) -> String {
    print(&report.mesh.as_ref().map(list).unwrap_or_default())
}
