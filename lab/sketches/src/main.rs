//! Compares the sketches with other implementations: the same streams, one run, one core.
//!
//! Run by `cargo xtask bench sketches [--json FILE] [--packets N] [--rounds N] [--seeds N]`. Prints Markdown; `--json`
//! writes the same results for programs.
//!
//! - `streams`: the input. `contender`: the interface of all contenders.
//! - `contenders`: ours, the exact maps, the published crates, and the heavy hitter algorithms that were measured and
//!   rejected.
//! - `measure`: rounds and errors. `memory`: the counting allocator. `report`: tables.

mod contender;
mod contenders;
mod measure;
mod memory;
mod report;
mod streams;

use std::error::Error;

use measure::Options;

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::from_args(std::env::args().skip(1))?;
    let core = measure::pin();
    let groups = measure::run(&options)?;
    print!("{}", report::markdown(&options, core, &groups));
    if let Some(file) = &options.json {
        std::fs::write(file, report::json(&options, &groups)?)?;
    }
    Ok(())
}
