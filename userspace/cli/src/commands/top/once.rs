//! Windows as text, JSON and CSV, for those without a terminal.

use super::feed::Stopped;
use super::look;
use crate::arguments::{OnceOutput, TableName, TopArguments};
use crate::commands::print;
use anyhow::{Result, anyhow};
use rocescope_model::csv;
use rocescope_model::filter::{Filter, RowFilter};
use rocescope_model::human::Rates;
use rocescope_model::json::Writer;
use rocescope_model::render::{self, Options};
use rocescope_model::{
    Cells, ConnectionRow, EventRow, FlowRow, OpcodeRow, Row, Table, Type, Value, WindowRow,
    WindowRows,
};
use rocescope_view::sort;
use std::collections::HashSet;
use std::fmt::Write;

/// Prints windows, and ends behind the last that is wanted.
pub(super) struct Printer {
    output: OnceOutput,
    table: TableName,
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
    held: Option<WindowRows>,
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
            let asked = of(once.table);
            if once.output != OnceOutput::Json && FILTERED.contains(&asked) {
                read(asked)?;
            } else if wanted.is_empty() {
                read(FlowRow::TABLE)?;
            }
        }
        Ok(Self {
            output: once.output,
            table: once.table,
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
        let rows = std::mem::take(rows);
        if self.live {
            return self.print(rows, end_ns, end_ns.saturating_add(window_ns));
        }
        match self.held.replace(rows) {
            Some(held) => self.print(held, start_ns, end_ns),
            None => Ok(()),
        }
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
    fn print(&mut self, mut rows: WindowRows, next_ns: i64, next_end_ns: i64) -> Result<()> {
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
            keep(&mut rows.flows, filter);
            keep(&mut rows.opcodes, filter);
            keep(&mut rows.connections, filter);
            keep(&mut rows.events, filter);
        }
        let text = match self.output {
            OnceOutput::Table => self.text(rows),
            OnceOutput::Json => json(rows),
            OnceOutput::Csv => {
                let cells = cells(rows, self.table);
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

    fn text(&self, rows: &WindowRows) -> String {
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
        text += &table(&rows.windows, None);
        if self.table == TableName::Windows {
            return text;
        }
        // Every row is of this window.
        let registry = of(self.table);
        let shown = registry.columns.iter().filter(|column| column.shown);
        let names: Vec<&str> = shown
            .map(|column| column.name)
            .filter(|name| *name != "window_start")
            .collect();
        let cells = Top {
            cells: cells(rows, self.table),
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
const FILTERED: [&Table; 4] = [
    FlowRow::TABLE,
    OpcodeRow::TABLE,
    ConnectionRow::TABLE,
    EventRow::TABLE,
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

fn cells(rows: &WindowRows, table: TableName) -> &dyn Cells {
    match table {
        TableName::Flows => &rows.flows,
        TableName::Opcodes => &rows.opcodes,
        TableName::Connections => &rows.connections,
        TableName::Events => &rows.events,
        TableName::Windows => &rows.windows,
    }
}

const fn of(table: TableName) -> &'static Table {
    match table {
        TableName::Flows => FlowRow::TABLE,
        TableName::Opcodes => OpcodeRow::TABLE,
        TableName::Connections => ConnectionRow::TABLE,
        TableName::Events => EventRow::TABLE,
        TableName::Windows => WindowRow::TABLE,
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
fn json(rows: &WindowRows) -> String {
    let mut json = Writer::compact();
    json.begin_object();
    let mut tables = rows.tables();
    // The sums first, for who reads with their eyes.
    tables.rotate_right(1);
    for cells in tables {
        json.key(cells.table().name).begin_array();
        for row in 0..cells.rows() {
            json.row(cells, row, |column| column.kind != Type::Bytes);
        }
        json.end_array();
    }
    json.end_object();
    json.finish() + "\n"
}
