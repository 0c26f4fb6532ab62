//! Commands that are programs of their own, because a query engine and the clients of object stores are larger than all
//! the rest: `rocescope dataset sql` starts `rocescope-sql`.

use crate::arguments::ProgramArguments;
use anyhow::{Result, anyhow};
use std::env::current_exe;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// Becomes the program with this name; returns only if it cannot be started.
pub(super) fn start(name: &str, arguments: &ProgramArguments) -> Result<ExitCode> {
    let error = Command::new(find(name)).args(&arguments.words).exec();
    Err(match error.kind() {
        ErrorKind::NotFound => anyhow!(
            "there is no program {name} beside this one or on the PATH; the package that `cargo xtask package --fleet` \
             builds has it"
        ),
        _ => anyhow!("{name}: {error}"),
    })
}

/// The program beside this one, if it is there; otherwise the one on the `PATH`.
fn find(name: &str) -> OsString {
    let beside = current_exe().ok().map(|own| own.with_file_name(name));
    match beside {
        Some(beside) if beside.is_file() => beside.into_os_string(),
        _ => name.into(),
    }
}
