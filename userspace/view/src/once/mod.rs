//! Windows as text, JSON and CSV, without a terminal.

mod cells;

use crate::{incidents, owned, sort};
use cells::{Top, cells};
use rocescope_diagnose::mesh::Metric;
use rocescope_diagnose::owners::Owners;
use rocescope_model::filter::{Filter, FilterError, RowFilter};
use rocescope_model::hosts::Hosts;
use rocescope_model::human::Rates;
use rocescope_model::render::{self, Options};
use rocescope_model::{
    Cells, ConnectionRow, EventRow, FlowRow, GroupBy, GroupRow, HostPortRow, IncidentRow, MeshRows, OWNED_CONNECTIONS,
    OpcodeRow, OwnedConnections, PairRow, PdcRow, Row, SlaRow, Table, VerdictRow, WindowRow, WindowRows,
};
use rocescope_model::{csv, lines};
use std::collections::HashSet;
use std::fmt::Write;
use std::sync::Arc;

/// The format of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text: totals, and the first rows of a table.
    Table,
    /// One line of JSON, with the rows of every table.
    Json,
    /// All columns of a table as CSV.
    Csv,
}

/// What is shown of windows.
#[derive(Debug)]
pub struct Settings {
    /// The format.
    pub format: Format,
    /// The requested table; `None` follows from the window.
    pub table: Option<&'static Table>,
    /// What traffic is grouped by.
    pub by: Option<GroupBy>,
    /// Maximum number of rows of a text table.
    pub max_rows: usize,
    /// Position of the column that sorts flows; `None` sorts by rank.
    pub sort: Option<usize>,
    /// Units of rates.
    pub rates: Rates,
    /// Names of addresses.
    pub hosts: Arc<Hosts>,
    /// When the connections and events of a window arrive.
    pub arrival: Arrival,
}

/// Makes text, JSON or CSV of windows.
#[derive(Debug)]
pub struct Formatter {
    settings: Settings,
    /// The mesh of probes at the time of the window, for datasets with probes.
    mesh: Option<MeshRows>,
    /// The ports of hosts at the time of the window; empty without counters.
    host_ports: Vec<HostPortRow>,
    /// All incidents that are known.
    incidents: Vec<IncidentRow>,
    /// Whose queue pairs are; `None` if no agent reported any.
    owners: Option<Arc<Owners>>,
    heading: bool,
    filters: Vec<RowFilter>,
    /// The last window, until the connections of its end are reported: when the next begins, and at the end.
    held: Option<Printed>,
    /// Connections and events, which arrive before their windows.
    early: WindowRows,
}

/// A window, and what belongs to its time.
#[derive(Debug, Default)]
struct Printed {
    /// All rows, without the connections until they are printed as JSON.
    rows: WindowRows,
    connections: OwnedConnections,
    mesh: Option<MeshRows>,
    host_ports: Vec<HostPortRow>,
    incidents: Vec<IncidentRow>,
}

/// When the connections and events of a window arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// In part with the next window, for which a window waits: a file.
    Later,
    /// As `Later`, but a window does not wait.
    Live,
    /// With their window: a dataset.
    Whole,
}

