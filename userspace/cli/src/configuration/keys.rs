//! Which options a configuration file or the environment can set, and their names.

use super::file::ConfigurationFile;
use crate::arguments;
use clap::builder::BoolishValueParser;
use clap::{Arg, ArgAction, Command};

/// Commands with options that can be set.
pub const COMMANDS: [&str; 10] = [
    "agent",
    "capture",
    "collect",
    "collective",
    "connections",
    "control",
    "counters",
    "hostping",
    "probe",
    "top",
];

/// The words of the command whose options a table has: `[hostping]` and `[collective]` those of their only action that runs
/// on.
#[must_use]
pub fn words(table: &str) -> Vec<&str> {
    match table {
        "hostping" => vec!["hostping", "run"],
        "collective" => vec!["collective", "follow"],
        table => vec![table],
    }
}

/// Commands that read what others have written. Of their options only those of [`SHARED`] can be set, above the first
/// table: `observer` and `top`, for one, would restrict what they read.
pub const READERS: [&str; 3] = ["compare", "diagnose", "report"];

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
        if !COMMANDS.contains(&name.as_str()) {
            return command;
        }
        match words(&name).get(1) {
            Some(action) => command.mut_subcommand(action, |action| settable(action, &name, file)),
            None => settable(command, &name, file),
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
