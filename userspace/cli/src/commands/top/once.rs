//! Windows as text, JSON and CSV, without a terminal.

use super::appearance;
use crate::arguments::{OnceOutput, TableName, TopArguments};
use crate::stdout::print_line;
use anyhow::{Result, anyhow};
use rocescope_diagnose::mesh::Metric;
use rocescope_model::csv;
use rocescope_model::filter::{Filter, RowFilter};
use rocescope_model::hosts::Hosts;
use rocescope_model::human::Rates;
use rocescope_model::lines;
use rocescope_model::render::{self, Options};
use rocescope_model::{
    Cells, ConnectionRow, EventRow, FlowRow, GroupBy, GroupRow, HostPortRow, HostVerdictRow, LinkRow, MeshRows,
    OpcodeRow, PairRow, PdcRow, Row, SlaRow, Table, Value, VerdictRow, WindowRow, WindowRows,
};
use rocescope_view::{Stopped, sort};
use std::collections::HashSet;
use std::fmt::Write;
use std::sync::Arc;

/// Prints windows, and stops after the requested number.
pub(super) struct Printer {
    output: OnceOutput,
    table: Option<TableName>,
    by: Option<GroupBy>,
    /// The mesh of probes at the time of the window, for datasets with probes.
    mesh: Option<MeshRows>,
    /// The ports of hosts at the time of the window; empty without counters.
    host_ports: Vec<HostPortRow>,
    /// The faults of hosts at the time of the window.
    host_verdicts: Vec<HostVerdictRow>,
    /// Windows left to print.
    left: u64,
    /// Maximum number of rows of a text table.
    max_rows: usize,
    heading: bool,
    filters: Vec<RowFilter>,
    /// Position of the column that sorts flows; `None` sorts by rank.
    sort: Option<usize>,
    rates: Rates,
    /// Names of addresses.
    hosts: Arc<Hosts>,
    /// When the connections and events of a window arrive.
    arrival: Arrival,
    /// The last window, until the connections of its end are reported: when the next begins, and at the end.
    held: Option<Printed>,
    /// Connections and events, which arrive before their windows.
    early: WindowRows,
}

/// A window, and what belongs to its time.
#[derive(Debug, Default)]
struct Printed {
    rows: WindowRows,
    mesh: Option<MeshRows>,
    host_ports: Vec<HostPortRow>,
    host_verdicts: Vec<HostVerdictRow>,
}

/// When the connections and events of a window arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// In part with the next window, for which a window waits: a file.
    Later,
    /// As `Later`, but a window does not wait.
    Live,
    /// With their window: a dataset.
    Whole,
}

impl Printer {
    /// `filter` applies to rows. A table without its columns is printed unfiltered, unless it is the requested
    /// table, which is an error.
    pub(super) fn new(arguments: &TopArguments, filter: Option<&Filter>, arrival: Arrival) -> Result<Self> {
        let (once, appearance) = (&arguments.once, &arguments.appearance);
        let sort = appearance.sort.as_ref();
        let sort = sort.map(|name| sort::column(FlowRow::TABLE, name));
        let sort = sort.transpose().map_err(|error| anyhow!("--sort: {error}"))?;
        let mut filters = Vec::new();
        if let Some(filter) = filter {
            let read = |table| RowFilter::new(filter, table);
            filters = FILTERED.into_iter().flat_map(read).collect();
            let requested = once.table.map(of);
            let is_json = matches!(once.output, OnceOutput::Json | OnceOutput::Jsonl);
            if let Some(requested) = requested.filter(|table| FILTERED.contains(table))
                && !is_json
            {
                read(requested)?;
            } else if requested.is_none() && !is_json {
                // The windows decide which of the tables is printed.
                let other = || read(PairRow::TABLE).or_else(|_| read(HostPortRow::TABLE));
                read(FlowRow::TABLE).or_else(|error| other().map_err(|_| error))?;
            } else if filters.is_empty() {
                read(FlowRow::TABLE)?;
            }
        }
        Ok(Self {
            output: once.output,
            table: once.table,
            by: appearance.by.map(GroupBy::from),
            mesh: None,
            host_ports: Vec::new(),
            host_verdicts: Vec::new(),
            left: match once.output {
                OnceOutput::Jsonl if !once.once => u64::MAX,
                _ => once.windows,
            },
            max_rows: arguments.measure.top,
            heading: true,
            filters,
            sort,
            rates: appearance::rates(appearance),
            hosts: appearance.hosts.names(),
            arrival,
            held: None,
            early: WindowRows::default(),
        })
    }

