//! `cargo xtask bench`: one file a benchmark.

mod capture;
mod file;
mod memory;
mod paper;
mod product;
mod sketches;
mod view;

use anyhow::{Result, bail};

pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    match arguments {
        ["capture", options @ ..] => capture::run(options),
        ["file", options @ ..] => file::run(options),
        ["memory"] => memory::run(),
        ["sketches", options @ ..] => sketches::run(options),
        ["paper", options @ ..] => paper::run(options),
        ["view", options @ ..] => view::run(options),
        _ => bail!("which? cargo xtask bench capture, file, memory, paper, sketches or view"),
    }
}