impl Formatter {
    /// `filter` applies to rows. A table without its columns is printed unfiltered, unless it is the requested
    /// table, which is an error.
    ///
    /// # Errors
    /// The requested table has no column for a term of the filter.
    pub fn new(settings: Settings, filter: Option<&Filter>) -> Result<Self, FilterError> {
        let mut filters = Vec::new();
        if let Some(filter) = filter {
            let read = |table| RowFilter::new(filter, table);
            filters = FILTERED.into_iter().flat_map(read).collect();
            let requested = settings.table;
            let is_json = settings.format == Format::Json;
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
            settings,
            mesh: None,
            host_ports: Vec::new(),
            incidents: Vec::new(),
            owners: None,
            heading: true,
            filters,
            held: None,
            early: WindowRows::default(),
        })
    }

    /// Takes a window; returns the text of it, or of the one before, which waited for its connections.
    pub fn window(&mut self, rows: &mut WindowRows) -> Option<String> {
        self.early.events.append(&mut rows.events);
        self.early.connections.append(&mut rows.connections);
        let window = rows.windows.first()?;
        let (start_ns, window_ns) = (window.window_start_ns, window.window_ns);
        let end_ns = start_ns.saturating_add(window_ns);
        let rows = self.beside(std::mem::take(rows), (start_ns, end_ns));
        match self.settings.arrival {
            Arrival::Later => {}
            Arrival::Live => return Some(self.format(rows, end_ns, end_ns.saturating_add(window_ns))),
            Arrival::Whole => return Some(self.format(rows, i64::MAX, i64::MAX)),
        }
        let held = self.held.replace(rows)?;
        Some(self.format(held, start_ns, end_ns))
    }

    /// Sets the mesh of probes of the next window.
    pub fn mesh(&mut self, rows: MeshRows) {
        self.mesh = Some(rows);
    }

    /// Sets the ports of hosts of the next window.
    pub fn host_ports(&mut self, rows: Vec<HostPortRow>) {
        self.host_ports = rows;
    }

    /// Sets all incidents that are known, the worst first. Each window has those of its time.
    pub fn incidents(&mut self, rows: Vec<IncidentRow>) {
        self.incidents = rows;
    }

    /// Sets whose queue pairs are in the windows that follow. What has owners is set before the first window.
    pub fn owners(&mut self, owners: Arc<Owners>) {
        self.owners = Some(owners);
    }

    /// A window with what belongs to its time.
    fn beside(&mut self, rows: WindowRows, (start_ns, end_ns): (i64, i64)) -> Printed {
        Printed {
            rows,
            connections: OwnedConnections::default(),
            mesh: self.mesh.take(),
            host_ports: std::mem::take(&mut self.host_ports),
            incidents: incidents::at(&self.incidents, start_ns, end_ns),
        }
    }

    /// The text of the window that waits, if any, and of one without captured traffic.
    pub fn without_traffic(&mut self, start_ns: i64) -> (Option<String>, String) {
        let of_mesh = self.mesh.as_ref().map(|mesh| mesh.window_ns);
        let of_ports = self.host_ports.first().map(|port| port.window_ns);
        let end_ns = start_ns.saturating_add(of_mesh.max(of_ports).unwrap_or(1));
        let window = self.beside(WindowRows::default(), (start_ns, end_ns));
        let held = self.held.take().map(|held| self.format(held, start_ns, start_ns));
        (held, self.format(window, start_ns, start_ns))
    }

    /// The text of the window that waits at the end of the source.
    pub fn finish(&mut self) -> Option<String> {
        let held = self.held.take()?;
        Some(self.format(held, i64::MAX, i64::MAX))
    }

    /// The text of a window, with the events before `next_ns` and the latest connections before `next_end_ns`, the
    /// start and end of the next window.
    fn format(&mut self, mut window: Printed, next_ns: i64, next_end_ns: i64) -> String {
        let Printed {
            rows,
            connections,
            mesh,
            host_ports,
            incidents: open_or_ended,
        } = &mut window;
        rows.events = before(&mut self.early.events, |row| row.time_ns < next_ns);
        connections.rows = before(&mut self.early.connections, |row| row.time_ns < next_end_ns);
        let mut seen = HashSet::new();
        connections.rows.reverse();
        connections
            .rows
            .retain(|row| seen.insert((row.connection, row.role.to_string())));
        ConnectionRow::sort_worst_first(&mut connections.rows);
        if let Some(owners) = &self.owners {
            connections.owners = owned::owners(&connections.rows, owners);
        }
        if let Some(column) = self.settings.sort {
            let descending = sort::is_descending(&FlowRow::TABLE.columns[column]);
            let order = sort::order(&rows.flows, 0..rows.flows.len(), column, descending);
            let flows = order.iter().map(|row| rows.flows[*row as usize].clone());
            rows.flows = flows.collect();
        }
        for filter in &self.filters {
            keep(host_ports, filter);
            keep(open_or_ended, filter);
            if let Some(mesh) = mesh {
                keep(&mut mesh.pairs, filter);
            }
            keep(&mut rows.flows, filter);
            keep(&mut rows.opcodes, filter);
            owned::keep(connections, filter);
            keep(&mut rows.pdcs, filter);
            keep(&mut rows.events, filter);
        }
        let by = self
            .settings
            .by
            .or_else(|| (self.settings.table == Some(GroupRow::TABLE)).then(GroupBy::default));
        let groups = by
            .zip(rows.windows.first())
            .map(|(by, total)| by.rows(total, &rows.flows, &rows.opcodes));
        let mut groups = groups.unwrap_or_default();
        for filter in &self.filters {
            keep(&mut groups, filter);
        }
        let text = match self.settings.format {
            Format::Table => self.text(&window, &groups),
            Format::Json => {
                rows.connections = std::mem::take(&mut connections.rows);
                connections.owners.retain(|row| row.owners.is_some());
                let hosts: [&dyn Cells; 3] = [&connections.owners, host_ports, open_or_ended];
                let hosts = hosts.into_iter().filter(|cells| cells.rows() > 0);
                let hosts: Vec<&dyn Cells> = hosts.collect();
                let window = lines::window(rows, mesh.as_ref(), &hosts, self.settings.by.map(|_| &groups));
                self.settings.hosts.json(&window)
            }
            Format::Csv => {
                let cells = cells(&window, &groups, self.requested(&window));
                let heading = if self.heading {
                    csv::heading(cells.table())
                } else {
                    String::new()
                };
                heading + &csv::rows(cells)
            }
        };
        self.heading = false;
        text
    }

    /// The requested table, or the default of the window.
    fn requested(&self, window: &Printed) -> &'static Table {
        // Columns of owners are there if an agent reported any.
        let table = self.settings.table.map(|table| match self.owners {
            None if *table == OWNED_CONNECTIONS => ConnectionRow::TABLE,
            _ => table,
        });
        table.unwrap_or(match window.rows.windows.is_empty() {
            true if window.mesh.is_none() => HostPortRow::TABLE,
            true => PairRow::TABLE,
            false if self.settings.by.is_some() => GroupRow::TABLE,
            false => FlowRow::TABLE,
        })
    }

    fn text(&self, window: &Printed, groups: &Vec<GroupRow>) -> String {
        let requested = self.requested(window);
        let rows = &window.rows;
        let table = |cells: &dyn Cells, columns| {
            render::table(
                cells,
                Options {
                    columns,
                    human: true,
                    rates: self.settings.rates,
                    hosts: Some(&self.settings.hosts),
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
        if requested == WindowRow::TABLE {
            return text;
        }
        let mut mesh = window.mesh.clone().unwrap_or_default();
        if [PairRow::TABLE, SlaRow::TABLE, VerdictRow::TABLE].contains(&requested) {
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
            connections: window.connections.clone(),
            mesh: Some(mesh),
            host_ports: window.host_ports.clone(),
            incidents: window.incidents.clone(),
        };
        // Omit the column that is equal in all rows.
        let shown = requested.columns.iter().filter(|column| column.shown);
        let names: Vec<&str> = shown
            .map(|column| column.name)
            .filter(|name| *name != "window_start")
            .collect();
        let cells = Top {
            cells: cells(&window, groups, requested),
            max_rows: self.settings.max_rows,
        };
        let all = cells.cells.rows();
        let _ = writeln!(text, "\n{}: {} of {all} rows", requested.name, cells.rows());
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
    &OWNED_CONNECTIONS,
    PdcRow::TABLE,
    EventRow::TABLE,
    PairRow::TABLE,
    GroupRow::TABLE,
    HostPortRow::TABLE,
    IncidentRow::TABLE,
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