    pub(super) fn window(&mut self, rows: &mut WindowRows) -> Result<()> {
        self.early.events.append(&mut rows.events);
        self.early.connections.append(&mut rows.connections);
        let Some(window) = rows.windows.first() else {
            return Ok(());
        };
        let (start_ns, window_ns) = (window.window_start_ns, window.window_ns);
        let end_ns = start_ns.saturating_add(window_ns);
        let rows = self.beside(std::mem::take(rows));
        match self.arrival {
            Arrival::Later => {}
            Arrival::Live => return self.print(rows, end_ns, end_ns.saturating_add(window_ns)),
            Arrival::Whole => return self.print(rows, i64::MAX, i64::MAX),
        }
        match self.held.replace(rows) {
            Some(held) => self.print(held, start_ns, end_ns),
            None => Ok(()),
        }
    }

    /// Sets the mesh of probes of the next window.
    pub(super) fn mesh(&mut self, rows: MeshRows) {
        self.mesh = Some(rows);
    }

    /// Sets the ports of hosts of the next window.
    pub(super) fn host_ports(&mut self, rows: Vec<HostPortRow>) {
        self.host_ports = rows;
    }

    /// Sets the faults of hosts of the next window.
    pub(super) fn host_verdicts(&mut self, rows: Vec<HostVerdictRow>) {
        self.host_verdicts = rows;
    }

    /// A window with what belongs to its time.
    fn beside(&mut self, rows: WindowRows) -> Printed {
        Printed {
            rows,
            mesh: self.mesh.take(),
            host_ports: std::mem::take(&mut self.host_ports),
            host_verdicts: std::mem::take(&mut self.host_verdicts),
        }
    }

    /// Prints a window without captured traffic.
    pub(super) fn without_traffic(&mut self, start_ns: i64) -> Result<()> {
        let window = self.beside(WindowRows::default());
        if let Some(held) = self.held.take() {
            self.print(held, start_ns, start_ns)?;
        }
        self.print(window, start_ns, start_ns)
    }

    /// Prints the held window at the end of the source, and returns the error of the source, if any.
    pub(super) fn finish(&mut self, source: Result<()>) -> Result<()> {
        let is_stopped = |ended: &Result<()>| ended.as_ref().is_err_and(anyhow::Error::is::<Stopped>);
        let Some(held) = self.held.take().filter(|_| !is_stopped(&source)) else {
            return source;
        };
        let printed = self.print(held, i64::MAX, i64::MAX);
        if is_stopped(&printed) {
            source
        } else {
            printed.and(source)
        }
    }

