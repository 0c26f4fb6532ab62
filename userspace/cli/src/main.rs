//! The `rocescope` binary: parse, run, say what went wrong in one line.

use rocescope::configuration::{ArgumentsError, arguments};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match arguments(std::env::args_os().collect()) {
        Ok(arguments) => arguments,
        Err(ArgumentsError::CommandLine(error)) => error.exit(),
        Err(ArgumentsError::File(error)) => {
            eprintln!("rocescope: {error}");
            return ExitCode::from(2);
        }
    };
    match rocescope::run(&arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("rocescope: {error:#}");
            ExitCode::FAILURE
        }
    }
}
