//! `rocescope schema`: the tables of the dataset.

use crate::arguments::{SchemaArguments, SchemaOutput};
use anyhow::Result;
use rocescope_model::{markdown, schema};
use std::process::ExitCode;

pub(super) fn run(arguments: &SchemaArguments) -> Result<ExitCode> {
    crate::print(&match arguments.output {
        SchemaOutput::Table => schema::text(),
        SchemaOutput::Json => schema::json(),
        SchemaOutput::Markdown => markdown::page(),
    })?;
    Ok(ExitCode::SUCCESS)
}
