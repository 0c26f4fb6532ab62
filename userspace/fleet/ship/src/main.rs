//! `rocescope dataset ship`: the sealed segments of a dataset to an object store. `rocescope` starts this program,
//! `rocescope-ship`.
//!
//! | module | what it does |
//! |---|---|
//! | `segments` | lists sealed segments; marks those that the store has |
//! | `upload` | creates one in the store and compares it |
//! | `pace` | the cap of the bandwidth, and waits after failures |
//! | `run` | one after the other, until a signal |

mod arguments;
mod pace;
mod run;
mod segments;
mod upload;

use arguments::Arguments;
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run::run(&Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("rocescope dataset ship: {error:#}");
            ExitCode::FAILURE
        }
    }
}
