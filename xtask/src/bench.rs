//! `cargo xtask bench sketches [--json FILE] [--packets N] [--rounds N] [--seeds N]`.
//!
//! The bench is a package outside the workspace, so that its rivals are built only here.

use std::process::{Command, ExitCode};

const SKETCHES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../sketches/bench/Cargo.toml");

/// Runs the named benchmark with the rest of the arguments; its tables go to standard output.
pub(crate) fn run(args: &[&str]) -> ExitCode {
    let ["sketches", options @ ..] = args else {
        eprintln!(
            "usage: cargo xtask bench sketches [--json FILE] [--packets N] [--rounds N] [--seeds N]"
        );
        return ExitCode::FAILURE;
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args([
            "run",
            "--quiet",
            "--locked",
            "--release",
            "--manifest-path",
            SKETCHES,
            "--",
        ])
        .args(options)
        .status();
    match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(status) => {
            eprintln!("bench sketches: {status}");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("bench sketches: cannot start cargo: {error}");
            ExitCode::FAILURE
        }
    }
}
