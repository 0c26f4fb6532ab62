//! Developer tasks: `cargo xtask <task>`. One file a task.
//!
//! - `bench sketches`: the sketches beside their rivals ([`bench`]).

mod bench;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["bench", rest @ ..] => bench::run(rest),
        _ => {
            eprintln!("usage: cargo xtask bench sketches [options]");
            ExitCode::FAILURE
        }
    }
}
