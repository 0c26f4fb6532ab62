//! Windows as text, JSON and CSV, for those without a terminal.

use super::look;
use crate::arguments::{OnceOutput, TableName, TopArguments};
use crate::print;
use anyhow::{Result, anyhow};
use rocescope_diagnose::mesh::Figure;
use rocescope_model::csv;
use rocescope_model::filter::{Filter, RowFilter};
use rocescope_model::human::Rates;
use rocescope_model::json::{self, Object, Rows};
use rocescope_model::render::{self, Options};
use rocescope_model::{
    Cells, ConnectionRow, EventRow, FlowRow, LinkRow, MeshRows, OpcodeRow, PairRow, Row, SlaRow,
    Table, Value, VerdictRow, WindowRow, WindowRows,
};
use rocescope_view::{Stopped, sort};
use std::collections::HashSet;
use std::fmt::Write;

/// Prints windows, and ends behind the last that is wanted.
pub(super) struct Printer {
    output: OnceOutput,
    table: Option<TableName>,
    /// The mesh of probes at the time of the window; only of datasets that have one.
    mesh: Option<MeshRows>,
    /// Windows still wanted.
    left: u64,
    /// Rows of a text table at most.
    most: usize,
    heading: bool,
    wanted: Vec<RowFilter>,
    /// Position of the column by which flows are sorted, if not by rank.
    sort: Option<usize>,
    rates: Rates,
    /// Whether windows come by the clock: then none waits for the next.
    live: bool,
    /// The window that came last. Connections are reported when the next one begins, and at the end.
    held: Option<(WindowRows, Option<MeshRows>)>,
    /// Connections and events, which come before the windows that they belong to.
    early: WindowRows,
}

