//! The layers below the command line: environment, file, defaults.
//!
//! Every option is defined once, in [`Arguments`]. Every long option of the commands in
//! [`keys::COMMANDS`] is also a key of the configuration file, in the table of its command or,
//! for all commands that have it, above the first table; and an environment variable,
//! `ROCESCOPE_` and its name. A value in the file becomes the option's default, so the command
//! line and the environment override it, and the parser of the option rejects an invalid value.
//!
//! | module | what it does |
//! |---|---|
//! | [`keys`] | which options can be set, and their names |
//! | [`mod@file`] | a configuration file, with the line of every value |
//! | [`text`] | settings as TOML: the template, and the settings in effect |

pub mod file;
pub mod keys;
pub mod text;

use crate::Arguments;
use crate::arguments::{Command, FILE_VARIABLE, settle};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use file::ConfigurationFile;
use rocescope_model::nearest::nearest;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The default configuration file.
pub const SYSTEM_FILE: &str = "/etc/rocescope/rocescope.toml";

/// Why the arguments are invalid.
#[derive(Debug, thiserror::Error)]
pub enum ArgumentsError {
    /// An error in the command line or the environment; also a request for help.
    #[error(transparent)]
    CommandLine(#[from] clap::Error),
    /// An error in the configuration file.
    #[error(transparent)]
    File(#[from] file::FileError),
}

/// The arguments: command line over environment over file over defaults.
///
/// # Errors
/// The first error.
pub fn arguments(line: Vec<OsString>) -> Result<Arguments, ArgumentsError> {
    let matches = matches(line)?;
    let mut arguments = Arguments::from_arg_matches(&matches)?;
    let usage = |kind, message: String| {
        let mut all = Arguments::command();
        all.build();
        let command = matches.subcommand_name().and_then(|name| all.find_subcommand_mut(name));
        match command {
            Some(command) => command.error(kind, message),
            None => all.error(kind, message),
        }
    };
    settle(&mut arguments.command, is_explicit(&matches, "filter"))
        .map_err(|message| usage(ErrorKind::ValueValidation, message))?;
    match missing(&arguments.command, &matches) {
        Some(missing) => Err(usage(ErrorKind::MissingRequiredArgument, missing).into()),
        None => Ok(arguments),
    }
}

/// Options that clap cannot require, because a file may set them. Their absence is a usage error with exit
/// code 2, so systemd does not restart a service without an interface forever.
fn missing(command: &Command, matches: &ArgMatches) -> Option<String> {
    match command {
        Command::Capture(capture) if capture.read.is_empty() && capture.live.interfaces.is_empty() => {
            let missing = "no input: set --interface or --read";
            Some(missing.to_owned())
        }
        Command::Capture(capture) if capture.recorder.keep_frames.is_none() => {
            let idle = idle_recorder_option(matches)?;
            Some(format!("--{idle} has no effect without --keep-frames SECONDS"))
        }
        Command::Probe(probe) if probe.interfaces.is_empty() && !probe.all => {
            let missing = "nothing to probe between: set --interface or --all";
            Some(missing.to_owned())
        }
        Command::Probe(probe) => probe.send.missing(),
        Command::Extract(extract) if extract.filter.is_none() => {
            let missing = "no filter: add one, such as `host 10.0.0.1`";
            Some(missing.to_owned())
        }
        _ => None,
    }
}

/// Whether an option of the subcommand is on the command line.
fn is_explicit(matches: &ArgMatches, option: &str) -> bool {
    let Some((_, matches)) = matches.subcommand() else {
        return false;
    };
    let known = matches.try_contains_id(option).unwrap_or(false);
    known && matches.value_source(option) == Some(ValueSource::CommandLine)
}

/// An option of the flight recorder from the command line or environment. In a file it is harmless.
fn idle_recorder_option(matches: &ArgMatches) -> Option<String> {
    let (command, matches) = matches.subcommand()?;
    let explicit = |option: &clap::Arg| {
        let source = matches.value_source(option.get_id().as_str());
        let is_explicit = matches!(source, Some(ValueSource::CommandLine | ValueSource::EnvVariable));
        let long = option.get_long().filter(|_| is_explicit)?;
        long.starts_with("keep-frames-").then(|| long.to_owned())
    };
    file::options(command).find_map(|option| explicit(&option))
}

/// The raw values in effect of every option that can be set, by name.
///
/// # Errors
/// Those of [`arguments`].
pub fn effective(line: Vec<OsString>) -> Result<BTreeMap<String, Vec<OsString>>, ArgumentsError> {
    let matches = matches(line)?;
    let Some((command, matches)) = matches.subcommand() else {
        return Ok(BTreeMap::new());
    };
    let value = |option: clap::Arg| {
        let values = matches.get_raw(option.get_id().as_str());
        let values = values.into_iter().flatten().map(OsStr::to_owned);
        Some((option.get_long()?.to_owned(), values.collect()))
    };
    Ok(file::options(command).filter_map(value).collect())
}

/// Warnings about environment variables with our prefix that set no option.
pub fn unknown_variables(names: impl Iterator<Item = OsString>) -> Vec<String> {
    let mut known: Vec<String> = keys::COMMANDS
        .into_iter()
        .flat_map(file::options)
        .map(|option| keys::variable(&option))
        .collect();
    known.push(FILE_VARIABLE.into());
    let names = names.filter_map(|name| name.into_string().ok());
    let unknown = names.filter(|name| name.starts_with(keys::PREFIX) && !known.contains(name));
    let warning = |name: String| {
        let hint = match nearest(&name, known.iter().map(String::as_str)) {
            Some(near) => format!("; did you mean {near}?"),
            None => "; `rocescope config template` lists all settings".into(),
        };
        format!("unknown environment variable {name}{hint}")
    };
    unknown.map(warning).collect()
}

fn matches(line: Vec<OsString>) -> Result<ArgMatches, ArgumentsError> {
    let parsed = Arguments::command()
        .ignore_errors(true)
        .try_get_matches_from(&line)
        .ok();
    // An invalid file must not prevent `config check` or `--help`.
    let file = match &parsed {
        Some(parsed) if keys::COMMANDS.iter().any(|name| parsed.subcommand_name() == Some(name)) => {
            file(parsed.get_one::<PathBuf>("config").map(PathBuf::as_path))?
        }
        _ => None,
    };
    Ok(keys::command(file.as_ref()).try_get_matches_from(line)?)
}

/// The named configuration file, or the system's if it exists.
///
/// # Errors
/// The file is unreadable or invalid.
pub fn file(named: Option<&Path>) -> Result<Option<ConfigurationFile>, file::FileError> {
    match named {
        Some(path) => ConfigurationFile::read(path).map(Some),
        None if Path::new(SYSTEM_FILE).exists() => ConfigurationFile::read(Path::new(SYSTEM_FILE)).map(Some),
        None => Ok(None),
    }
}
