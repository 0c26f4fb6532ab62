//! Reloads the configuration while a capture runs.

use crate::arguments::Command;
use crate::configuration::controlled::is_controlled;
use crate::configuration::{self, ArgumentsError};
use crate::requests;
use anyhow::{Result, bail};
use rocescope_collector::control::Member;
use rocescope_engine::live::{Reload, Reloaded};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

/// Options that a running capture applies; all others are fixed at its start.
const APPLIED: [&str; 10] = [
    "small-flows",
    "filter",
    "udp-port",
    "verdict",
    "top",
    "flow-rows",
    "spread-rows",
    "elephant",
    "jitter-relative",
    "jitter-absolute",
];

/// The values of every option, by name.
type Effective = BTreeMap<String, Vec<OsString>>;

/// Returns the function with which the engine reloads the configuration of this command line.
///
/// A member reports which settings of its controller wait for a restart.
pub(crate) fn reload(member: Option<Arc<Member>>) -> Result<Reload> {
    let before = effective()?;
    Ok(Box::new(move || {
        let reloaded = read_again(&before)?;
        if let Some(member) = &member {
            let held_back = reloaded.held_back.iter();
            member.needs_restart(
                held_back
                    .filter(|name| is_controlled("capture", name))
                    .cloned()
                    .collect(),
            );
        }
        Ok(reloaded)
    }))
}

fn effective() -> Result<Effective, ArgumentsError> {
    configuration::effective(&std::env::args_os().collect::<Vec<_>>())
}

fn read_again(before: &Effective) -> Result<Reloaded> {
    let arguments = configuration::arguments(&std::env::args_os().collect::<Vec<_>>())?;
    let request = match &arguments.command {
        Command::Capture(arguments) => requests::capture(arguments)?,
        Command::Connections(arguments) => requests::connections(arguments)?,
        Command::Top(arguments) => requests::top(arguments, !arguments.no_connections)?,
        _ => bail!("the command line names another command"),
    };
    let now = effective()?.into_iter();
    let held_back = now.filter(|(name, values)| !APPLIED.contains(&name.as_str()) && before.get(name) != Some(values));
    Ok(Reloaded {
        request,
        held_back: held_back.map(|(name, _)| name).collect(),
    })
}
