//! Developer tasks: `cargo xtask <task>`. One file a task.
//!
//! - `bench sketches`: the sketches beside their rivals ([`bench`]).
//! - `ebpf`: the XDP program, built and checked ([`ebpf`]).

mod bench;
mod ebpf;

use std::process::ExitCode;

const USAGE: &str =
    "usage: cargo xtask bench sketches [options]\n       cargo xtask ebpf [--check]";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["bench", rest @ ..] => bench::run(rest),
        ["ebpf", rest @ ..] => match ebpf::run(rest) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("ebpf: {error:#}");
                ExitCode::FAILURE
            }
        },
        _ => {
            eprintln!("{USAGE}");
            ExitCode::FAILURE
        }
    }
}
