//! `rocescope config`: print, check or make a configuration file.

use crate::arguments::ConfigAction;
use crate::configuration::{self, SYSTEM_FILE, text};
use anyhow::{Result, bail};
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(action: ConfigAction, named: Option<&Path>) -> Result<ExitCode> {
    match action {
        ConfigAction::Template => crate::print(&text::template())?,
        ConfigAction::Print => {
            let file = configuration::file(named)?;
            crate::print(&text::effective(file.as_ref()))?;
        }
        ConfigAction::Check => match configuration::file(named)? {
            Some(file) => crate::print(&format!("{} is right\n", file.path().display()))?,
            None => bail!("there is no file: name one with --config, or write {SYSTEM_FILE}"),
        },
    }
    Ok(ExitCode::SUCCESS)
}
