//! Prints the rows of a table, in any format and for any command.

use crate::arguments::Format;
use rocescope_model::hosts::Hosts;
use rocescope_model::json::{self, Rows};
use rocescope_model::render::{self, Options};
use rocescope_model::{Cells, csv, markdown_table};

/// The rows in this format, with a newline at the end. CSV has addresses as they are in the rows.
pub(crate) fn text(cells: &dyn Cells, format: Format, hosts: &Hosts) -> String {
    let options = Options {
        human: true,
        hosts: Some(hosts),
        ..Options::default()
    };
    match format {
        Format::Table => render::table(cells, options),
        Format::Markdown => markdown_table::table(cells, options),
        Format::Json => hosts.json(&(json::pretty(&Rows(cells, json::no_sketch)) + "\n")),
        Format::Jsonl => hosts.json(&json::lines(cells)),
        Format::Csv => csv::heading(cells.table()) + &csv::rows(cells),
    }
}
