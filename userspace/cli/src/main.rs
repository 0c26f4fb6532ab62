//! The `rocescope` binary: parse, run, say what went wrong in one line.

use rocescope::configuration::{ArgumentsError, arguments, unknown_variables};
use std::fmt::Arguments;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match arguments(std::env::args_os().collect()) {
        Ok(arguments) => arguments,
        Err(ArgumentsError::CommandLine(error)) => error.exit(),
        Err(ArgumentsError::File(error)) => {
            say(format_args!("{error}"));
            return ExitCode::from(2);
        }
    };
    for unknown in unknown_variables(std::env::vars_os().map(|(name, _)| name)) {
        say(format_args!("warning: {unknown}"));
    }
    match rocescope::run(&arguments) {
        Ok(code) => code,
        Err(error) => {
            say(format_args!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Standard error may be a terminal that is gone, which is no reason to panic.
fn say(error: Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "rocescope: {error}");
}