impl Printer {
    /// `filter` is for rows: those of a table that has none of its columns are all printed, but where
    /// that table is the one asked for.
    pub(super) fn new(
        arguments: &TopArguments,
        filter: Option<&Filter>,
        live: bool,
    ) -> Result<Self> {
        let (once, look) = (&arguments.once, &arguments.look);
        let sort = look.sort.as_ref();
        let sort = sort.map(|name| sort::column(FlowRow::TABLE, name));
        let sort = sort
            .transpose()
            .map_err(|error| anyhow!("--sort: {error}"))?;
        let mut wanted = Vec::new();
        if let Some(filter) = filter {
            let read = |table| RowFilter::new(filter, table);
            wanted = FILTERED.into_iter().flat_map(read).collect();
            let asked = once.table.map(of);
            if let Some(asked) = asked.filter(|table| FILTERED.contains(table))
                && once.output != OnceOutput::Json
            {
                read(asked)?;
            } else if asked.is_none() && once.output != OnceOutput::Json {
                // Which of the two it will be, the windows decide.
                read(FlowRow::TABLE).or_else(|error| read(PairRow::TABLE).map_err(|_| error))?;
            } else if wanted.is_empty() {
                read(FlowRow::TABLE)?;
            }
        }
        Ok(Self {
            output: once.output,
            table: once.table,
            mesh: None,
            left: once.windows,
            most: arguments.measure.top,
            heading: true,
            wanted,
            sort,
            rates: look::rates(look),
            live,
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
        let rows = (std::mem::take(rows), self.mesh.take());
        if self.live {
            return self.print(rows, end_ns, end_ns.saturating_add(window_ns));
        }
        match self.held.replace(rows) {
            Some(held) => self.print(held, start_ns, end_ns),
            None => Ok(()),
        }
    }

    /// The mesh of probes of the window that comes next.
    pub(super) fn mesh(&mut self, rows: MeshRows) {
        self.mesh = Some(rows);
    }

    /// A window of the mesh at a time when nothing was captured.
    pub(super) fn mesh_alone(&mut self) -> Result<()> {
        let mesh = self.mesh.take();
        let start_ns = mesh.as_ref().map_or(i64::MIN, |mesh| mesh.start_ns);
        if let Some(held) = self.held.take() {
            self.print(held, start_ns, start_ns)?;
        }
        self.print((WindowRows::default(), mesh), start_ns, start_ns)
    }

    /// The source is over, and this is how: prints the window that was held.
    pub(super) fn finish(&mut self, source: Result<()>) -> Result<()> {
        let is_stopped =
            |ended: &Result<()>| ended.as_ref().is_err_and(anyhow::Error::is::<Stopped>);
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

    /// Prints a window, the next of which takes the time from `next_ns` to `next_end_ns`: with the events
    /// before that, and connections as they were reported when it began.
    fn print(
        &mut self,
        (mut rows, mut mesh): (WindowRows, Option<MeshRows>),
        next_ns: i64,
        next_end_ns: i64,
    ) -> Result<()> {
        let rows = &mut rows;
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
        for filter in &self.wanted {
            if let Some(mesh) = &mut mesh {
                keep(&mut mesh.pairs, filter);
            }
            keep(&mut rows.flows, filter);
            keep(&mut rows.opcodes, filter);
            keep(&mut rows.connections, filter);
            keep(&mut rows.events, filter);
        }
        let text = match self.output {
            OnceOutput::Table => self.text(rows, mesh.as_ref()),
            OnceOutput::Json => json(rows, mesh.as_ref()),
            OnceOutput::Csv => {
                let mesh = mesh.unwrap_or_default();
                let cells = cells(rows, &mesh, self.table(rows));
                let heading = if self.heading {
                    csv::heading(cells.table())
                } else {
                    String::new()
                };
                heading + &csv::rows(cells)
            }
        };
        self.heading = false;
        print(&text)?;
        self.left -= 1;
        if self.left == 0 {
            return Err(Stopped.into());
        }
        Ok(())
    }

    /// The table that is asked for, or else what there is most to see in.
    fn table(&self, rows: &WindowRows) -> TableName {
        self.table.unwrap_or(match rows.windows.is_empty() {
            true => TableName::Pairs,
            false => TableName::Flows,
        })
    }

    fn text(&self, rows: &WindowRows, mesh: Option<&MeshRows>) -> String {
        let asked = self.table(rows);
        let table = |cells: &dyn Cells, columns| {
            render::table(
                cells,
                Options {
                    columns,
                    human: true,
                    rates: self.rates,
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
        if asked == TableName::Windows {
            return text;
        }
        let mut mesh = mesh.cloned().unwrap_or_default();
        if matches!(
            asked,
            TableName::Pairs | TableName::Sla | TableName::Verdicts
        ) {
            text += &table(&mesh.sla, None);
            for verdict in &mesh.verdicts {
                let (sentence, action) = (&verdict.sentence, &verdict.action);
                let _ = writeln!(text, "\n{}  {sentence}\n    do: {action}", verdict.class);
            }
            // The worst first, for not all may be printed.
            let drops = |pair: &PairRow| pair.drop_ratio.unwrap_or(0.0);
            let pairs = &mut mesh.pairs;
            pairs.sort_by(|a, b| drops(b).total_cmp(&drops(a)));
            pairs.sort_by_key(|pair| std::cmp::Reverse(Figure::Drops.severity(pair, None)));
        }
        // Every row is of this window.
        let registry = of(asked);
        let shown = registry.columns.iter().filter(|column| column.shown);
        let names: Vec<&str> = shown
            .map(|column| column.name)
            .filter(|name| *name != "window_start")
            .collect();
        let cells = Top {
            cells: cells(rows, &mesh, asked),
            most: self.most,
        };
        let all = cells.cells.rows();
        let _ = writeln!(text, "\n{}: {} of {all} rows", registry.name, cells.rows());
        text + &table(&cells, Some(&names))
    }
}

/// Takes the rows that are early enough; the others wait.
fn before<R>(rows: &mut Vec<R>, is_early: impl Fn(&R) -> bool) -> Vec<R> {
    let (early, late) = std::mem::take(rows).into_iter().partition(is_early);
    *rows = late;
    early
}

/// The tables whose rows a filter chooses; the sums of a window are always those of all packets.
const FILTERED: [&Table; 5] = [
    FlowRow::TABLE,
    OpcodeRow::TABLE,
    ConnectionRow::TABLE,
    EventRow::TABLE,
    PairRow::TABLE,
];

/// Drops the rows that `filter` does not want, where it is one for their table.
fn keep<R: Row>(rows: &mut Vec<R>, filter: &RowFilter)
where
    Vec<R>: Cells,
{
    if filter.table() != R::TABLE {
        return;
    }
    let wanted: Vec<bool> = (0..rows.len())
        .map(|row| filter.matches(rows, row))
        .collect();
    let mut wanted = wanted.into_iter();
    rows.retain(|_| wanted.next().unwrap_or(true));
}

fn cells<'a>(rows: &'a WindowRows, mesh: &'a MeshRows, table: TableName) -> &'a dyn Cells {
    match table {
        TableName::Flows => &rows.flows,
        TableName::Opcodes => &rows.opcodes,
        TableName::Connections => &rows.connections,
        TableName::Events => &rows.events,
        TableName::Windows => &rows.windows,
        TableName::Pairs => &mesh.pairs,
        TableName::Sla => &mesh.sla,
        TableName::Verdicts => &mesh.verdicts,
        TableName::Links => &mesh.links,
    }
}

const fn of(table: TableName) -> &'static Table {
    match table {
        TableName::Flows => FlowRow::TABLE,
        TableName::Opcodes => OpcodeRow::TABLE,
        TableName::Connections => ConnectionRow::TABLE,
        TableName::Events => EventRow::TABLE,
        TableName::Windows => WindowRow::TABLE,
        TableName::Pairs => PairRow::TABLE,
        TableName::Sla => SlaRow::TABLE,
        TableName::Verdicts => VerdictRow::TABLE,
        TableName::Links => LinkRow::TABLE,
    }
}

/// The first rows.
struct Top<'a> {
    cells: &'a dyn Cells,
    most: usize,
}

impl Cells for Top<'_> {
    fn table(&self) -> &'static Table {
        self.cells.table()
    }

    fn rows(&self) -> usize {
        self.cells.rows().min(self.most)
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        self.cells.value(row, column)
    }
}

/// One line: an object of tables, each with its rows; sketches are not for here.
fn json(rows: &WindowRows, mesh: Option<&MeshRows>) -> String {
    let mut tables = rows.tables();
    // The sums first, for who reads with their eyes.
    tables.rotate_right(1);
    let of_mesh = mesh.iter().flat_map(|mesh| mesh.tables());
    let tables = tables.into_iter().chain(of_mesh);
    let tables = tables.map(|cells| (cells.table().name, Rows(cells, json::no_sketch)));
    json::compact(&tables.collect::<Object<_, _>>()) + "\n"
}
