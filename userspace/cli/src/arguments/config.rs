//! The arguments of `rocescope config`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `rocescope config`.
#[derive(Debug, Subcommand)]
pub enum ConfigAction {
    /// Print every setting in effect and its source
    Print,
    /// Validate the configuration file
    Check,
    /// Print a configuration file with every setting, its meaning and its default
    Template,
    /// Print the completion script for a shell
    Completions(CompletionsArguments),
    /// Write the manual pages
    Man(ManArguments),
}

/// `rocescope config completions`.
#[derive(Clone, Copy, Debug, Args)]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: clap_complete::Shell,
}

/// `rocescope config man`.
#[derive(Debug, Args)]
pub struct ManArguments {
    /// Directory for the pages, one for each command; created if missing
    #[arg(value_name = "DIR")]
    pub out: PathBuf,
}
