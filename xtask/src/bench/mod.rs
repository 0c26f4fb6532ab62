//! `cargo xtask bench`: one file a benchmark.

mod sketches;

use anyhow::{Result, bail};

pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    match arguments {
        ["sketches", options @ ..] => sketches::run(options),
        _ => bail!("which? cargo xtask bench sketches"),
    }
}
