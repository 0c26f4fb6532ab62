//! `rocescope dataset schema`: the tables of the dataset, or some of them.

use crate::arguments::{SchemaArguments, SchemaOutput};
use anyhow::{Result, anyhow, ensure};
use rocescope_model::nearest::nearest;
use rocescope_model::{TABLES, Table, markdown, schema};
use std::process::ExitCode;

pub(super) fn run(arguments: &SchemaArguments) -> Result<ExitCode> {
    let tables: Vec<&'static Table> = arguments.tables.iter().map(|name| table(name)).collect::<Result<_>>()?;
    crate::print(&match (arguments.output, tables.is_empty()) {
        (SchemaOutput::Table, true) => schema::text(),
        (SchemaOutput::Table, false) => {
            let texts: Vec<String> = tables.iter().map(|table| schema::table_text(table)).collect();
            texts.join("\n")
        }
        (SchemaOutput::Json, true) => schema::json(),
        (SchemaOutput::Json, false) => schema::json_of_tables(&tables),
        (SchemaOutput::Markdown, all) => {
            ensure!(all, "-o markdown prints all tables");
            markdown::page()
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

fn table(name: &str) -> Result<&'static Table> {
    let found = TABLES.iter().copied().find(|table| table.name == name);
    found.ok_or_else(|| match nearest(name, TABLES.iter().map(|table| table.name)) {
        Some(near) => anyhow!("no table `{name}`; did you mean `{near}`?"),
        None => {
            let names: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
            anyhow!("no table `{name}`: there are {}", names.join(", "))
        }
    })
}
