//! `rocescope dataset`: one file for each verb, and `program`, which starts those that are programs of their own.

mod compact;
mod merge;
mod program;
mod repair;
mod rollup;
mod schema;
mod verify;

use crate::arguments::DatasetAction;
use anyhow::Result;
use std::process::ExitCode;

pub(super) fn run(action: &DatasetAction) -> Result<ExitCode> {
    match action {
        DatasetAction::Schema(arguments) => schema::run(arguments),
        DatasetAction::Sql(arguments) => program::start("rocescope-sql", arguments),
        DatasetAction::Merge(arguments) => merge::run(arguments),
        DatasetAction::Verify(arguments) => verify::run(arguments),
        DatasetAction::Repair(arguments) => repair::run(arguments),
        DatasetAction::Compact(arguments) => compact::run(arguments),
        DatasetAction::Rollup(arguments) => rollup::run(arguments),
        DatasetAction::Ship(arguments) => program::start("rocescope-ship", arguments),
    }
}
