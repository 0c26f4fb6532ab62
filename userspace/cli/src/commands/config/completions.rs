//! `rocescope config completions`: the completion script for a shell.

use crate::arguments::CompletionsArguments;
use crate::reference;
use anyhow::Result;
use std::process::ExitCode;

pub(super) fn run(arguments: CompletionsArguments) -> Result<ExitCode> {
    crate::print(&reference::completions(arguments.shell))?;
    Ok(ExitCode::SUCCESS)
}
