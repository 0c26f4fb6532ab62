//! This process as a member of a controller's fleet: what it holds, and how it checks what it gets.

use crate::arguments::Command;
use crate::configuration::{self, controlled};
use crate::requests;
use rocescope_collector::control::Member;
use rocescope_collector::control::member::Held;
use rocescope_collector::control::message::Role;
use rocescope_runtime::status;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

/// A member that keeps what the controller sends in `file`.
pub(super) fn open(role: Role, file: &Path) -> Arc<Member> {
    let line: Vec<OsString> = std::env::args_os().collect();
    let held = Held::read(file).and_then(|held| {
        if let Some(held) = &held {
            controlled::parse(&held.text).map_err(|errors| {
                let why = errors.0.first().map(ToString::to_string).unwrap_or_default();
                format!("{}: {why}", file.display())
            })?;
        }
        Ok(held)
    });
    let held = held.unwrap_or_else(|why| {
        status!("{why}: this host runs its own configuration until the controller sends another");
        None
    });
    if let Some(held) = &held {
        status!("running version {} of the controller's configuration", held.version);
    }
    Arc::new(Member::new(
        role,
        file,
        held,
        Box::new(move |text| check(&line, text)),
        Arc::new(|line| status!("{line}")),
    ))
}

/// Checks what a controller sent as the configuration of this command line is checked.
fn check(line: &[OsString], text: &str) -> Result<(), String> {
    let arguments = configuration::controlled_arguments(line, text)?;
    if let Command::Capture(capture) = &arguments.command {
        let request = requests::capture(capture).map_err(|error| format!("{error:#}"))?;
        request.intake.settings.check().map_err(|error| error.to_string())?;
    }
    Ok(())
}
