//! `cargo xtask bench`: one file a benchmark.

mod paper;
mod sketches;

use anyhow::{Result, bail};

pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    match arguments {
        ["sketches", options @ ..] => sketches::run(options),
        ["paper", options @ ..] => paper::run(options),
        _ => bail!("which? cargo xtask bench sketches, or paper"),
    }
}
