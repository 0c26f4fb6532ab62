//! The `rocescope` binary: parse, run, say what went wrong in one line.

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = rocescope::Arguments::parse();
    match rocescope::run(&arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("rocescope: {error:#}");
            ExitCode::FAILURE
        }
    }
}
