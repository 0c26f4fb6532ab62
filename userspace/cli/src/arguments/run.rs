//! `rocescope run`.

use super::HostsArguments;
use crate::units::name;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

/// `rocescope run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// Dataset for the start and the end of the job and the steps in its files; the incidents are those of all that it has
    #[arg(long, value_name = "DATASET")]
    pub out: PathBuf,
    /// Folder for the files that the job writes; default: a new one in `DATASET.files`
    #[arg(long, value_name = "DIR")]
    pub files: Option<PathBuf>,
    /// Name of the job, which its queue pairs have too if no scheduler names it; default: `ROCESCOPE_RUN`, otherwise the program
    /// and the time
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub name: Option<String>,
    /// Do not store the command line
    #[arg(long)]
    pub no_commands: bool,
    /// Print warnings alone
    #[arg(short, long)]
    pub quiet: bool,
    /// Names of addresses.
    #[command(flatten)]
    pub hosts: HostsArguments,
    /// The job
    #[arg(value_name = "COMMAND", required = true, last = true)]
    pub command: Vec<OsString>,
}
