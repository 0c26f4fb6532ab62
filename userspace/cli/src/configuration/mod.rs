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
use crate::arguments::Command;
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};
use file::ConfigurationFile;
use std::ffi::OsString;
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
    let matches = keys::command(file.as_ref()).try_get_matches_from(line)?;
    let arguments = Arguments::from_arg_matches(&matches)?;
    match &arguments.command {
        // What clap cannot require, for it may stand in a file. It is misuse all the same, and the exit
        // code says so: a service that was not told its interface is not to be started again and again.
        Command::Capture(capture)
            if capture.read.is_none() && capture.live.interfaces.is_empty() =>
        {
            let missing =
                "nothing to capture from: name a file with --read or an interface with --interface";
            let error = Arguments::command().error(ErrorKind::MissingRequiredArgument, missing);
            Err(error.into())
        }
        _ => Ok(arguments),
    }
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
