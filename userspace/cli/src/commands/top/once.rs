//! Windows as text, JSON and CSV, for those without a terminal.

use super::feed::Stopped;
use crate::arguments::{OnceArguments, OnceOutput, TableName};
use crate::commands::print;
use anyhow::Result;
use rocescope_model::csv;
use rocescope_model::filter::{Filter, RowFilter};
use rocescope_model::json::Writer;
use rocescope_model::render::{self, Options};
use rocescope_model::{
    Cells, ConnectionRow, EventRow, FlowRow, OpcodeRow, Row, Table, Type, Value, WindowRow,
    WindowRows,
};
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
    /// Rows that came without a window.
    early: WindowRows,
}

impl Printer {
    /// `filter` is for rows: those of a table that has none of its columns are all printed, but where
    /// that table is the one asked for.
    pub(super) fn new(
        arguments: &OnceArguments,
        most: usize,
        filter: Option<&Filter>,
    ) -> Result<Self> {
        let mut wanted = Vec::new();
        if let Some(filter) = filter {
            let read = |table| RowFilter::new(filter, table);
            wanted = FILTERED.into_iter().flat_map(read).collect();
            let asked = of(arguments.table);
            if arguments.output != OnceOutput::Json && FILTERED.contains(&asked) {
                read(asked)?;
            } else if wanted.is_empty() {
                read(FlowRow::TABLE)?;
            }
        }
        Ok(Self {
            output: arguments.output,
            table: arguments.table,
            left: arguments.windows,
            most,
            heading: true,
            wanted,
            early: WindowRows::default(),
        })
    }

    pub(super) fn window(&mut self, rows: &mut WindowRows) -> Result<()> {
        self.early.events.append(&mut rows.events);
        self.early.connections.append(&mut rows.connections);
        if rows.windows.is_empty() {
            return Ok(());
        }
        rows.events.append(&mut self.early.events);
        rows.connections.append(&mut self.early.connections);
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
        rows.clear();
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