    /// Prints a window, with the events before `next_ns` and the latest connections before `next_end_ns`, the
    /// start and end of the next window.
    fn print(&mut self, mut window: Printed, next_ns: i64, next_end_ns: i64) -> Result<()> {
        let Printed {
            rows,
            mesh,
            host_ports,
            host_verdicts,
        } = &mut window;
        rows.events = before(&mut self.early.events, |row| row.time_ns < next_ns);
        rows.connections = before(&mut self.early.connections, |row| row.time_ns < next_end_ns);
        let mut seen = HashSet::new();
        rows.connections.reverse();
        rows.connections
            .retain(|row| seen.insert((row.connection, row.role.to_string())));
        rows.connections.reverse();
        if let Some(column) = self.sort {
            let descending = sort::is_descending(&FlowRow::TABLE.columns[column]);
            let order = sort::order(&rows.flows, 0..rows.flows.len(), column, descending);
            let flows = order.iter().map(|row| rows.flows[*row as usize].clone());
            rows.flows = flows.collect();
        }
        for filter in &self.filters {
            keep(host_ports, filter);
            keep(host_verdicts, filter);
            if let Some(mesh) = mesh {
                keep(&mut mesh.pairs, filter);
            }
            keep(&mut rows.flows, filter);
            keep(&mut rows.opcodes, filter);
            keep(&mut rows.connections, filter);
            keep(&mut rows.pdcs, filter);
            keep(&mut rows.events, filter);
        }
        let by = self
            .by
            .or_else(|| (self.table == Some(TableName::Groups)).then(GroupBy::default));
        let groups = by
            .zip(rows.windows.first())
            .map(|(by, total)| by.rows(total, &rows.flows, &rows.opcodes));
        let mut groups = groups.unwrap_or_default();
        for filter in &self.filters {
            keep(&mut groups, filter);
        }
        let text = match self.output {
            OnceOutput::Table => self.text(&window, &groups),
            OnceOutput::Json | OnceOutput::Jsonl => {
                let hosts: [&dyn Cells; 2] = [host_ports, host_verdicts];
                let hosts = hosts.into_iter().filter(|cells| cells.rows() > 0);
                let hosts: Vec<&dyn Cells> = hosts.collect();
                let window = lines::window(rows, mesh.as_ref(), &hosts, self.by.map(|_| &groups));
                self.hosts.json(&window)
            }
            OnceOutput::Csv => {
                let cells = cells(&window, &groups, self.table(&window));
                let heading = if self.heading {
                    csv::heading(cells.table())
                } else {
                    String::new()
                };
                heading + &csv::rows(cells)
            }
        };
        self.heading = false;
        let is_read = print_line(&text)?;
        self.left -= 1;
        if self.left == 0 || !is_read {
            return Err(Stopped.into());
        }
        Ok(())
    }

    /// The requested table, or the default of the window.
    fn table(&self, window: &Printed) -> TableName {
        self.table.unwrap_or(match window.rows.windows.is_empty() {
            true if window.mesh.is_none() => TableName::HostPorts,
            true => TableName::Pairs,
            false if self.by.is_some() => TableName::Groups,
            false => TableName::Flows,
        })
    }

    fn text(&self, window: &Printed, groups: &Vec<GroupRow>) -> String {
        let requested = self.table(window);
        let rows = &window.rows;
        let table = |cells: &dyn Cells, columns| {
            render::table(
                cells,
                Options {
                    columns,
                    human: true,
                    rates: self.rates,
                    hosts: Some(&self.hosts),
                },
            )
        };
        let mut text = String::new();
        if !self.heading {
            text.push('\n');
        }
        if !rows.windows.is_empty() {
            text += &table(&rows.windows, None);
        }
        if requested == TableName::Windows {
            return text;
        }
        let mut mesh = window.mesh.clone().unwrap_or_default();
        if matches!(requested, TableName::Pairs | TableName::Sla | TableName::Verdicts) {
            text += &table(&mesh.sla, None);
            for verdict in &mesh.verdicts {
                let (sentence, action) = (&verdict.sentence, &verdict.action);
                let _ = writeln!(text, "\n{}  {sentence}\n    do: {action}", verdict.class);
            }
            // The worst first, because not all may be printed.
            let drops = |pair: &PairRow| pair.drop_ratio.unwrap_or(0.0);
            let pairs = &mut mesh.pairs;
            pairs.sort_by(|a, b| drops(b).total_cmp(&drops(a)));
            pairs.sort_by_key(|pair| std::cmp::Reverse(Metric::Drops.severity(pair, None)));
        }
        let window = Printed {
            rows: rows.clone(),
            mesh: Some(mesh),
            host_ports: window.host_ports.clone(),
            host_verdicts: window.host_verdicts.clone(),
        };
        // Omit the column that is equal in all rows.
        let registry = of(requested);
        let shown = registry.columns.iter().filter(|column| column.shown);
        let names: Vec<&str> = shown
            .map(|column| column.name)
            .filter(|name| *name != "window_start")
            .collect();
        let cells = Top {
            cells: cells(&window, groups, requested),
            max_rows: self.max_rows,
        };
        let all = cells.cells.rows();
        let _ = writeln!(text, "\n{}: {} of {all} rows", registry.name, cells.rows());
        text + &table(&cells, Some(&names))
    }
}

