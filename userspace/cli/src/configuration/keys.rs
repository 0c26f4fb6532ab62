//! Which options a configuration file or the environment can set, and their names.

use super::file::ConfigurationFile;
use crate::arguments::{self, CollectivePartArguments, HostpingPartArguments, QueuePairsPartArguments};
use clap::builder::BoolishValueParser;
use clap::{Arg, ArgAction, Args, Command};

/// The tables of a configuration file: those of commands, and [`PARTS`].
pub const TABLES: [&str; 11] = [
    "agent",
    "capture",
    "collective",
    "collector",
    "connections",
    "counters",
    "hostping",
    "operator",
    "probe",
    "queue-pairs",
    "top",
];

/// Tables of commands below `collector`, and their commands: the collector itself, and what operators ask it.
const OF_COLLECTOR: [(&str, &[&str]); 2] = [
    ("collector", &["run"]),
    ("operator", &["status", "apply", "diff", "rollback"]),
];

/// Former names of tables.
pub const FORMER_TABLES: [(&str, &str); 2] = [("collect", "collector"), ("control", "operator")];

/// Tables of what an agent alone does: no command has their settings.
pub const PARTS: [&str; 3] = ["collective", "hostping", "queue-pairs"];

/// A table as a command: its options are the settings, with their layers.
#[must_use]
pub fn table(name: &str, file: Option<&ConfigurationFile>) -> Option<Command> {
    let part = Command::new(name.to_owned());
    match name {
        "collective" => Some(settable(CollectivePartArguments::augment_args(part), name, file)),
        "hostping" => Some(settable(HostpingPartArguments::augment_args(part), name, file)),
        "queue-pairs" => Some(settable(QueuePairsPartArguments::augment_args(part), name, file)),
        name => {
            let command = command(file);
            match OF_COLLECTOR.iter().find(|(table, _)| *table == name) {
                Some((_, below)) => command
                    .find_subcommand("collector")?
                    .find_subcommand(below.first()?)
                    .cloned(),
                None => command.find_subcommand(name).cloned(),
            }
        }
    }
}

/// Commands that read what others have written. Of their options only those of [`SHARED`] can be set, above the first
/// table: `observer` and `top`, for one, would restrict what they read.
pub const READERS: [&str; 4] = ["compare", "diagnose", "report", "serve"];

/// Options that mean the same for every command.
pub const SHARED: [&str; 1] = ["hosts"];

/// Options of a single invocation: input and output.
const PER_INVOCATION: [&str; 16] = [
    "config",
    "read",
    "write",
    "count",
    "list-interfaces",
    "plan",
    "help",
    "version",
    "output",
    "at",
    "from",
    "to",
    "last",
    "once",
    "windows",
    "table",
];

/// Prefix of the environment variables.
pub const PREFIX: &str = "ROCESCOPE_";

/// Whether a configuration file or the environment can set an option.
#[must_use]
pub fn is_settable(argument: &Arg) -> bool {
    let long = argument.get_long();
    !argument.is_positional() && long.is_some_and(|long| !PER_INVOCATION.contains(&long))
}

/// Whether it is a flag without a value.
#[must_use]
pub fn is_flag(argument: &Arg) -> bool {
    matches!(argument.get_action(), ArgAction::SetTrue)
}

/// Whether it is repeatable.
#[must_use]
pub fn is_list(argument: &Arg) -> bool {
    matches!(argument.get_action(), ArgAction::Append)
}

/// The environment variable that sets an option.
#[must_use]
pub fn variable(argument: &Arg) -> String {
    variable_of(argument.get_long().unwrap_or_default())
}

/// The environment variable of an option by its long name.
#[must_use]
pub fn variable_of(long: &str) -> String {
    format!("{PREFIX}{}", long.replace('-', "_").to_uppercase())
}

/// The command with the layers: command line over environment over `file`.
#[must_use]
pub fn command(file: Option<&ConfigurationFile>) -> Command {
    arguments::command().mut_subcommands(|command| {
        let name = command.get_name().to_owned();
        if READERS.contains(&name.as_str()) {
            return reader(command, &name, file);
        }
        if name == "collector" {
            return OF_COLLECTOR.iter().fold(command, |command, (table, below)| {
                below.iter().fold(command, |command, below| {
                    command.mut_subcommand(*below, |command| settable(command, table, file))
                })
            });
        }
        match TABLES.contains(&name.as_str()) && !PARTS.contains(&name.as_str()) {
            true => settable(command, &name, file),
            false => command,
        }
    })
}

/// A command with the layers of its options.
fn settable(command: Command, name: &str, file: Option<&ConfigurationFile>) -> Command {
    command.mut_args(|argument| {
        if is_settable(&argument) {
            layered(argument, name, file)
        } else {
            argument
        }
    })
}

/// A reader, or an action of one, with the layers of the shared options.
fn reader(command: Command, name: &str, file: Option<&ConfigurationFile>) -> Command {
    let is_shared = |argument: &Arg| argument.get_long().is_some_and(|long| SHARED.contains(&long));
    command
        .mut_args(|argument| match is_shared(&argument) {
            true => layered(argument, name, file),
            false => argument,
        })
        .mut_subcommands(|action| reader(action, name, file))
}

fn layered(argument: Arg, command: &str, file: Option<&ConfigurationFile>) -> Arg {
    let variable = variable(&argument);
    let mut argument = argument.env(variable).hide_env(true);
    if is_flag(&argument) {
        argument = argument.value_parser(BoolishValueParser::new());
    }
    if is_list(&argument) {
        argument = argument.value_delimiter(',');
    }
    let values = argument
        .get_long()
        .and_then(|long| file?.values(command, long))
        .map(<[String]>::to_vec);
    match values {
        // An option with a default is not required.
        Some(values) => argument.required(false).default_values(values),
        None => argument,
    }
}
