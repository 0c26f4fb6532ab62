//! The `rocescope` binary: parse, run, say what went wrong in one line.

use rocescope::configuration::{ArgumentsError, arguments};
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
