//! What `--on-incident` names: a command that gets each change of an incident.

use rocescope_diagnose::incidents::changes::Change;
use rocescope_model::hosts::Hosts;
use rocescope_model::json;
use rocescope_runtime::hook::{LONGEST, Target, command};
use std::str::FromStr;

/// A target of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OnIncident {
    /// A command of the shell, with the change as one line of JSON on its standard input.
    Command(String),
}

impl FromStr for OnIncident {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim().is_empty() {
            true => Err("expected a command".into()),
            false => Ok(Self::Command(text.to_owned())),
        }
    }
}

impl OnIncident {
    /// Makes it ready; `names` replaces addresses.
    pub(super) fn open(&self, names: &Hosts) -> Box<dyn Target<Change>> {
        match self {
            Self::Command(command) => Box::new(Command {
                command: command.clone(),
                names: names.clone(),
            }),
        }
    }
}

struct Command {
    command: String,
    names: Hosts,
}

impl Target<Change> for Command {
    fn deliver(&mut self, change: &Change) -> Result<(), String> {
        command::run(&self.command, &text(&self.names, change), LONGEST)
    }
}

/// A change as one line of JSON.
fn text(names: &Hosts, change: &Change) -> String {
    names.json(&(json::compact(change) + "\n"))
}
