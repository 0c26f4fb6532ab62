//! The `rocescope` binary: parses arguments, runs the command, reports an error in one line.

use rocescope::configuration::{ArgumentsError, arguments, unknown_variables};
use rocescope_model::human::visible_lines;
use std::fmt::Arguments;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    // The loader has read every relocation, megabytes that nothing reads again: parsing would add to their memory. If
    // the kernel refuses, they stay.
    let _ = rocescope_runtime::resources::release_program_pages();
    rocescope::status::install();
    let arguments = match arguments(&std::env::args_os().collect::<Vec<_>>()) {
        Ok(arguments) => arguments,
        Err(ArgumentsError::CommandLine(error)) => error.exit(),
        Err(ArgumentsError::File(errors)) => {
            for error in errors.0 {
                report(format_args!("{error}"));
            }
            return ExitCode::from(2);
        }
    };
    for unknown in unknown_variables(std::env::vars_os().map(|(name, _)| name)) {
        report(format_args!("warning: {unknown}"));
    }
    match rocescope::run(&arguments) {
        Ok(code) => code,
        Err(error) => {
            report(format_args!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Ignores a closed standard error instead of panicking.
fn report(error: Arguments<'_>) {
    // Names in it are text of others.
    let error = visible_lines(&error.to_string());
    let _ = writeln!(std::io::stderr(), "rocescope: {error}");
}
