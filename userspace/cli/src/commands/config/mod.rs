//! `rocescope config`: print, check or generate a configuration file; completions and manual pages.

mod completions;
mod man;

use crate::arguments::ConfigAction;
use crate::configuration::{self, SYSTEM_FILE, text};
use anyhow::{Result, bail};
use rocescope_runtime::status;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(action: &ConfigAction, named: Option<&Path>) -> Result<ExitCode> {
    match action {
        ConfigAction::Completions(arguments) => return completions::run(*arguments),
        ConfigAction::Man(arguments) => return man::run(arguments),
        ConfigAction::Template => crate::print(&text::template())?,
        ConfigAction::Print => {
            let file = configuration::file(named)?;
            crate::print(&text::effective(file.as_ref()))?;
        }
        ConfigAction::Check => match configuration::file(named) {
            Ok(Some(file)) if let Some(why) = configuration::refused_by_agent(&file) => bail!(why),
            Ok(Some(file)) => crate::print(&format!("{} is valid\n", file.path().display()))?,
            Ok(None) => bail!("no configuration file: set --config, or create {SYSTEM_FILE}"),
            Err(errors) => {
                for error in &errors.0 {
                    status!("rocescope: {error}");
                }
                return Ok(ExitCode::FAILURE);
            }
        },
    }
    Ok(ExitCode::SUCCESS)
}