/// Takes the rows that are early enough, and keeps the others.
fn before<R>(rows: &mut Vec<R>, is_early: impl Fn(&R) -> bool) -> Vec<R> {
    let (early, late) = std::mem::take(rows).into_iter().partition(is_early);
    *rows = late;
    early
}

/// The tables with rows that a filter selects; the totals of a window always cover all packets.
const FILTERED: [&Table; 9] = [
    FlowRow::TABLE,
    OpcodeRow::TABLE,
    ConnectionRow::TABLE,
    PdcRow::TABLE,
    EventRow::TABLE,
    PairRow::TABLE,
    GroupRow::TABLE,
    HostPortRow::TABLE,
    HostVerdictRow::TABLE,
];

/// Drops the rows that do not match `filter`, if it is for their table.
fn keep<R: Row>(rows: &mut Vec<R>, filter: &RowFilter)
where
    Vec<R>: Cells,
{
    if filter.table() != R::TABLE {
        return;
    }
    let wanted: Vec<bool> = (0..rows.len()).map(|row| filter.matches(rows, row)).collect();
    let mut wanted = wanted.into_iter();
    rows.retain(|_| wanted.next().unwrap_or(true));
}

#[expect(clippy::ptr_arg, reason = "a vector is `Cells`, a slice has no size")]
fn cells<'a>(window: &'a Printed, groups: &'a Vec<GroupRow>, table: TableName) -> &'a dyn Cells {
    static NONE: MeshRows = MeshRows {
        start_ns: 0,
        window_ns: 0,
        pairs: Vec::new(),
        sla: Vec::new(),
        verdicts: Vec::new(),
        links: Vec::new(),
    };
    let (rows, mesh) = (&window.rows, window.mesh.as_ref().unwrap_or(&NONE));
    match table {
        TableName::HostPorts => &window.host_ports,
        TableName::HostVerdicts => &window.host_verdicts,
        TableName::Flows => &rows.flows,
        TableName::Opcodes => &rows.opcodes,
        TableName::Connections => &rows.connections,
        TableName::Pdcs => &rows.pdcs,
        TableName::Events => &rows.events,
        TableName::Windows => &rows.windows,
        TableName::Groups => groups,
        TableName::Pairs => &mesh.pairs,
        TableName::Sla => &mesh.sla,
        TableName::Verdicts => &mesh.verdicts,
        TableName::Links => &mesh.links,
    }
}

const fn of(table: TableName) -> &'static Table {
    match table {
        TableName::HostPorts => HostPortRow::TABLE,
        TableName::HostVerdicts => HostVerdictRow::TABLE,
        TableName::Flows => FlowRow::TABLE,
        TableName::Opcodes => OpcodeRow::TABLE,
        TableName::Connections => ConnectionRow::TABLE,
        TableName::Pdcs => PdcRow::TABLE,
        TableName::Events => EventRow::TABLE,
        TableName::Windows => WindowRow::TABLE,
        TableName::Groups => GroupRow::TABLE,
        TableName::Pairs => PairRow::TABLE,
        TableName::Sla => SlaRow::TABLE,
        TableName::Verdicts => VerdictRow::TABLE,
        TableName::Links => LinkRow::TABLE,
    }
}

/// The first rows.
struct Top<'a> {
    cells: &'a dyn Cells,
    max_rows: usize,
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
