//! The layers below the command line: environment, file, defaults.
//!
//! There is one definition of an option, its place in [`Arguments`]. Every long option of the
//! commands in [`keys::COMMANDS`] is also a key of the configuration file, in the table of its
//! command or, for all commands that have it, above the first table; and a variable of the
//! environment, `ROCESCOPE_` and its name. A value of the file becomes the option's default, so
//! the command line and the environment win without more ado, and a wrong value is refused by
//! whatever reads the option.
//!
//! | module | what it does |
//! |---|---|
//! | [`keys`] | which options can be set, under which names |
//! | [`mod@file`] | a configuration file, with the line of every value |
//! | [`text`] | settings as TOML: the template, and what stands |

pub mod file;
pub mod keys;
pub mod text;

use crate::Arguments;
use crate::arguments::{Command, FILE_VARIABLE};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use file::ConfigurationFile;
use rocescope_model::nearest::nearest;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The file that is read where none is named.
pub const SYSTEM_FILE: &str = "/etc/rocescope/rocescope.toml";

/// Why there are no arguments.
#[derive(Debug, thiserror::Error)]
pub enum ArgumentsError {
    /// The command line or the environment; also a request for help.
    #[error(transparent)]
    CommandLine(#[from] clap::Error),
    /// The configuration file.
    #[error(transparent)]
    File(#[from] file::FileError),
}

/// The arguments: command line over environment over file over defaults.
///
/// # Errors
/// The first thing that is wrong.
pub fn arguments(line: Vec<OsString>) -> Result<Arguments, ArgumentsError> {
    let matches = matches(line)?;
    let arguments = Arguments::from_arg_matches(&matches)?;
    match missing(&arguments.command, &matches) {
        Some(missing) => {
            let error = Arguments::command().error(ErrorKind::MissingRequiredArgument, missing);
            Err(error.into())
        }
        None => Ok(arguments),
    }
}

/// What clap cannot require, for it may stand in a file. It is misuse all the same, and the exit code says
/// so: a service that was not told its interface is not to be started again and again.
fn missing(command: &Command, matches: &ArgMatches) -> Option<String> {
    match command {
        Command::Capture(capture)
            if capture.read.is_none() && capture.live.interfaces.is_empty() =>
        {
            let missing =
                "nothing to capture from: name a file with --read or an interface with --interface";
            Some(missing.to_owned())
        }
        Command::Capture(capture) if capture.recorder.keep_frames.is_none() => {
            let idle = idle_recorder_option(matches)?;
            Some(format!(
                "--{idle} does nothing without --keep-frames SECONDS"
            ))
        }
        Command::Probe(probe) if probe.interfaces.is_empty() && !probe.all => {
            let missing = "nothing to probe between: name NICs with --interface, or take --all";
            Some(missing.to_owned())
        }
        Command::Probe(probe) => probe.send.missing(),
        _ => None,
    }
}

/// An option of the flight recorder that was asked for in this call. A file may hold it in reserve.
fn idle_recorder_option(matches: &ArgMatches) -> Option<String> {
    let (command, matches) = matches.subcommand()?;
    let asked = |option: &clap::Arg| {
        let source = matches.value_source(option.get_id().as_str());
        let asked = matches!(
            source,
            Some(ValueSource::CommandLine | ValueSource::EnvVariable)
        );
        let long = option.get_long().filter(|_| asked)?;
        long.starts_with("keep-frames-").then(|| long.to_owned())
    };
    file::options(command).find_map(|option| asked(&option))
}

/// What every option that can be set has, by its name: the values as they were written.
///
/// # Errors
/// Those of [`arguments`].
pub fn standing(line: Vec<OsString>) -> Result<BTreeMap<String, Vec<OsString>>, ArgumentsError> {
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

/// Sentences about variables that look as if they set something, and do not.
pub fn unknown_variables(names: impl Iterator<Item = OsString>) -> Vec<String> {
    let mut known: Vec<String> = keys::COMMANDS
        .into_iter()
        .flat_map(file::options)
        .map(|option| keys::variable(&option))
        .collect();
    known.push(FILE_VARIABLE.into());
    let names = names.filter_map(|name| name.into_string().ok());
    let unknown = names.filter(|name| name.starts_with(keys::PREFIX) && !known.contains(name));
    let sentence = |name: String| {
        let hint = match nearest(&name, known.iter().map(String::as_str)) {
            Some(near) => format!("; {near} is near"),
            None => "; `rocescope config template` shows all settings".into(),
        };
        format!("the environment has {name}, which sets nothing{hint}")
    };
    unknown.map(sentence).collect()
}

fn matches(line: Vec<OsString>) -> Result<ArgMatches, ArgumentsError> {
    let asked = Arguments::command()
        .ignore_errors(true)
        .try_get_matches_from(&line)
        .ok();
    // A file that is wrong must not keep anybody from checking it, or from help.
    let file = match &asked {
        Some(asked)
            if keys::COMMANDS
                .iter()
                .any(|name| asked.subcommand_name() == Some(name)) =>
        {
            file(asked.get_one::<PathBuf>("config").map(PathBuf::as_path))?
        }
        _ => None,
    };
    Ok(keys::command(file.as_ref()).try_get_matches_from(line)?)
}

/// The configuration file: the one that is named, else the system's, where there is one.
///
/// # Errors
/// It cannot be read, or something in it is wrong.
pub fn file(named: Option<&Path>) -> Result<Option<ConfigurationFile>, file::FileError> {
    match named {
        Some(path) => ConfigurationFile::read(path).map(Some),
        None if Path::new(SYSTEM_FILE).exists() => {
            ConfigurationFile::read(Path::new(SYSTEM_FILE)).map(Some)
        }
        None => Ok(None),
    }
}
