//! Prints windows as text, JSON and CSV, without a terminal.

use super::appearance;
use crate::arguments::{self, TableName, TopArguments};
use crate::stdout::print_line;
use anyhow::{Result, anyhow};
use rocescope_model::filter::Filter;
use rocescope_model::{
    EventRow, FlowRow, GroupRow, HostPortRow, IncidentRow, LinkRow, OWNED_CONNECTIONS, OpcodeRow, PairRow, PdcRow, Row,
    SlaRow, Table, VerdictRow, WindowRow, WindowRows,
};
use rocescope_view::once::{Arrival, Format, Formatter, Settings};
use rocescope_view::{Stopped, sort};

/// Prints windows, and stops after the requested number.
pub(super) struct Printer {
    pub(super) formatter: Formatter,
    /// Windows left to print.
    left: u64,
}

impl Printer {
    pub(super) fn new(arguments: &TopArguments, filter: Option<&Filter>, arrival: Arrival) -> Result<Self> {
        let (once, appearance) = (&arguments.once, &arguments.appearance);
        let sort = appearance.sort.as_ref();
        let sort = sort.map(|name| sort::column(FlowRow::TABLE, name));
        let settings = Settings {
            format: match once.output {
                arguments::Format::Table | arguments::Format::Markdown => Format::Table,
                arguments::Format::Json | arguments::Format::Jsonl => Format::Json,
                arguments::Format::Csv => Format::Csv,
            },
            table: once.table.map(of),
            by: appearance.by,
            max_rows: arguments.measure.top,
            sort: sort.transpose().map_err(|error| anyhow!("--sort: {error}"))?,
            rates: appearance::rates(appearance),
            hosts: appearance.hosts.names(),
            arrival,
        };
        Ok(Self {
            formatter: Formatter::new(settings, filter)?,
            left: match once.output {
                arguments::Format::Jsonl if !once.once => u64::MAX,
                _ => once.windows,
            },
        })
    }

    pub(super) fn window(&mut self, rows: &mut WindowRows) -> Result<()> {
        let text = self.formatter.window(rows);
        text.map_or(Ok(()), |text| self.print(&text))
    }

    /// Prints a window without captured traffic.
    pub(super) fn without_traffic(&mut self, start_ns: i64) -> Result<()> {
        let (held, text) = self.formatter.without_traffic(start_ns);
        held.map_or(Ok(()), |held| self.print(&held))?;
        self.print(&text)
    }

    /// Prints the held window at the end of the source, and returns the error of the source, if any.
    pub(super) fn finish(&mut self, source: Result<()>) -> Result<()> {
        let is_stopped = |ended: &Result<()>| ended.as_ref().is_err_and(anyhow::Error::is::<Stopped>);
        let Some(held) = self.formatter.finish().filter(|_| !is_stopped(&source)) else {
            return source;
        };
        let printed = self.print(&held);
        if is_stopped(&printed) {
            source
        } else {
            printed.and(source)
        }
    }

    fn print(&mut self, text: &str) -> Result<()> {
        let is_read = print_line(text)?;
        self.left -= 1;
        if self.left == 0 || !is_read {
            return Err(Stopped.into());
        }
        Ok(())
    }
}

const fn of(table: TableName) -> &'static Table {
    match table {
        TableName::HostPorts => HostPortRow::TABLE,
        TableName::Incidents => IncidentRow::TABLE,
        TableName::Flows => FlowRow::TABLE,
        TableName::Opcodes => OpcodeRow::TABLE,
        TableName::Connections => &OWNED_CONNECTIONS,
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
