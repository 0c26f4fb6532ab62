//! `rocescope config man`: the manual pages.

use crate::arguments::ManArguments;
use crate::reference;
use anyhow::{Context, Result};
use std::fs;
use std::process::ExitCode;

pub(super) fn run(arguments: &ManArguments) -> Result<ExitCode> {
    let folder = &arguments.out;
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for (name, page) in reference::manual()? {
        let path = folder.join(name);
        fs::write(&path, page).with_context(|| path.display().to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}
